/* SPDX-License-Identifier: Apache-2.0 */
/* The lengths are read before the HMAC is checked, since they say what it is over; until then they
 * are used for nothing but to see that the parts fill the bytes exactly. */
#include "cache/shared_value.h"

#include "service/base/mem.h"

#include <stdlib.h>

enum {
    VERSION = 1,
    FLAG_EMPTY_OUTCOME = 1,
    AT_VERSION = 4,
    AT_FLAGS = 5,
    AT_KEY = 6,
    AT_NOTE_BYTES = AT_KEY + DIGEST_BYTES,
    AT_BODY_BYTES = AT_NOTE_BYTES + 4,
};

#define MAGIC SLICE_LIT("kbgv")
#define USE SLICE_LIT("kbgate shared value") /* what else the key may be used for is kept apart */

static void add_u32(struct dynbuf *out, size_t value)
{
    for (int i = 0; i < 4; i++) {
        dynbuf_add_byte(out, (char)(value >> (8 * i) & 0xFF));
    }
}

static size_t read_u32(const char *p)
{
    size_t value = 0;
    for (int i = 3; i >= 0; i--) {
        value = value << 8 | (unsigned char)p[i];
    }
    return value;
}

static void sign(struct slice hmac_key, struct slice head, struct slice note, struct slice body,
                 struct digest *ret_tag)
{
    const struct slice parts[] = {USE, head, note, body};
    digest_hmac(hmac_key, parts, sizeof(parts) / sizeof(parts[0]), ret_tag);
}

bool shared_value_encode(struct slice hmac_key, const struct cache_value *v, struct dynbuf *out)
{
    size_t room = SHARED_VALUE_MAX_BYTES - SHARED_VALUE_SPARE_BYTES, before = out->n;
    if (v->note.n > room || v->body.n > room - v->note.n) {
        return false;
    }
    dynbuf_add(out, MAGIC);
    dynbuf_add_byte(out, VERSION);
    dynbuf_add_byte(out, v->is_empty_outcome ? FLAG_EMPTY_OUTCOME : 0);
    dynbuf_add(out, digest_slice(&v->key.value));
    add_u32(out, v->note.n);
    add_u32(out, v->body.n);
    struct digest tag;
    sign(hmac_key, slice_skip(dynbuf_get(out), before), v->note, v->body, &tag);
    dynbuf_add(out, v->note);
    dynbuf_add(out, v->body);
    dynbuf_add(out, digest_slice(&tag));
    return !out->failed;
}

/* Bytes in their parts; nothing of them is trusted yet. */
struct parts {
    struct slice head, note, body, tag;
};

static bool split(struct slice bytes, struct parts *ret_parts)
{
    if (bytes.n < SHARED_VALUE_SPARE_BYTES || bytes.n > SHARED_VALUE_MAX_BYTES ||
        !slice_starts(bytes, MAGIC) || bytes.p[AT_VERSION] != VERSION) {
        return false;
    }
    size_t note_bytes = read_u32(bytes.p + AT_NOTE_BYTES);
    size_t body_bytes = read_u32(bytes.p + AT_BODY_BYTES);
    size_t room = bytes.n - SHARED_VALUE_SPARE_BYTES;
    if (note_bytes > room || body_bytes != room - note_bytes) {
        return false;
    }
    *ret_parts = (struct parts){
        .head = {bytes.p, SHARED_VALUE_HEAD_BYTES},
        .note = {bytes.p + SHARED_VALUE_HEAD_BYTES, note_bytes},
        .body = {bytes.p + SHARED_VALUE_HEAD_BYTES + note_bytes, body_bytes},
        .tag = {bytes.p + bytes.n - DIGEST_BYTES, DIGEST_BYTES},
    };
    return true;
}

static bool is_ours(struct slice hmac_key, const struct parts *p)
{
    struct digest tag, found;
    sign(hmac_key, p->head, p->note, p->body, &tag);
    memcpy(found.bytes, p->tag.p, DIGEST_BYTES);
    return digest_eq_secret(&tag, &found);
}

const struct cache_value *shared_value_decode(struct slice hmac_key, const struct cache_key *key,
                                              struct slice bytes)
{
    struct parts p;
    if (!split(bytes, &p) || !is_ours(hmac_key, &p)) {
        return NULL;
    }
    unsigned flags = (unsigned char)p.head.p[AT_FLAGS];
    if (memcmp(p.head.p + AT_KEY, key->value.bytes, DIGEST_BYTES) != 0 ||
        flags & ~(unsigned)FLAG_EMPTY_OUTCOME) {
        return NULL;
    }
    return cache_value_new(key, p.body, p.note, flags & FLAG_EMPTY_OUTCOME);
}
