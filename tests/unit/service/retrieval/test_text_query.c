/* SPDX-License-Identifier: Apache-2.0 */
/* Canonical queries: one form for what Unicode holds equal, and a reason for what is no query. */
#include "service/base/utf8.h"
#include "service/retrieval/text.h"

#include <criterion/criterion.h>

static enum text_query_result canonical(struct slice query, struct dynbuf *out)
{
    dynbuf_init(out, 1 << 20);
    return text_canonical_query(query, out);
}

static void expect_canonical(const char *query, const char *expected)
{
    struct dynbuf out, again;
    cr_assert_eq(canonical(slice_of(query), &out), TEXT_QUERY_OK, "%s", query);
    cr_assert(slice_is(dynbuf_get(&out), expected), "%s gave %.*s", query, (int)out.n, out.p);
    cr_assert_eq(canonical(dynbuf_get(&out), &again), TEXT_QUERY_OK);
    cr_assert(slice_is(dynbuf_get(&again), expected), "%s is not stable", query);
    dynbuf_done(&out);
    dynbuf_done(&again);
}

Test(text_query, composes_and_collapses)
{
    expect_canonical("a", "a");
    expect_canonical("  parental \t\r\n leave\v\f", "parental leave");
    expect_canonical("cafe\xCC\x81", "caf\xC3\xA9");
    expect_canonical("e\xCC\x82\xCC\xA3", "\xE1\xBB\x87"); /* marks in another order */
    expect_canonical("\xE1\x84\x80\xE1\x85\xA1", "\xEA\xB0\x80");
    expect_canonical("\xE2\x84\xAB", "\xC3\x85"); /* Ångström sign */
    expect_canonical("K\xC2\xA0"
                     "a",
                     "K a");
    expect_canonical("ＦＵＬＬ", "ＦＵＬＬ"); /* NFC, not NFKC */
    expect_canonical("Case STAYS", "Case STAYS");
    expect_canonical("zero\xE2\x80\x8Bwidth", "zero\xE2\x80\x8Bwidth");
}

Test(text_query, every_unicode_white_space_is_one_space)
{
    static const uint32_t SPACES[] = {
        0x09,   0x0A,   0x0B,   0x0C,   0x0D,   0x20,   0x85,   0xA0,   0x1680,
        0x2000, 0x2001, 0x2002, 0x2003, 0x2004, 0x2005, 0x2006, 0x2007, 0x2008,
        0x2009, 0x200A, 0x2028, 0x2029, 0x202F, 0x205F, 0x3000,
    };
    for (size_t i = 0; i < sizeof(SPACES) / sizeof(SPACES[0]); i++) {
        struct dynbuf query, out;
        dynbuf_init(&query, 64);
        utf8_add(&query, SPACES[i]);
        dynbuf_add_text(&query, "a");
        utf8_add(&query, SPACES[i]);
        utf8_add(&query, SPACES[(i + 1) % 25]);
        dynbuf_add_text(&query, "b");
        utf8_add(&query, SPACES[i]);
        cr_assert_eq(canonical(dynbuf_get(&query), &out), TEXT_QUERY_OK);
        cr_assert(slice_is(dynbuf_get(&out), "a b"), "U+%04X", (unsigned)SPACES[i]);
        dynbuf_done(&query);
        dynbuf_done(&out);
    }
}

Test(text_query, says_what_is_wrong)
{
    static const struct {
        struct slice query;
        enum text_query_result result;
    } QUERIES[] = {
        {SLICE_LIT(""), TEXT_QUERY_BLANK},
        {SLICE_LIT(" \t\xC2\xA0\xE3\x80\x80\n"), TEXT_QUERY_BLANK},
        {SLICE_LIT("!!! ... |"), TEXT_QUERY_NO_WORD},
        {SLICE_LIT("\xF0\x9F\x98\x80"), TEXT_QUERY_NO_WORD},
        {SLICE_LIT("\xCC\x81"), TEXT_QUERY_NO_WORD},
        {SLICE_LIT("a\0b"), TEXT_QUERY_CONTROL},
        {SLICE_LIT("a\x01"), TEXT_QUERY_CONTROL},
        {SLICE_LIT("a\x1F"), TEXT_QUERY_CONTROL},
        {SLICE_LIT("a\x7F"), TEXT_QUERY_CONTROL},
        {SLICE_LIT("a\xC2\x80"), TEXT_QUERY_CONTROL},
        {SLICE_LIT("a\xC2\x9F"), TEXT_QUERY_CONTROL},
        {SLICE_LIT("\0"), TEXT_QUERY_CONTROL},
        {SLICE_LIT("a\xFF"), TEXT_QUERY_NOT_UTF8},
        {SLICE_LIT("\xED\xA0\x80"), TEXT_QUERY_NOT_UTF8}, /* a lone surrogate */
        {SLICE_LIT("\xC0\xAF"), TEXT_QUERY_NOT_UTF8},
        {SLICE_LIT("7"), TEXT_QUERY_OK},
        {SLICE_LIT("\xE2\x85\xA7"), TEXT_QUERY_OK}, /* Roman numeral eight is a number */
        {SLICE_LIT("C++"), TEXT_QUERY_OK},
    };
    for (size_t i = 0; i < sizeof(QUERIES) / sizeof(QUERIES[0]); i++) {
        struct dynbuf out;
        enum text_query_result result = canonical(QUERIES[i].query, &out);
        cr_assert_eq(result, QUERIES[i].result, "query %zu gave %d", i, (int)result);
        cr_assert(result == TEXT_QUERY_OK || out.n == 0);
        dynbuf_done(&out);
    }
}

static enum text_query_result result_of_length(const char *unit, size_t n, const char *around)
{
    struct dynbuf query, out;
    dynbuf_init(&query, 1 << 20);
    dynbuf_add_text(&query, around);
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_text(&query, unit);
    }
    dynbuf_add_text(&query, around);
    enum text_query_result result = canonical(dynbuf_get(&query), &out);
    cr_assert(result != TEXT_QUERY_OK || utf8_count(dynbuf_get(&out)) == n);
    dynbuf_done(&query);
    dynbuf_done(&out);
    return result;
}

Test(text_query, counts_characters_of_the_canonical_form)
{
    static const char *const UNITS[] = {"a", "д", "报", "e\xCC\x81", "\xF0\xA0\x80\x80"};
    for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
        cr_assert_eq(result_of_length(UNITS[i], 1999, ""), TEXT_QUERY_OK);
        cr_assert_eq(result_of_length(UNITS[i], 2000, ""), TEXT_QUERY_OK);
        cr_assert_eq(result_of_length(UNITS[i], 2000, " \n\t "), TEXT_QUERY_OK);
        cr_assert_eq(result_of_length(UNITS[i], 2001, ""), TEXT_QUERY_TOO_LONG);
    }
}

Test(text_query, blanks_within_do_not_count_twice)
{
    struct dynbuf query, out;
    dynbuf_init(&query, 1 << 20);
    dynbuf_add_byte(&query, 'a');
    for (size_t i = 0; i < 5000; i++) {
        dynbuf_add_byte(&query, ' ');
    }
    dynbuf_add_byte(&query, 'b');
    cr_assert_eq(canonical(dynbuf_get(&query), &out), TEXT_QUERY_OK);
    cr_assert(slice_is(dynbuf_get(&out), "a b"));
    dynbuf_done(&query);
    dynbuf_done(&out);
}
