/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that can be refused without a key is refused here, cheapest first. A header is a
 * stranger's word until its signature is checked, so nothing in it ever names a key, a place to
 * fetch one or another way of reading the rest (RFC 8725 §3). */
#include "auth/jws.h"

#include "auth/strict_json.h"
#include "service/base/encode.h"

enum { MAX_HEADER_MEMBERS = 64 };

/* crit, b64, zip: extensions we do not implement. jwk, jku, x5u, x5c: keys brought along.
 * cty: a token inside a token. */
static const char *const REFUSED_MEMBERS[] = {"crit", "b64", "zip", "jwk",
                                              "jku",  "x5u", "x5c", "cty"};

enum { N_REFUSED_MEMBERS = sizeof(REFUSED_MEMBERS) / sizeof(REFUSED_MEMBERS[0]) };

struct segments {
    struct slice header, payload, signature;
};

/* Cuts off the bytes before the next dot. */
static bool next_segment(struct slice *rest, struct slice *ret_segment)
{
    const char *dot = rest->n ? memchr(rest->p, '.', rest->n) : NULL;
    if (!dot) {
        return false;
    }
    *ret_segment = (struct slice){rest->p, (size_t)(dot - rest->p)};
    *rest = slice_skip(*rest, ret_segment->n + 1);
    return true;
}

/* Exactly three non-empty segments; looks at no byte twice and stops at a third dot. */
static bool split(struct slice compact, struct segments *ret_segments)
{
    struct slice rest = compact, more;
    if (!next_segment(&rest, &ret_segments->header) ||
        !next_segment(&rest, &ret_segments->payload)) {
        return false;
    }
    ret_segments->signature = rest;
    return ret_segments->header.n && ret_segments->payload.n && rest.n &&
           !next_segment(&rest, &more);
}

static bool decode(struct slice segment, struct arena *arena, struct slice *ret_bytes)
{
    struct dynbuf bytes;
    dynbuf_init(&bytes, segment.n);
    bool good = decode_base64url(&bytes, segment);
    if (good) {
        *ret_bytes = arena_copy(arena, dynbuf_get(&bytes));
    }
    dynbuf_done(&bytes);
    return good;
}

static bool has_refused_member(const json_t *header)
{
    for (int i = 0; i < N_REFUSED_MEMBERS; i++) {
        if (json_object_get(header, REFUSED_MEMBERS[i])) {
            return true;
        }
    }
    return false;
}

static enum token_result read_header(const json_t *header, struct arena *arena, struct jws *ret_jws)
{
    const json_t *kid = json_object_get(header, "kid");
    const json_t *typ = json_object_get(header, "typ");
    if (!jws_alg_parse(strict_json_text(json_object_get(header, "alg")), &ret_jws->alg)) {
        return TOKEN_ALG;
    }
    if (has_refused_member(header)) {
        return TOKEN_HEADER;
    }
    if (kid && !jwk_kid_is_good(strict_json_text(kid))) {
        return TOKEN_KID;
    }
    if (typ && !json_is_string(typ)) {
        return TOKEN_TYP;
    }
    ret_jws->kid = arena_copy(arena, strict_json_text(kid));
    ret_jws->typ = arena_copy(arena, strict_json_text(typ));
    return TOKEN_OK;
}

enum token_result jws_parse(struct slice compact, struct arena *arena, struct jws *ret_jws)
{
    struct segments s;
    struct slice header_text;
    if (!split(compact, &s)) {
        return TOKEN_MALFORMED;
    }
    if (!decode(s.header, arena, &header_text) || !decode(s.payload, arena, &ret_jws->payload) ||
        !decode(s.signature, arena, &ret_jws->signature)) {
        return TOKEN_ENCODING;
    }
    ret_jws->signing_input = (struct slice){compact.p, s.header.n + 1 + s.payload.n};
    json_t *header = strict_json_object(header_text, MAX_HEADER_MEMBERS);
    if (!header) {
        return TOKEN_JSON;
    }
    enum token_result result = read_header(header, arena, ret_jws);
    json_decref(header);
    return result;
}
