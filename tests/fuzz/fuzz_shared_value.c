/* SPDX-License-Identifier: Apache-2.0 */
/* A stored answer, as whoever can write to Redis may leave it. Input that begins with "sign\n" gets
 * the right HMAC behind it, so that the search gets past that; anything else is decoded as it
 * stands. What is taken must carry the HMAC of its parts, reckoned here once more, and be what the
 * encoder makes of it. */
#include "cache/shared_value.h"
#include "tests/fuzz/must.h"

#define SECRET SLICE_LIT("a secret of thirty-two bytes....")
#define SIGN SLICE_LIT("sign\n")

enum { AT_KEY = 6, AT_NOTE_BYTES = AT_KEY + DIGEST_BYTES };

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n);

static struct digest tag_of(struct slice signed_bytes, size_t note_bytes)
{
    struct slice rest = slice_skip(signed_bytes, SHARED_VALUE_HEAD_BYTES);
    const struct slice parts[] = {SLICE_LIT("kbgate shared value"),
                                  {signed_bytes.p, SHARED_VALUE_HEAD_BYTES},
                                  {rest.p, note_bytes},
                                  slice_skip(rest, note_bytes)};
    struct digest tag;
    digest_hmac(SECRET, parts, sizeof(parts) / sizeof(parts[0]), &tag);
    return tag;
}

static void check(struct slice bytes, const struct cache_key *key)
{
    const struct cache_value *v = shared_value_decode(SECRET, key, bytes);
    if (!v) {
        return;
    }
    must(bytes.n == v->note.n + v->body.n + SHARED_VALUE_SPARE_BYTES);
    struct slice signed_bytes = {bytes.p, bytes.n - DIGEST_BYTES};
    struct digest tag = tag_of(signed_bytes, v->note.n);
    must(memcmp(tag.bytes, bytes.p + signed_bytes.n, DIGEST_BYTES) == 0);
    must(memcmp(bytes.p + AT_KEY, key->value.bytes, DIGEST_BYTES) == 0);
    struct dynbuf again;
    dynbuf_init(&again, SHARED_VALUE_MAX_BYTES);
    must(shared_value_encode(SECRET, v, &again) && slice_eq(dynbuf_get(&again), bytes));
    dynbuf_done(&again);
    cache_release(v);
}

/* The right HMAC wherever the note's length leaves a place for one. */
static void check_signed(struct slice bytes, const struct cache_key *key)
{
    struct dynbuf out;
    if (bytes.n < SHARED_VALUE_HEAD_BYTES || bytes.n > SHARED_VALUE_MAX_BYTES - DIGEST_BYTES) {
        return;
    }
    size_t room = bytes.n - SHARED_VALUE_HEAD_BYTES, note_bytes = 0;
    for (int i = 3; i >= 0; i--) {
        note_bytes = note_bytes << 8 | (unsigned char)bytes.p[AT_NOTE_BYTES + i];
    }
    struct digest tag = tag_of(bytes, note_bytes < room ? note_bytes : room);
    dynbuf_init(&out, SHARED_VALUE_MAX_BYTES);
    dynbuf_add(&out, bytes);
    dynbuf_add(&out, digest_slice(&tag));
    check(dynbuf_get(&out), key);
    dynbuf_done(&out);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t n)
{
    struct slice input = {(const char *)data, n};
    struct cache_key key;
    digest_of(SLICE_LIT("call"), &key.value);
    if (n && slice_starts(input, SIGN)) {
        check_signed(slice_skip(input, SIGN.n), &key);
    } else {
        check(n ? input : SLICE_NONE, &key);
    }
    return 0;
}
