/* SPDX-License-Identifier: Apache-2.0 */
/* FIPS 180-4 and RFC 4231 vectors. Our HMAC prefixes each part with its length, so the RFC's keys
 * are checked against an HMAC put together here from digest_of() and the definition in RFC 2104. */
#include "service/digest/digest.h"

#include <criterion/criterion.h>
#include <stdlib.h>

enum { BLOCK = 64, ROOM = 1024 };

static bool is_hex(const struct digest *d, const char *hex)
{
    struct dynbuf b;
    dynbuf_init(&b, 2 * DIGEST_BYTES);
    digest_add_hex(&b, d);
    bool same = slice_is(dynbuf_get(&b), hex);
    dynbuf_done(&b);
    return same;
}

/* RFC 2104 over plain bytes. */
static void plain_hmac(struct slice key, struct slice text, struct digest *ret_digest)
{
    char room[ROOM];
    struct digest part;
    if (key.n > BLOCK) {
        digest_of(key, &part);
        key = digest_slice(&part);
    }
    cr_assert_leq(BLOCK + text.n, sizeof(room));
    for (size_t i = 0; i < BLOCK; i++) {
        room[i] = (char)((i < key.n ? key.p[i] : 0) ^ 0x36);
    }
    memcpy(room + BLOCK, text.p, text.n);
    struct digest inner;
    digest_of((struct slice){room, BLOCK + text.n}, &inner);
    for (size_t i = 0; i < BLOCK; i++) {
        room[i] = (char)(room[i] ^ 0x36 ^ 0x5C);
    }
    memcpy(room + BLOCK, inner.bytes, DIGEST_BYTES);
    digest_of((struct slice){room, BLOCK + DIGEST_BYTES}, ret_digest);
}

