/* SPDX-License-Identifier: Apache-2.0 */
/* Revision 2026-07-28 (docs/protocol.md, rows M1..M8).
 *
 * The headers repeat what the body says, for intermediaries that route on them. A server that reads
 * the body has to compare: otherwise a gateway could let one method pass and we run another. */
#include "service/mcp/ladder.h"

#include "service/base/encode.h"

#define ENCODED_BEGIN "=?base64?"
#define ENCODED_END "?="

static bool meta_is_complete(const struct message *m)
{
    return json_is_string(json_object_get(m->meta, META_VERSION)) &&
           json_is_object(json_object_get(m->meta, META_CAPABILITIES));
}

/* RFC 4648 §4 with padding, through the strict decoder of the other alphabet. */
static bool decode_base64(struct dynbuf *out, struct slice text)
{
    size_t n = text.n;
    if (n % 4 != 0) {
        return false;
    }
    for (int pad = 0; pad < 2 && n > 0 && text.p[n - 1] == '='; pad++) {
        n--;
    }
    struct dynbuf url;
    dynbuf_init(&url, n);
    bool good = true;
    for (size_t i = 0; i < n; i++) {
        char c = text.p[i];
        good = good && c != '-' && c != '_';
        dynbuf_add_byte(&url, (char)(c == '+' ? '-' : c == '/' ? '_' : c));
    }
    good = good && decode_base64url(out, dynbuf_get(&url));
    dynbuf_done(&url);
    return good;
}

static bool is_encoded(struct slice header)
{
    size_t marks = sizeof(ENCODED_BEGIN) - 1 + sizeof(ENCODED_END) - 1;
    return header.n >= marks && slice_starts(header, SLICE_LIT(ENCODED_BEGIN)) &&
           slice_is(slice_skip(header, header.n - 2), ENCODED_END);
}

static bool header_equals(struct slice header, struct slice body)
{
    if (!header.p) {
        return false;
    }
    if (!is_encoded(header)) {
        return slice_eq(header, body);
    }
    struct slice inner = slice_skip(header, sizeof(ENCODED_BEGIN) - 1);
    inner.n -= sizeof(ENCODED_END) - 1;
    struct dynbuf decoded;
    dynbuf_init(&decoded, header.n);
    bool equal = decode_base64(&decoded, inner) && slice_eq(dynbuf_get(&decoded), body);
    dynbuf_done(&decoded);
    return equal;
}

/* What Mcp-Name repeats: SLICE_NONE where it does not apply or the body has no string there, which
 * the check of the params then answers. */
static struct slice named_in_body(const struct message *m)
{
    if (slice_is(m->method, "tools/call") || slice_is(m->method, "prompts/get")) {
        return text_of(json_object_get(m->params, "name"));
    }
    if (slice_is(m->method, "resources/read")) {
        return text_of(json_object_get(m->params, "uri"));
    }
    return SLICE_NONE;
}

static bool headers_repeat_method(const struct message *m, struct refusal *ret_refusal)
{
    if (m->transport == MCP_STDIO) {
        return true;
    }
    if (!m->headers->method.p || !slice_eq(m->headers->method, m->method)) {
        return refuse(ret_refusal, 400, MCP_ERROR_HEADER_MISMATCH,
                      "the header Mcp-Method must equal the method");
    }
    struct slice name = named_in_body(m);
    if (name.p && !header_equals(m->headers->name, name)) {
        return refuse(ret_refusal, 400, MCP_ERROR_HEADER_MISMATCH,
                      "the header Mcp-Name must equal params.name or params.uri");
    }
    return true;
}

bool ladder_modern(const struct message *m, struct mcp_call *ret_call, struct refusal *ret_refusal)
{
    if (!meta_is_complete(m)) {
        return refuse(ret_refusal, 400, MCP_ERROR_PARAMS,
                      "params._meta must have " META_VERSION " (string) and " META_CAPABILITIES
                      " (object)");
    }
    struct slice version = text_of(json_object_get(m->meta, META_VERSION));
    struct slice header = m->headers->protocol_version;
    if (m->transport == MCP_HTTP && (!header.p || !slice_eq(header, version))) {
        return refuse(ret_refusal, 400, MCP_ERROR_HEADER_MISMATCH,
                      "the header MCP-Protocol-Version must equal the version in params._meta");
    }
    if (!slice_is(version, VERSION_MODERN)) {
        return refuse_version(ret_refusal, m->arena, version);
    }
    if (!headers_repeat_method(m, ret_refusal)) {
        return false;
    }
    if (!method_find(m->method, true, &ret_call->method)) {
        return refuse(ret_refusal, 404, MCP_ERROR_METHOD, "method not found");
    }
    return params_read(m, ret_call, ret_refusal);
}
