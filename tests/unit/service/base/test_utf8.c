/* SPDX-License-Identifier: Apache-2.0 */
/* Every scalar value has exactly one accepted form, and every other sequence none. */
#include "service/base/utf8.h"

#include <criterion/criterion.h>

static bool is_scalar(uint32_t code)
{
    return code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
}

Test(utf8, round_trips_every_scalar_value)
{
    struct dynbuf b;
    dynbuf_init(&b, 8);
    for (uint32_t code = 0; code <= 0x10FFFF; code++) {
        if (!is_scalar(code)) {
            continue;
        }
        dynbuf_cut(&b, 0);
        utf8_add(&b, code);
        uint32_t back;
        cr_assert_eq(utf8_decode(dynbuf_get(&b), &back), b.n, "U+%04X", (unsigned)code);
        cr_assert_eq(back, code);
        cr_assert(utf8_is_valid(dynbuf_get(&b)));
        cr_assert_eq(utf8_count(dynbuf_get(&b)), 1);
    }
    dynbuf_done(&b);
}

/* One form a code point: of all sequences of two and three bytes the accepted are as many as the
 * scalar values of that length. */
Test(utf8, accepts_no_second_form)
{
    size_t two = 0, three = 0;
    for (unsigned i = 0; i < 1 << 16; i++) {
        char bytes[2] = {(char)(i >> 8), (char)(i & 0xFF)};
        uint32_t code;
        two += utf8_decode((struct slice){bytes, 2}, &code) == 2 && code != UTF8_BAD;
    }
    for (unsigned i = 0xE00000; i < 0xF00000; i++) {
        char bytes[3] = {(char)(i >> 16), (char)(i >> 8 & 0xFF), (char)(i & 0xFF)};
        uint32_t code;
        three += utf8_decode((struct slice){bytes, 3}, &code) == 3 && code != UTF8_BAD;
    }
    cr_expect_eq(two, 0x800 - 0x80);
    cr_expect_eq(three, 0x10000 - 0x800 - 0x800, "all of the plane but the surrogates");
}

Test(utf8, replaces_each_maximal_subpart_once)
{
    static const struct {
        const char *in, *out;
        size_t replaced;
    } CASES[] = {
        {"plain", "plain", 0},
        {"", "", 0},
        {"\x80", "\uFFFD", 1},
        {"\xC0\xAF", "\uFFFD\uFFFD", 2},                     /* overlong "/" */
        {"\xE0\x80\x80", "\uFFFD\uFFFD\uFFFD", 3},           /* overlong NUL */
        {"\xED\xA0\x80", "\uFFFD\uFFFD\uFFFD", 3},           /* a surrogate */
        {"\xF4\x90\x80\x80", "\uFFFD\uFFFD\uFFFD\uFFFD", 4}, /* past U+10FFFF */
        {"\xF5\x80", "\uFFFD\uFFFD", 2},
        {"\xE1\x80", "\uFFFD", 1}, /* cut at the end */
        {"\xF0\x9F\x98", "\uFFFD", 1},
        {"\xF0\x9F\x98z", "\uFFFDz", 1}, /* cut by a letter */
        {"a\xF1\x80\x80\xE1\x80\xC2"
         "b\x80"
         "c\x80\xBF"
         "d",
         "a\uFFFD\uFFFD\uFFFD"
         "b\uFFFD"
         "c\uFFFD\uFFFD"
         "d",
         6}, /* the Unicode Standard's own example, table 3-8 */
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct dynbuf b;
        dynbuf_init(&b, 256);
        cr_expect_eq(utf8_add_valid(&b, slice_of(CASES[i].in)), CASES[i].replaced, "row %zu", i);
        cr_expect(slice_is(dynbuf_get(&b), CASES[i].out), "row %zu", i);
        cr_expect_eq(utf8_is_valid(slice_of(CASES[i].in)), CASES[i].replaced == 0, "row %zu", i);
        cr_expect(utf8_is_valid(dynbuf_get(&b)), "row %zu", i);
        dynbuf_done(&b);
    }
}

Test(utf8, does_not_read_past_a_cut)
{
    static const char SMILE[] = "\xF0\x9F\x98\x80";
    for (size_t n = 1; n < 4; n++) {
        uint32_t code;
        cr_expect_eq(utf8_decode((struct slice){SMILE, n}, &code), n);
        cr_expect_eq(code, UTF8_BAD);
    }
}

Test(utf8, finds_the_first_byte_beyond_ascii)
{
    char text[40];
    for (size_t n = 0; n <= sizeof(text); n++) {
        memset(text, 0x7F, sizeof(text));
        cr_expect_eq(utf8_ascii_length((struct slice){text, n}), n);
        for (size_t at = 0; at < n; at++) {
            text[at] = (char)0x80;
            cr_expect_eq(utf8_ascii_length((struct slice){text, n}), at, "%zu of %zu", at, n);
            cr_expect_not(utf8_is_valid((struct slice){text, n}), "%zu of %zu", at, n);
            text[at] = 0x7F;
        }
    }
}
