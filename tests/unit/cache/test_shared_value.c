/* SPDX-License-Identifier: Apache-2.0 */
/* Only what we wrote, whole and under its own key, is read back; the bytes are attacked one by one,
 * and by a forger who knows the format and every key but the HMAC key. */
#include "cache/shared_value.h"

#include "service/base/mem.h"
#include "tests/splitmix.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define SECRET SLICE_LIT("0123456789abcdef0123456789abcdef")
#define OTHER_SECRET SLICE_LIT("0123456789abcdef0123456789abcdeF")

enum { AT_VERSION = 4, AT_FLAGS = 5, AT_KEY = 6, AT_NOTE_BYTES = 38, AT_BODY_BYTES = 42 };

static struct cache_key key_of(const char *text)
{
    struct cache_key key;
    digest_of(slice_of(text), &key.value);
    return key;
}

static struct dynbuf encode(struct slice body, struct slice note, bool is_empty)
{
    struct cache_key key = key_of("call");
    struct dynbuf out;
    dynbuf_init(&out, SHARED_VALUE_MAX_BYTES);
    const struct cache_value *v = cache_value_new(&key, body, note, is_empty);
    cr_assert(shared_value_encode(SECRET, v, &out));
    cache_release(v);
    return out;
}

static const struct cache_value *decode(struct slice bytes)
{
    struct cache_key key = key_of("call");
    return shared_value_decode(SECRET, &key, bytes);
}

static bool is_read(struct slice bytes)
{
    const struct cache_value *v = decode(bytes);
    cache_release(v);
    return v != NULL;
}

/* What the format's description says, made by hand, under any key: a forger's work unless he has
 * the secret. */
static struct dynbuf forge(struct slice secret, struct slice head, struct slice rest)
{
    const struct slice parts[] = {
        SLICE_LIT("kbgate shared value"), head, {rest.p, 1}, slice_skip(rest, 1)};
    struct digest tag;
    struct dynbuf out;
    digest_hmac(secret, parts, 4, &tag);
    dynbuf_init(&out, SHARED_VALUE_MAX_BYTES);
    dynbuf_add(&out, head);
    dynbuf_add(&out, rest);
    dynbuf_add(&out, digest_slice(&tag));
    return out;
}

/* A note of one byte and a body of four. */
static struct slice head_of(char room[SHARED_VALUE_HEAD_BYTES], char version, char flags)
{
    struct cache_key key = key_of("call");
    memset(room, 0, SHARED_VALUE_HEAD_BYTES);
    memcpy(room, "kbgv", 4);
    room[AT_VERSION] = version;
    room[AT_FLAGS] = flags;
    memcpy(room + AT_KEY, key.value.bytes, DIGEST_BYTES);
    room[AT_NOTE_BYTES] = 1;
    room[AT_BODY_BYTES] = 4;
    return (struct slice){room, SHARED_VALUE_HEAD_BYTES};
}

Test(shared_value, comes_back_as_it_was)
{
    const struct {
        struct slice body, note;
        bool is_empty;
    } values[] = {
        {SLICE_LIT("{\"results\":[]}"), SLICE_LIT("[]"), true},
        {SLICE_LIT("body"), SLICE_NONE, false},
        {SLICE_LIT(""), SLICE_LIT(""), false},
        {SLICE_LIT(""), SLICE_LIT("note"), true},
        {SLICE_LIT("a\0b\xFF\r\n"), SLICE_LIT("\0"), false},
    };
    for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
        struct cache_key key = key_of("call");
        struct dynbuf bytes = encode(values[i].body, values[i].note, values[i].is_empty);
        const struct cache_value *v = decode(dynbuf_get(&bytes));
        cr_assert_not_null(v, "value %zu", i);
        cr_assert(slice_eq(v->body, values[i].body) && slice_eq(v->note, values[i].note));
        cr_assert_eq(v->is_empty_outcome, values[i].is_empty);
        cr_assert(digest_eq(&v->key.value, &key.value));
        cache_release(v);
        dynbuf_done(&bytes);
    }
}

