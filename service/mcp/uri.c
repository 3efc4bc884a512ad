/* SPDX-License-Identifier: Apache-2.0 */
/* Strict, because a name that is nearly right must look like one that does not exist, not open
 * something. The parts are ids for a look-up under the caller's scope, never paths of a file. */
#include "service/mcp/uri.h"

#include "service/base/encode.h"
#include "service/base/utf8.h"

#define DOC_PREFIX "kb://doc/"
#define CHUNK_PREFIX "kb://chunk/"

/* What may stand in a URI as it is, the escape's own mark included (RFC 3986 §2), and bytes past
 * ASCII (RFC 3987): a model that copies an id into a template does not escape them. */
static bool is_uri_char(char c)
{
    bool letter_or_digit =
        (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    return letter_or_digit || (unsigned char)c >= 0x80 ||
           (c && strchr("%-._~:/?#[]@!$&'()*+,;=", c));
}

static bool has_control(struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] < 0x20 || text.p[i] == 0x7F) {
            return true;
        }
    }
    return false;
}

static bool decode_part(struct slice part, struct arena *arena, struct slice *ret_part)
{
    for (size_t i = 0; i < part.n; i++) {
        if (!is_uri_char(part.p[i])) {
            return false;
        }
    }
    struct dynbuf decoded;
    dynbuf_init(&decoded, part.n);
    bool good = part.n > 0 && utf8_is_valid(part) && decode_percent(&decoded, part, false);
    good = good && utf8_is_valid(dynbuf_get(&decoded)) && !has_control(dynbuf_get(&decoded));
    *ret_part = good ? arena_copy(arena, dynbuf_get(&decoded)) : SLICE_NONE;
    dynbuf_done(&decoded);
    return good;
}

/* rest: <collection>/<doc_id> */
static bool read_doc(struct slice rest, struct arena *arena, struct resource_uri *ret_uri)
{
    const char *slash = memchr(rest.p, '/', rest.n);
    if (!slash) {
        return false;
    }
    struct slice collection = {rest.p, (size_t)(slash - rest.p)};
    struct slice doc_id = slice_skip(rest, collection.n + 1);
    return decode_part(collection, arena, &ret_uri->collection) &&
           decode_part(doc_id, arena, &ret_uri->doc_id) &&
           !memchr(ret_uri->collection.p, '/', ret_uri->collection.n);
}

static bool read_position(struct slice text, uint32_t *ret_position)
{
    uint32_t value = 0;
    if (text.n == 0 || text.n > 10 || (text.n > 1 && text.p[0] == '0')) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        uint32_t digit = (uint32_t)(unsigned char)text.p[i] - '0';
        if (digit > 9 || value > (INT32_MAX - digit) / 10) {
            return false;
        }
        value = value * 10 + digit;
    }
    *ret_position = value;
    return true;
}

/* rest: <collection>/<doc_id>/<position> */
static bool read_chunk(struct slice rest, struct arena *arena, struct resource_uri *ret_uri)
{
    const char *slash = memrchr(rest.p, '/', rest.n);
    if (!slash) {
        return false;
    }
    struct slice doc = {rest.p, (size_t)(slash - rest.p)};
    return read_position(slice_skip(rest, doc.n + 1), &ret_uri->position) &&
           read_doc(doc, arena, ret_uri);
}

static bool read_uri(struct slice uri, struct arena *arena, struct resource_uri *ret_uri)
{
    if (slice_is(uri, "kb://index")) {
        ret_uri->kind = RESOURCE_INDEX;
        return true;
    }
    if (slice_starts(uri, SLICE_LIT(DOC_PREFIX))) {
        ret_uri->kind = RESOURCE_DOC;
        return read_doc(slice_skip(uri, sizeof(DOC_PREFIX) - 1), arena, ret_uri);
    }
    if (slice_starts(uri, SLICE_LIT(CHUNK_PREFIX))) {
        ret_uri->kind = RESOURCE_CHUNK;
        return read_chunk(slice_skip(uri, sizeof(CHUNK_PREFIX) - 1), arena, ret_uri);
    }
    return false;
}

bool resource_uri_parse(struct slice uri, struct arena *arena, struct resource_uri *ret_uri)
{
    *ret_uri = (struct resource_uri){0};
    if (!read_uri(uri, arena, ret_uri)) {
        *ret_uri = (struct resource_uri){0};
        return false;
    }
    return true;
}

void resource_uri_add_chunk(struct dynbuf *out, struct slice collection, struct slice doc_id,
                            uint32_t position)
{
    dynbuf_add_text(out, CHUNK_PREFIX);
    encode_percent(out, collection, "");
    dynbuf_add_byte(out, '/');
    encode_percent(out, doc_id, "/");
    dynbuf_add_byte(out, '/');
    dynbuf_add_int(out, position);
}
