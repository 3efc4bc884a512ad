/* SPDX-License-Identifier: Apache-2.0 */
/* Absent and empty are different things, and every order we publish is the bytewise one. */
#include "service/base/slice.h"

#include <criterion/criterion.h>

Test(slice, tells_absent_from_empty)
{
    cr_expect_null(slice_of(NULL).p);
    cr_expect_not_null(slice_of("").p);
    cr_expect_eq(slice_of("").n, 0);
    cr_expect(slice_eq(SLICE_NONE, slice_of("")), "no bytes equal no bytes");
}

Test(slice, compares_by_bytes_not_by_text)
{
    struct slice with_nul = {"a\0b", 3};
    cr_expect(slice_eq(with_nul, (struct slice){"a\0b", 3}));
    cr_expect_not(slice_eq(with_nul, (struct slice){"a\0c", 3}));
    cr_expect_not(slice_is(with_nul, "a"));
    cr_expect(slice_is(SLICE_LIT("abc"), "abc"));
    cr_expect_not(slice_is(SLICE_LIT("abc"), "ab"));
    cr_expect_not(slice_is(SLICE_LIT("ab"), "abc"));
}

Test(slice, orders_bytewise_with_the_prefix_first)
{
    static const char *const SORTED[] = {"", "A", "B", "a", "aa", "ab", "b", "\xC3\xA9", "\xFF"};
    const size_t n = sizeof(SORTED) / sizeof(SORTED[0]);
    for (size_t i = 0; i < n; i++) {
        for (size_t j = 0; j < n; j++) {
            int order = slice_cmp(slice_of(SORTED[i]), slice_of(SORTED[j]));
            cr_expect_eq(order < 0, i < j, "%zu, %zu", i, j);
            cr_expect_eq(order > 0, i > j, "%zu, %zu", i, j);
        }
    }
    cr_expect_eq(slice_cmp(SLICE_NONE, SLICE_LIT("")), 0);
}

Test(slice, starts_and_skips)
{
    struct slice s = SLICE_LIT("kb://doc");
    cr_expect(slice_starts(s, SLICE_LIT("kb://")));
    cr_expect(slice_starts(s, SLICE_LIT("")));
    cr_expect(slice_starts(s, s));
    cr_expect_not(slice_starts(s, SLICE_LIT("kb://docs")));
    cr_expect_not(slice_starts(s, SLICE_LIT("KB://")));
    cr_expect(slice_is(slice_skip(s, 5), "doc"));
    cr_expect_eq(slice_skip(s, s.n).n, 0);
}