Test(shared_value, is_the_documented_format_byte_for_byte)
{
    char room[SHARED_VALUE_HEAD_BYTES];
    for (char empty = 0; empty <= 1; empty++) {
        struct dynbuf ours = encode(SLICE_LIT("body"), SLICE_LIT("n"), empty);
        struct dynbuf by_hand = forge(SECRET, head_of(room, 1, empty), SLICE_LIT("nbody"));
        cr_assert(slice_eq(dynbuf_get(&ours), dynbuf_get(&by_hand)));
        dynbuf_done(&ours);
        dynbuf_done(&by_hand);
    }
}

Test(shared_value, the_largest_fits_and_one_byte_more_does_not)
{
    enum { ROOM = SHARED_VALUE_MAX_BYTES - SHARED_VALUE_SPARE_BYTES };
    char *big = mem_alloc(SHARED_VALUE_MAX_BYTES + 1);
    const size_t notes[] = {0, 1, ROOM / 2, ROOM, ROOM + 1, SHARED_VALUE_MAX_BYTES + 1};
    struct cache_key key = key_of("call");
    for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++) {
        for (int extra = -1; extra <= 1; extra++) {
            long body = (long)ROOM - (long)notes[i] + extra;
            const struct cache_value *v =
                cache_value_new(&key, (struct slice){big, body < 0 ? 0 : (size_t)body},
                                (struct slice){big, notes[i]}, false);
            bool fits = v->body.n + v->note.n <= ROOM;
            struct dynbuf out;
            dynbuf_init(&out, SHARED_VALUE_MAX_BYTES);
            cr_assert_eq(shared_value_encode(SECRET, v, &out), fits);
            cr_assert_eq(out.n, fits ? SHARED_VALUE_SPARE_BYTES + v->body.n + v->note.n : 0);
            cr_assert_eq(is_read(dynbuf_get(&out)), fits);
            dynbuf_done(&out);
            cache_release(v);
        }
    }
    free(big);
}

/* Lengths of 2^32 - 1 would add up to less than they are. */
Test(shared_value, lengths_that_do_not_add_up_are_refused)
{
    struct dynbuf bytes = encode(SLICE_LIT("body"), SLICE_LIT("n"), false);
    const unsigned char lengths[][8] = {
        {2, 0, 0, 0, 4, 0, 0, 0},
        {1, 0, 0, 0, 5, 0, 0, 0},
        {1, 0, 0, 0, 3, 0, 0, 0},
        {0, 0, 0, 0, 4, 0, 0, 0},
        {255, 255, 255, 255, 6, 0, 0, 0},
        {6, 0, 0, 0, 255, 255, 255, 255},
        {255, 255, 255, 255, 255, 255, 255, 255},
        {0, 0, 0, 128, 5, 0, 0, 128},
        {1, 0, 0, 1, 4, 0, 0, 0},
    };
    cr_assert(is_read(dynbuf_get(&bytes)));
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        memcpy(bytes.p + AT_NOTE_BYTES, lengths[i], 8);
        cr_assert_not(is_read(dynbuf_get(&bytes)), "lengths %zu", i);
    }
    dynbuf_done(&bytes);
}

/* The border between note and body is under the HMAC too. */
Test(shared_value, bytes_cannot_be_moved_from_note_to_body)
{
    struct dynbuf bytes = encode(SLICE_LIT("body"), SLICE_LIT("note"), false);
    bytes.p[AT_NOTE_BYTES] = 3;
    bytes.p[AT_BODY_BYTES] = 5;
    cr_assert_not(is_read(dynbuf_get(&bytes)));
    dynbuf_done(&bytes);
}

Test(shared_value, every_flipped_bit_is_seen)
{
    struct dynbuf bytes = encode(SLICE_LIT("{\"results\":[1]}"), SLICE_LIT("note"), false);
    for (size_t bit = 0; bit < bytes.n * 8; bit++) {
        bytes.p[bit / 8] = (char)(bytes.p[bit / 8] ^ (1 << bit % 8));
        cr_assert_not(is_read(dynbuf_get(&bytes)), "bit %zu", bit);
        bytes.p[bit / 8] = (char)(bytes.p[bit / 8] ^ (1 << bit % 8));
    }
    cr_assert(is_read(dynbuf_get(&bytes)));
    dynbuf_done(&bytes);
}

