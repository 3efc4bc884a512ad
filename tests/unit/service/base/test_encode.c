/* SPDX-License-Identifier: Apache-2.0 */
/* RFC 4648 §10 vectors, and the property that no text decodes in two spellings. */
#include "service/base/encode.h"

#include <criterion/criterion.h>

static struct dynbuf made;

static void setup(void)
{
    dynbuf_init(&made, 4096);
}

static void teardown(void)
{
    dynbuf_done(&made);
}

TestSuite(encode, .init = setup, .fini = teardown);

Test(encode, matches_rfc_4648)
{
    static const struct {
        const char *plain, *hex, *base32, *base64url;
    } CASES[] = {
        {"", "", "", ""},
        {"f", "66", "my", "Zg"},
        {"fo", "666f", "mzxq", "Zm8"},
        {"foo", "666f6f", "mzxw6", "Zm9v"},
        {"foob", "666f6f62", "mzxw6yq", "Zm9vYg"},
        {"fooba", "666f6f6261", "mzxw6ytb", "Zm9vYmE"},
        {"foobar", "666f6f626172", "mzxw6ytboi", "Zm9vYmFy"},
        {"\xFB\xFF\xFE", "fbfffe", "7p774", "-__-"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct slice plain = slice_of(CASES[i].plain);
        dynbuf_cut(&made, 0);
        encode_hex(&made, plain);
        cr_expect(slice_is(dynbuf_get(&made), CASES[i].hex), "row %zu", i);
        dynbuf_cut(&made, 0);
        encode_base32(&made, plain);
        cr_expect(slice_is(dynbuf_get(&made), CASES[i].base32), "row %zu", i);
        dynbuf_cut(&made, 0);
        encode_base64url(&made, plain);
        cr_expect(slice_is(dynbuf_get(&made), CASES[i].base64url), "row %zu", i);
        dynbuf_cut(&made, 0);
        cr_expect(decode_base64url(&made, slice_of(CASES[i].base64url)), "row %zu", i);
        cr_expect(slice_eq(dynbuf_get(&made), plain), "row %zu", i);
    }
}

Test(encode, refuses_base64url_that_is_not_strict)
{
    static const struct slice BAD[] = {
        {"Zg==", 4},  {"Zg=", 3},  {"Z", 1},          {"Zm9vY", 5},  {"Zm9v ", 5},
        {" Zm9v", 5}, {"Zm+v", 4}, {"Zm/v", 4},       {"Zm\n9v", 5}, {"Zm9\0", 4},
        {"Zh", 2},    {"Zm9", 3},  {"Zm\xC3\xA9", 4},
    };
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        dynbuf_cut(&made, 0);
        dynbuf_add_text(&made, "before");
        cr_expect_not(decode_base64url(&made, BAD[i]), "row %zu", i);
        cr_expect(slice_is(dynbuf_get(&made), "before"), "row %zu", i);
    }
}

/* Of all texts of 2 characters exactly 256 decode, and to 256 different bytes. */
Test(encode, has_one_base64url_spelling_a_byte)
{
    bool seen[256] = {false};
    size_t accepted = 0;
    for (unsigned i = 0; i < 1 << 16; i++) {
        char text[2] = {(char)(i >> 8), (char)(i & 0xFF)};
        dynbuf_cut(&made, 0);
        if (decode_base64url(&made, (struct slice){text, 2})) {
            cr_assert_eq(made.n, 1);
            cr_assert_not(seen[(unsigned char)made.p[0]]);
            seen[(unsigned char)made.p[0]] = true;
            accepted++;
        }
    }
    cr_expect_eq(accepted, 256);
}

Test(encode, percent_encodes_all_but_unreserved_and_kept)
{
    struct slice in = {"a-Z_0.9~/ %+\xC3\xA9\0", 15};
    encode_percent(&made, in, "");
    cr_expect(slice_is(dynbuf_get(&made), "a-Z_0.9~%2F%20%25%2B%C3%A9%00"));
    dynbuf_cut(&made, 0);
    encode_percent(&made, in, "/");
    cr_expect(slice_is(dynbuf_get(&made), "a-Z_0.9~/%20%25%2B%C3%A9%00"));
}

Test(encode, percent_round_trips_every_byte_but_nul)
{
    char all[255];
    for (int i = 0; i < 255; i++) {
        all[i] = (char)(i + 1);
    }
    struct dynbuf text;
    dynbuf_init(&text, 4096);
    encode_percent(&text, (struct slice){all, 255}, "/");
    cr_expect(decode_percent(&made, dynbuf_get(&text), false));
    cr_expect(slice_eq(dynbuf_get(&made), (struct slice){all, 255}));
    dynbuf_done(&text);
}

Test(encode, percent_decodes_strictly)
{
    static const char *const BAD[] = {"%", "%2", "a%", "%G0", "%0G", "%00", "a%00b", "%%20", "%-1"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        dynbuf_cut(&made, 0);
        dynbuf_add_text(&made, "before");
        cr_expect_not(decode_percent(&made, slice_of(BAD[i]), true), "%s", BAD[i]);
        cr_expect(slice_is(dynbuf_get(&made), "before"), "%s", BAD[i]);
    }
}

Test(encode, reads_plus_as_space_only_in_forms)
{
    cr_expect(decode_percent(&made, SLICE_LIT("a+b%2B%2b"), true));
    cr_expect(slice_is(dynbuf_get(&made), "a b++"));
    dynbuf_cut(&made, 0);
    cr_expect(decode_percent(&made, SLICE_LIT("a+b"), false));
    cr_expect(slice_is(dynbuf_get(&made), "a+b"));
}
