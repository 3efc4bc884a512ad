/* SPDX-License-Identifier: Apache-2.0 */
/* Fusion against the fractions it stands for. */
#include "service/retrieval/shape.h"

#include <criterion/criterion.h>
#include <stdio.h>

enum { HITS_MAX = 200 };

/* A leg of hits named by their numbers. */
struct list {
    struct hits hits;
    struct hit items[HITS_MAX];
    char names[HITS_MAX][16];
};

static void add_name(struct list *l, unsigned number)
{
    size_t i = l->hits.n++;
    snprintf(l->names[i], sizeof(l->names[i]), "c/d/%03u", number);
    l->items[i].chunk_id = slice_of(l->names[i]);
    l->hits.items = l->items;
}

static const struct ranked *fuse(const struct list *a, uint32_t weight_a, const struct list *b,
                                 uint32_t weight_b, struct arena *arena, size_t *ret_n)
{
    struct answer_profile profile = {.rrf_k = 60};
    const struct leg legs[] = {{&a->hits, weight_a}, {b ? &b->hits : NULL, weight_b}};
    return fuse_legs(legs, b ? 2 : 1, &profile, arena, ret_n);
}

Test(fuse, one_leg_keeps_its_order_and_scores_by_rank)
{
    static struct list leg;
    struct arena arena = {0};
    size_t n;
    for (unsigned i = 0; i < HITS_MAX; i++) {
        add_name(&leg, 999 - i);
    }
    const struct ranked *ranked = fuse(&leg, 3, NULL, 0, &arena, &n);
    cr_assert_eq(n, HITS_MAX);
    for (uint32_t rank = 1; rank <= HITS_MAX; rank++) {
        uint32_t nearest = (61U * 2000000U + 60 + rank) / (2 * (60 + rank));
        cr_assert_eq(ranked[rank - 1].hit, &leg.items[rank - 1]);
        cr_assert_eq(ranked[rank - 1].score_millionths, nearest, "rank %u", rank);
    }
    cr_assert_eq(ranked[0].score_millionths, 1000000);
    cr_assert_eq(ranked[2].score_millionths, 968254);
    arena_done(&arena);
}

static void expect_order(const struct ranked *ranked, size_t n, const char *expected)
{
    char order[256] = "";
    for (size_t i = 0; i < n; i++) {
        size_t at = strlen(order);
        snprintf(order + at, sizeof(order) - at, "%s%.*s=%u", i ? " " : "",
                 (int)ranked[i].hit->chunk_id.n - 4, ranked[i].hit->chunk_id.p + 4,
                 ranked[i].score_millionths);
    }
    cr_assert_str_eq(order, expected);
}

Test(fuse, two_legs_add_up_and_count_each_candidate_once)
{
    static struct list a, b;
    struct arena arena = {0};
    size_t n;
    add_name(&a, 1);
    add_name(&a, 2);
    add_name(&b, 2);
    add_name(&b, 3);
    const struct ranked *ranked = fuse(&a, 1, &b, 1, &arena, &n);
    /* 2: (1/62 + 1/61) / (2/61); 1: half; 3: 61/124 */
    expect_order(ranked, n, "002=991935 001=500000 003=491935");
    arena_done(&arena);
}

Test(fuse, weights_count)
{
    static struct list a, b;
    struct arena arena = {0};
    size_t n;
    add_name(&a, 1);
    add_name(&b, 2);
    const struct ranked *ranked = fuse(&a, 1, &b, 3, &arena, &n);
    expect_order(ranked, n, "002=750000 001=250000");
    ranked = fuse(&a, 3, &b, 1, &arena, &n);
    expect_order(ranked, n, "001=750000 002=250000");
    arena_done(&arena);
}

Test(fuse, ties_go_to_the_best_rank_then_to_the_chunk_id)
{
    static struct list a, b;
    struct arena arena = {0};
    size_t n;
    add_name(&a, 9);
    add_name(&a, 5);
    add_name(&b, 4);
    add_name(&b, 7);
    const struct ranked *ranked = fuse(&a, 1, &b, 1, &arena, &n);
    expect_order(ranked, n, "004=500000 009=500000 005=491935 007=491935");
    ranked = fuse(&b, 1, &a, 1, &arena, &n);
    expect_order(ranked, n, "004=500000 009=500000 005=491935 007=491935");
    arena_done(&arena);
}

Test(fuse, nothing_gives_nothing)
{
    static struct list none;
    struct arena arena = {0};
    size_t n = 7;
    cr_assert_not_null(fuse(&none, 1, NULL, 0, &arena, &n));
    cr_assert_eq(n, 0);
    arena_done(&arena);
}

Test(fuse, the_largest_weights_do_not_overflow)
{
    static struct list lists[8];
    struct answer_profile profile = {.rrf_k = 1};
    struct leg legs[8];
    struct arena arena = {0};
    size_t n;
    for (size_t i = 0; i < 8; i++) {
        add_name(&lists[i], 1);
        add_name(&lists[i], (unsigned)i + 2);
        legs[i] = (struct leg){&lists[i].hits, 100};
    }
    const struct ranked *ranked = fuse_legs(legs, 8, &profile, &arena, &n);
    cr_assert_eq(n, 9);
    cr_assert_eq(ranked[0].score_millionths, 1000000);
    cr_assert_eq(ranked[1].score_millionths, 83333); /* 1/3 of 1/8 of 2 */
    arena_done(&arena);
}