/* Each length in memory of its own, so that a read past the end is one past an allocation. */
Test(shared_value, every_other_length_is_refused)
{
    struct dynbuf bytes = encode(SLICE_LIT("body"), SLICE_LIT("note"), true);
    for (size_t n = 0; n < bytes.n; n++) {
        char *cut = malloc(n + !n);
        memcpy(cut, bytes.p, n);
        cr_assert_not(is_read((struct slice){cut, n}), "%zu bytes", n);
        free(cut);
    }
    cr_assert_not(is_read(SLICE_NONE));
    dynbuf_add_byte(&bytes, 0);
    cr_assert_not(is_read(dynbuf_get(&bytes)));
    dynbuf_done(&bytes);
}

Test(shared_value, is_read_under_its_own_key_only)
{
    struct dynbuf bytes = encode(SLICE_LIT("body"), SLICE_LIT("note"), false);
    struct cache_key key = key_of("call");
    for (size_t bit = 0; bit < 8 * (size_t)DIGEST_BYTES; bit++) {
        struct cache_key other = key;
        other.value.bytes[bit / 8] = (unsigned char)(other.value.bytes[bit / 8] ^ 1 << bit % 8);
        cr_assert_null(shared_value_decode(SECRET, &other, dynbuf_get(&bytes)));
    }
    dynbuf_done(&bytes);
}

Test(shared_value, a_forger_without_the_secret_gets_nowhere)
{
    char room[SHARED_VALUE_HEAD_BYTES];
    const struct slice secrets[] = {OTHER_SECRET, SLICE_LIT(""), SLICE_LIT("kbgate"),
                                    SLICE_LIT("0123456789abcdef0123456789abcde")};
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        struct dynbuf forged = forge(secrets[i], head_of(room, 1, 0), SLICE_LIT("nbody"));
        cr_assert_not(is_read(dynbuf_get(&forged)));
        dynbuf_done(&forged);
    }
    struct dynbuf good = forge(SECRET, head_of(room, 1, 0), SLICE_LIT("nbody"));
    cr_assert(is_read(dynbuf_get(&good)));
    memset(good.p + good.n - DIGEST_BYTES, 0, DIGEST_BYTES);
    cr_assert_not(is_read(dynbuf_get(&good)));
    dynbuf_done(&good);
}

/* Signed with the secret, by a replica of another version. */
Test(shared_value, other_versions_and_unknown_flags_are_none)
{
    char room[SHARED_VALUE_HEAD_BYTES];
    for (int i = 0; i < 256; i++) {
        struct dynbuf version = forge(SECRET, head_of(room, (char)i, 0), SLICE_LIT("nbody"));
        struct dynbuf flags = forge(SECRET, head_of(room, 1, (char)i), SLICE_LIT("nbody"));
        cr_assert_eq(is_read(dynbuf_get(&version)), i == 1);
        cr_assert_eq(is_read(dynbuf_get(&flags)), i <= 1);
        dynbuf_done(&version);
        dynbuf_done(&flags);
    }
}

Test(shared_value, chance_is_never_read)
{
    uint64_t seed = 20261130, state = seed;
    for (int round = 0; round < 20000; round++) {
        char bytes[160];
        for (size_t i = 0; i < sizeof(bytes); i++) {
            bytes[i] = (char)splitmix(&state);
        }
        size_t n = splitmix(&state) % sizeof(bytes);
        char room[SHARED_VALUE_HEAD_BYTES];
        memcpy(bytes, head_of(room, 1, 0).p, n % (SHARED_VALUE_HEAD_BYTES + 1));
        cr_assert_not(is_read((struct slice){bytes, n}), "seed %llu, round %d",
                      (unsigned long long)seed, round);
    }
}