Test(digest, matches_fips_180_4)
{
    static const struct {
        const char *text, *hex;
    } CASES[] = {
        {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
        {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
        {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
         "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct digest d;
        digest_of(slice_of(CASES[i].text), &d);
        cr_expect(is_hex(&d, CASES[i].hex), "row %zu", i);
    }
}

Test(digest, matches_fips_180_4_for_a_million_letters_in_pieces)
{
    char piece[1000];
    memset(piece, 'a', sizeof(piece));
    struct hasher h;
    hasher_init(&h);
    for (int i = 0; i < 1000; i++) {
        hasher_bytes(&h, (struct slice){piece, sizeof(piece)});
    }
    struct digest d;
    hasher_done(&h, &d);
    cr_expect(is_hex(&d, "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"));
}

/* RFC 4231 §4.2, 4.3 and 4.7: first that the reference above is HMAC, then that ours is the same
 * over the length-prefixed text. */
Test(digest, hmac_is_rfc_2104_over_prefixed_parts)
{
    static char long_key[131], short_key[20];
    memset(long_key, 0xAA, sizeof(long_key));
    memset(short_key, 0x0B, sizeof(short_key));
    const struct {
        struct slice key, text;
        const char *hex;
    } cases[] = {
        {{short_key, sizeof(short_key)},
         SLICE_LIT("Hi There"),
         "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7"},
        {SLICE_LIT("Jefe"), SLICE_LIT("what do ya want for nothing?"),
         "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"},
        {{long_key, sizeof(long_key)},
         SLICE_LIT("Test Using Larger Than Block-Size Key - Hash Key First"),
         "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct digest plain, prefixed, ours;
        plain_hmac(cases[i].key, cases[i].text, &plain);
        cr_assert(is_hex(&plain, cases[i].hex), "row %zu", i);
        char room[ROOM] = {0};
        room[0] = (char)cases[i].text.n;
        memcpy(room + 8, cases[i].text.p, cases[i].text.n);
        plain_hmac(cases[i].key, (struct slice){room, 8 + cases[i].text.n}, &prefixed);
        digest_hmac(cases[i].key, &cases[i].text, 1, &ours);
        cr_expect(digest_eq(&ours, &prefixed), "row %zu", i);
        cr_expect_not(digest_eq(&ours, &plain), "row %zu", i);
    }
}

Test(digest, hmac_takes_keys_around_the_block_size)
{
    static const size_t SIZES[] = {0, 63, 64, 65};
    static char key[65];
    struct slice none = {"\0\0\0\0\0\0\0\0", 8}, part = SLICE_LIT("");
    memset(key, 'k', sizeof(key));
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        struct digest expected, ours;
        plain_hmac((struct slice){key, SIZES[i]}, none, &expected);
        digest_hmac((struct slice){key, SIZES[i]}, &part, 1, &ours);
        cr_expect(digest_eq(&ours, &expected), "key of %zu bytes", SIZES[i]);
    }
}

static void hash_parts(const struct slice *parts, size_t n, struct digest *ret_digest)
{
    struct hasher h;
    hasher_init(&h);
    for (size_t i = 0; i < n; i++) {
        hasher_part(&h, parts[i]);
    }
    hasher_done(&h, ret_digest);
}

Test(digest, never_takes_two_lists_of_parts_for_the_same)
{
    const struct slice lists[][3] = {
        {SLICE_LIT("ab"), SLICE_LIT("c"), SLICE_LIT("")},
        {SLICE_LIT("a"), SLICE_LIT("bc"), SLICE_LIT("")},
        {SLICE_LIT(""), SLICE_LIT("abc"), SLICE_LIT("")},
        {SLICE_LIT("abc"), SLICE_LIT(""), SLICE_LIT("")},
    };
    enum { LISTS = sizeof(lists) / sizeof(lists[0]) };
    struct digest hashes[LISTS], macs[LISTS];
    for (size_t i = 0; i < LISTS; i++) {
        hash_parts(lists[i], 3, &hashes[i]);
        digest_hmac(SLICE_LIT("key"), lists[i], 3, &macs[i]);
        for (size_t j = 0; j < i; j++) {
            cr_expect_not(digest_eq(&hashes[i], &hashes[j]), "lists %zu and %zu", i, j);
            cr_expect_not(digest_eq(&macs[i], &macs[j]), "lists %zu and %zu", i, j);
        }
    }
    struct digest fewer;
    hash_parts(lists[0], 2, &fewer);
    cr_expect_not(digest_eq(&fewer, &hashes[0]), "an empty part counts");
}

/* The prefix is part of the stored format: it may not depend on the machine. */
Test(digest, prefixes_lengths_in_little_endian)
{
    struct digest by_part, by_bytes;
    struct slice part = SLICE_LIT("abc");
    hash_parts(&part, 1, &by_part);
    digest_of((struct slice){"\3\0\0\0\0\0\0\0abc", 11}, &by_bytes);
    cr_expect(digest_eq(&by_part, &by_bytes));
    struct hasher h;
    hasher_init(&h);
    hasher_part_u64(&h, 0x0102030405060708);
    hasher_done(&h, &by_part);
    digest_of((struct slice){"\10\0\0\0\0\0\0\0\10\7\6\5\4\3\2\1", 16}, &by_bytes);
    cr_expect(digest_eq(&by_part, &by_bytes));
}

Test(digest, reads_only_64_lower_case_digits)
{
    static const char HEX[] = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
    struct digest d, expected;
    digest_of(SLICE_LIT("abc"), &expected);
    cr_assert(digest_from_hex(slice_of(HEX), &d));
    cr_expect(digest_eq(&d, &expected));
    const struct slice bad[] = {
        {HEX, 63},
        SLICE_LIT(""),
        SLICE_LIT("BA7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        SLICE_LIT("ga7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        SLICE_LIT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015a\0"),
        SLICE_LIT("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad0"),
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_expect_not(digest_from_hex(bad[i], &d), "row %zu", i);
        cr_expect(digest_eq(&d, &expected), "row %zu left the result alone", i);
    }
}

Test(digest, secret_comparison_sees_every_bit)
{
    struct digest a;
    digest_of(SLICE_LIT("abc"), &a);
    for (size_t bit = 0; bit < 8 * DIGEST_BYTES; bit++) {
        struct digest b = a;
        cr_assert(digest_eq_secret(&a, &b));
        b.bytes[bit / 8] = (unsigned char)(b.bytes[bit / 8] ^ 1 << bit % 8);
        cr_assert_not(digest_eq_secret(&a, &b), "bit %zu", bit);
        cr_assert_not(digest_eq(&a, &b), "bit %zu", bit);
    }
}
