/* SPDX-License-Identifier: Apache-2.0 */
/* A buffer that reached its ceiling says so once and for all, and never holds more. */
#include "service/base/dynbuf.h"

#include <criterion/criterion.h>

Test(dynbuf, is_empty_text_at_first)
{
    struct dynbuf b;
    dynbuf_init(&b, 10);
    cr_expect_not_null(dynbuf_get(&b).p);
    cr_expect_eq(dynbuf_get(&b).n, 0);
    dynbuf_done(&b);
}

Test(dynbuf, keeps_what_was_added_while_it_grows)
{
    struct dynbuf b;
    dynbuf_init(&b, 1000000);
    for (int i = 0; i < 1000; i++) {
        dynbuf_add_text(&b, "abcdefg");
        dynbuf_add_byte(&b, '\0');
    }
    cr_assert_eq(b.n, 8000);
    for (size_t i = 0; i < 1000; i++) {
        cr_assert_arr_eq(b.p + 8 * i, "abcdefg", 8, "repetition %zu", i);
    }
    cr_expect_not(b.failed);
    dynbuf_done(&b);
}

Test(dynbuf, fails_above_its_ceiling_and_not_at_it)
{
    static const struct {
        size_t ceiling;
        bool fits;
    } CASES[] = {{0, false}, {4, false}, {5, true}, {6, true}};
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct dynbuf b;
        dynbuf_init(&b, CASES[i].ceiling);
        dynbuf_add_text(&b, "12345");
        cr_expect_eq(b.failed, !CASES[i].fits, "ceiling %zu", CASES[i].ceiling);
        cr_expect_eq(b.n, CASES[i].fits ? 5 : 0, "nothing is added in part");
        dynbuf_done(&b);
    }
}

Test(dynbuf, adds_nothing_once_it_failed)
{
    struct dynbuf b;
    dynbuf_init(&b, 4);
    dynbuf_add_text(&b, "ab");
    dynbuf_add_text(&b, "cde");
    dynbuf_add_text(&b, "f");
    cr_expect(b.failed);
    cr_expect(slice_is(dynbuf_get(&b), "ab"));
    dynbuf_done(&b);
    dynbuf_add_text(&b, "abcd");
    cr_expect(slice_is(dynbuf_get(&b), "abcd"), "done makes it new, with the same ceiling");
    dynbuf_add_byte(&b, 'e');
    cr_expect(b.failed);
    dynbuf_done(&b);
}

Test(dynbuf, writes_integers_whole)
{
    static const struct {
        int64_t value;
        const char *text;
    } CASES[] = {
        {0, "0"},
        {7, "7"},
        {-1, "-1"},
        {1000000, "1000000"},
        {INT64_MAX, "9223372036854775807"},
        {INT64_MIN, "-9223372036854775808"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct dynbuf b;
        dynbuf_init(&b, 64);
        dynbuf_add_int(&b, CASES[i].value);
        cr_expect(slice_is(dynbuf_get(&b), CASES[i].text), "%s", CASES[i].text);
        dynbuf_done(&b);
    }
}

Test(dynbuf, cuts_back_only)
{
    struct dynbuf b;
    dynbuf_init(&b, 64);
    dynbuf_add_text(&b, "abcdef");
    dynbuf_cut(&b, 9);
    cr_expect_eq(b.n, 6);
    dynbuf_cut(&b, 2);
    dynbuf_add_byte(&b, 'x');
    cr_expect(slice_is(dynbuf_get(&b), "abx"));
    dynbuf_done(&b);
}

Test(dynbuf, text_has_a_nul_that_counts_nowhere)
{
    struct dynbuf b;
    dynbuf_init(&b, 256);
    cr_assert_str_eq(dynbuf_text(&b), "");
    for (size_t i = 0; i < 256; i++) { /* at the ceiling and at every size the buffer grows at */
        dynbuf_add_byte(&b, 'x');
        cr_assert_eq(strlen(dynbuf_text(&b)), i + 1);
    }
    cr_assert_eq(b.n, 256);
    dynbuf_add_byte(&b, 'y');
    cr_assert_null(dynbuf_text(&b));
    dynbuf_done(&b);
}
