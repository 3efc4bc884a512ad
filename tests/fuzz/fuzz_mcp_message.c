/* SPDX-License-Identifier: Apache-2.0 */
/* One message from bytes to call, its arguments and its uri. The first byte of the input picks the
 * transport and the headers, the rest is the body. What must hold for any input: a verdict matches
 * its status, an answer is one JSON message, and what goes on renders as one. */
#include "service/mcp/render.h"
#include "service/mcp/search_args.h"
#include "service/mcp/uri.h"

#include <stdint.h>
#include <stdlib.h>

enum { OUT_MAX_BYTES = 8 << 20 };

static void must(bool holds)
{
    if (!holds) {
        abort();
    }
}

/* Bits: 0 stdio; 1-2 the version; 3-4 the method; 5-6 the name. */
static struct mcp_headers headers_of(uint8_t choice)
{
    static const struct slice versions[] = {
        {NULL, 0}, {"2026-07-28", 10}, {"2025-11-25", 10}, {"x", 1}};
    static const struct slice methods[] = {
        {NULL, 0}, {"tools/call", 10}, {"resources/read", 14}, {"prompts/get", 11}};
    static const struct slice names[] = {
        {NULL, 0}, {"search_kb", 9}, {"=?base64?c2VhcmNoX2ti?=", 23}, {"kb://index", 10}};
    return (struct mcp_headers){.protocol_version = versions[choice >> 1 & 3],
                                .method = methods[choice >> 3 & 3],
                                .name = names[choice >> 5 & 3]};
}

/* jansson alone: what we write may be deeper or longer than what we accept. */
static void must_be_json(const struct dynbuf *out)
{
    must(!out->failed && out->n > 0);
    json_t *value = json_loadb(out->p, out->n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, NULL);
    must(json_is_object(value));
    must(json_object_get(value, "id") == NULL || !json_is_null(json_object_get(value, "id")));
    json_decref(value);
}

static void run_search(const struct mcp_call *call)
{
    struct search_args args;
    struct arg_error error = {NULL, NULL};
    if (search_args_parse(call->arguments, &args, &error)) {
        must(args.query.p && args.top_k >= TOP_K_MIN && args.top_k <= TOP_K_MAX);
        must(!args.published_from.p || args.published_from.n == 10);
        must(!args.published_to.p || args.published_to.n == 10);
    } else {
        must(error.field && error.message);
    }
}

/* A chunk's uri, written again, names the same chunk. */
static void run_read(const struct mcp_call *call, struct arena *arena, struct dynbuf *out)
{
    struct resource_uri uri, again;
    if (!resource_uri_parse(call->uri, arena, &uri)) {
        mcp_render_resource_missing(out, call);
        return;
    }
    if (uri.kind == RESOURCE_CHUNK) {
        resource_uri_add_chunk(out, uri.collection, uri.doc_id, uri.position);
        must(resource_uri_parse(dynbuf_get(out), arena, &again));
        must(slice_eq(uri.collection, again.collection) && slice_eq(uri.doc_id, again.doc_id));
        must(uri.position == again.position);
        dynbuf_cut(out, 0);
    }
    mcp_render_resource(out, call, "text/plain", call->uri);
}

static void run_call(const struct mcp_call *call, struct arena *arena, struct dynbuf *out)
{
    if (call->method == MCP_TOOLS_CALL) {
        run_search(call);
        mcp_render_tool_result(out, call, SLICE_LIT("{}"), false);
    } else if (call->method == MCP_RESOURCES_READ) {
        run_read(call, arena, out);
    } else if (call->method == MCP_PROMPTS_GET) {
        mcp_render_prompt(out, call);
    } else if (call->method == MCP_INITIALIZE) {
        mcp_render_initialize(out, call);
    } else {
        mcp_render_discover(out, call);
    }
    must_be_json(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct slice body = slice_skip((struct slice){(const char *)data, size}, 1);
    struct mcp_headers headers = headers_of(data[0]);
    struct arena arena = {0};
    struct mcp_call call;
    struct dynbuf out;
    int status = 0;
    dynbuf_init(&out, OUT_MAX_BYTES);
    switch (mcp_parse(body, data[0] & 1 ? MCP_STDIO : MCP_HTTP, &headers, &arena, &call, &status,
                      &out)) {
    case MCP_GO_ON:
        must(status == 200 && out.n == 0 && call.id.p);
        run_call(&call, &arena, &out);
        break;
    case MCP_ANSWERED:
        must(status == 200 || status == 400 || status == 404);
        must_be_json(&out);
        break;
    case MCP_ACCEPTED: must(status == 202 && out.n == 0); break;
    }
    mcp_call_done(&call);
    dynbuf_done(&out);
    arena_done(&arena);
    return 0;
}
