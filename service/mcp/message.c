/* SPDX-License-Identifier: Apache-2.0 */
/* The rows about the body's shape, and the choice of the era (docs/protocol.md, rows 11..13a).
 *
 * JSON-RPC 2.0 would answer `"id": null` where there is none to echo; every MCP schema refuses
 * that, so the member is left out. */
#include "service/mcp/message.h"

#include "service/base/json_write.h"
#include "service/base/utf8.h"
#include "service/mcp/json_limits.h"
#include "service/mcp/ladder.h"

enum { ECHO_MAX_BYTES = 64 }; /* of a version that nobody serves */

bool refuse(struct refusal *ret_refusal, int status, int code, const char *message)
{
    *ret_refusal = (struct refusal){.status = status, .code = code, .message = message};
    return false;
}

/* The longest start of text that ends between characters; text may be ill-formed. */
static struct slice first_bytes(struct slice text, size_t max)
{
    size_t n = 0;
    while (n < text.n) {
        uint32_t code;
        size_t step = utf8_decode(slice_skip(text, n), &code);
        if (n + step > max) {
            break;
        }
        n += step;
    }
    return (struct slice){text.p, n};
}

bool refuse_version(struct refusal *ret_refusal, struct arena *arena, struct slice requested)
{
    struct dynbuf data;
    dynbuf_init(&data, 1024);
    struct json_writer w = json_writer_on(&data);
    json_object_begin(&w);
    json_member_raw(&w, "supported", SLICE_LIT("[\"" VERSION_MODERN "\"]"));
    json_member_text(&w, "requested", first_bytes(requested, ECHO_MAX_BYTES));
    json_object_end(&w);
    refuse(ret_refusal, 400, MCP_ERROR_VERSION,
           "unsupported protocol version; served are " VERSION_MODERN
           " and, after initialize, " VERSION_LEGACY_NEWEST " and " VERSION_LEGACY_OLDEST);
    ret_refusal->data = arena_copy(arena, dynbuf_get(&data));
    dynbuf_done(&data);
    return false;
}

struct slice text_of(const json_t *value)
{
    return json_is_string(value)
               ? (struct slice){json_string_value(value), json_string_length(value)}
               : SLICE_NONE;
}

/* The id as it goes back; SLICE_NONE when it is none that MCP allows. */
static struct slice read_id(const json_t *id, struct arena *arena)
{
    struct dynbuf text;
    dynbuf_init(&text, MCP_MAX_ID_BYTES);
    struct json_writer w = json_writer_on(&text);
    if (json_is_string(id)) {
        json_text(&w, text_of(id));
    } else if (json_is_integer(id)) {
        json_int(&w, json_integer_value(id));
    }
    bool good = text.n > 0 && !text.failed;
    struct slice copy = good ? arena_copy(arena, dynbuf_get(&text)) : SLICE_NONE;
    dynbuf_done(&text);
    return copy;
}

static bool read_document(struct slice body, struct mcp_call *ret_call, struct refusal *ret_refusal)
{
    if (!json_within_limits(body)) {
        return refuse(ret_refusal, 400, MCP_ERROR_REQUEST,
                      "the message is too long, too deep or has too many members");
    }
    ret_call->document = mcp_json_parse(body);
    if (!ret_call->document) {
        return refuse(
            ret_refusal, 400, MCP_ERROR_PARSE,
            "the message is not valid JSON: UTF-8, no name twice in an object, no lone surrogate, "
            "integers of at most 64 bits");
    }
    if (json_is_array(ret_call->document)) {
        return refuse(ret_refusal, 400, MCP_ERROR_REQUEST, "batches are not served");
    }
    return true;
}

static bool is_response(const json_t *root)
{
    return !json_object_get(root, "method") &&
           (json_object_get(root, "result") || json_object_get(root, "error"));
}

/* Rows 12 and 12a. The id is read first, so that a refusal can echo it. */
static bool read_shape(struct message *m, struct mcp_call *ret_call, struct refusal *ret_refusal)
{
    const json_t *root = ret_call->document, *id = json_object_get(root, "id");
    if (is_response(root)) {
        return refuse(ret_refusal, 400, MCP_ERROR_REQUEST, "responses are not expected");
    }
    ret_call->id = read_id(id, m->arena);
    m->method = text_of(json_object_get(root, "method"));
    m->params = json_object_get(root, "params");
    bool good = json_is_object(root) && slice_is(text_of(json_object_get(root, "jsonrpc")), "2.0");
    good = good && m->method.p && (!m->params || json_is_object(m->params));
    good = good && (!id || ret_call->id.p);
    if (!good) {
        return refuse(ret_refusal, 400, MCP_ERROR_REQUEST, "not a JSON-RPC 2.0 message");
    }
    const json_t *meta = json_object_get(m->params, "_meta");
    m->meta = json_is_object(meta) ? meta : NULL;
    return true;
}

static bool version_is_served(struct slice version)
{
    return slice_is(version, VERSION_MODERN) || version_is_legacy(version);
}

/* Row 13; on stdio there is no header to be wrong. */
static bool notification_is_fine(const struct message *m, struct refusal *ret_refusal)
{
    struct slice version = m->headers->protocol_version;
    if (m->transport == MCP_HTTP && version.p && !version_is_served(version)) {
        return refuse_version(ret_refusal, m->arena, version);
    }
    return true;
}

static bool is_modern(const struct message *m)
{
    return json_object_get(m->meta, META_VERSION) ||
           (m->transport == MCP_HTTP && slice_is(m->headers->protocol_version, VERSION_MODERN));
}

static bool climb(struct message *m, struct slice body, struct mcp_call *ret_call,
                  struct refusal *ret_refusal)
{
    if (!read_document(body, ret_call, ret_refusal) || !read_shape(m, ret_call, ret_refusal)) {
        return false;
    }
    if (!ret_call->id.p) {
        return notification_is_fine(m, ret_refusal);
    }
    ret_call->modern = is_modern(m);
    return ret_call->modern ? ladder_modern(m, ret_call, ret_refusal)
                            : ladder_legacy(m, ret_call, ret_refusal);
}

enum mcp_verdict mcp_parse(struct slice body, enum mcp_transport transport,
                           const struct mcp_headers *headers, struct arena *arena,
                           struct mcp_call *ret_call, int *ret_status, struct dynbuf *out)
{
    static const struct mcp_headers none = {0};
    struct message m = {.transport = transport, .headers = &none, .arena = arena};
    struct refusal refusal = {0};
    if (transport == MCP_HTTP && headers) {
        m.headers = headers;
    }
    *ret_call = (struct mcp_call){0};
    if (!climb(&m, body, ret_call, &refusal)) {
        *ret_status = refusal.status;
        mcp_render_error(out, ret_call->id, refusal.code, refusal.message, refusal.data);
        return MCP_ANSWERED;
    }
    bool notification = !ret_call->id.p;
    *ret_status = notification ? 202 : 200;
    return notification ? MCP_ACCEPTED : MCP_GO_ON;
}

void mcp_call_done(struct mcp_call *call)
{
    json_decref(call->document);
    *call = (struct mcp_call){0};
}
