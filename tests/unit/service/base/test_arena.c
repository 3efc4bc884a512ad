/* SPDX-License-Identifier: Apache-2.0 */
/* What an arena gave stays where it is, zeroed and aligned, until the arena is done. */
#include "service/base/arena.h"

#include <criterion/criterion.h>
#include <stdalign.h>
#include <stdint.h>

Test(arena, is_ready_when_zeroed_and_can_be_used_again)
{
    struct arena a = {0};
    cr_expect_not_null(arena_alloc(&a, 1));
    arena_done(&a);
    cr_expect_not_null(arena_alloc(&a, 1));
    arena_done(&a);
    arena_done(&a);
}

Test(arena, gives_zeroed_and_aligned_bytes_of_any_size)
{
    /* below, at and above a block of 8 KiB */
    static const size_t SIZES[] = {0, 1, 15, 16, 17, 8191, 8192, 8193, 100000, 3};
    struct arena a;
    arena_init(&a);
    for (size_t i = 0; i < sizeof(SIZES) / sizeof(SIZES[0]); i++) {
        unsigned char *p = arena_alloc(&a, SIZES[i]);
        cr_assert_eq((uintptr_t)p % alignof(max_align_t), 0, "size %zu", SIZES[i]);
        for (size_t j = 0; j < SIZES[i]; j++) {
            cr_assert_eq(p[j], 0, "size %zu, byte %zu", SIZES[i], j);
        }
        memset(p, 0xAA, SIZES[i]);
    }
    arena_done(&a);
}

Test(arena, keeps_earlier_allocations_apart)
{
    enum { COUNT = 1000, SIZE = 40 };
    struct arena a;
    arena_init(&a);
    unsigned char *all[COUNT];
    for (size_t i = 0; i < COUNT; i++) {
        all[i] = arena_alloc(&a, SIZE);
        memset(all[i], (int)(i % 251), SIZE);
    }
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = 0; j < SIZE; j++) {
            cr_assert_eq(all[i][j], i % 251, "allocation %zu", i);
        }
    }
    arena_done(&a);
}

Test(arena, copies_keep_absent_and_empty_apart)
{
    struct arena a;
    arena_init(&a);
    cr_expect_null(arena_copy(&a, SLICE_NONE).p);
    struct slice empty = arena_copy(&a, SLICE_LIT(""));
    cr_assert_not_null(empty.p);
    cr_expect_eq(empty.n, 0);
    struct slice copy = arena_copy(&a, (struct slice){"x\0yz", 3});
    cr_expect_eq(copy.n, 3);
    cr_expect_arr_eq(copy.p, "x\0y", 4, "a NUL stands behind the copy");
    arena_done(&a);
}

/* Fills both so far that `a` goes on in the block it was in. */
Test(arena, joins_another_and_keeps_what_both_hold)
{
    static const size_t COUNTS[][2] = {{0, 0},   {0, 3},   {3, 0},    {1, 1},
                                       {300, 1}, {1, 300}, {300, 300}};
    for (size_t row = 0; row < sizeof(COUNTS) / sizeof(COUNTS[0]); row++) {
        struct arena both[2] = {{0}};
        unsigned char *all[2 * 300 + 1];
        size_t n = 0;
        for (size_t i = 0; i < COUNTS[row][0] + COUNTS[row][1]; i++, n++) {
            all[n] = arena_alloc(&both[i >= COUNTS[row][0]], 40);
            memset(all[n], (int)(n % 251), 40);
        }
        arena_join(&both[0], &both[1]);
        cr_assert_null(both[1].newest);
        arena_done(&both[1]);
        all[n] = arena_alloc(&both[0], 40);
        memset(all[n], (int)(n % 251), 40);
        for (size_t i = 0; i < 40 * (n + 1); i++) {
            cr_assert_eq(all[i / 40][i % 40], i / 40 % 251, "row %zu, allocation %zu", row, i / 40);
        }
        arena_done(&both[0]);
    }
}
