/* SPDX-License-Identifier: Apache-2.0 */
/* A legacy result never gets a modern member: those revisions allow unknown members, but strict
 * clients exist. In the modern era the server's name stands in every result, since there is no
 * handshake to say it once. */
#include "service/mcp/envelope.h"

#include "service/mcp/static_text.h"

enum { TTL_STATIC_MS = 60000, TTL_SHORT_MS = 5000 };

void add_server_info(struct json_writer *w)
{
    json_object_begin(w);
    json_member_text_z(w, "name", SERVER_NAME);
    json_member_text_z(w, "title", SERVER_TITLE);
    json_member_text_z(w, "version", KB_VERSION);
    json_object_end(w);
}

static void begin_message(struct json_writer *w, struct slice id)
{
    json_object_begin(w);
    json_member_text_z(w, "jsonrpc", "2.0");
    if (id.p) {
        json_member_raw(w, "id", id);
    }
}

struct json_writer result_begin(struct dynbuf *out, const struct mcp_call *call)
{
    struct json_writer w = json_writer_on(out);
    begin_message(&w, call->id);
    json_key(&w, "result");
    json_object_begin(&w);
    if (call->modern) {
        json_member_text_z(&w, "resultType", "complete");
    }
    return w;
}

static void add_cache_hint(struct json_writer *w, enum cache_hint hint)
{
    if (hint == CACHE_NONE) {
        return;
    }
    json_member_int(w, "ttlMs", hint == CACHE_PRIVATE_SHORT ? TTL_SHORT_MS : TTL_STATIC_MS);
    json_member_text_z(w, "cacheScope", hint == CACHE_PUBLIC_STATIC ? "public" : "private");
}

void result_end(struct json_writer *w, const struct mcp_call *call, enum cache_hint hint)
{
    if (call->modern) {
        add_cache_hint(w, hint);
        json_key(w, "_meta");
        json_object_begin(w);
        json_key(w, "io.modelcontextprotocol/serverInfo");
        add_server_info(w);
        json_object_end(w);
    }
    json_object_end(w);
    json_object_end(w);
}

void mcp_render_error(struct dynbuf *out, struct slice id, int code, const char *message,
                      struct slice data)
{
    struct json_writer w = json_writer_on(out);
    begin_message(&w, id);
    json_key(&w, "error");
    json_object_begin(&w);
    json_member_int(&w, "code", code);
    json_member_text_z(&w, "message", message);
    if (data.p) {
        json_member_raw(&w, "data", data);
    }
    json_object_end(&w);
    json_object_end(&w);
}
