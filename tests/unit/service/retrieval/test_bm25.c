/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/bm25.h"

#include "service/retrieval/text.h"

#include <criterion/criterion.h>

static struct bm25 model(uint32_t k1_milli, uint32_t b_milli, uint64_t n, uint64_t total_length)
{
    struct answer_profile p;
    struct bm25 m;
    const struct bm25_statistics statistics = {n, total_length};
    answer_profile_init(&p);
    p.bm25_k1_milli = k1_milli;
    p.bm25_b_milli = b_milli;
    bm25_init(&m, &p, &statistics);
    return m;
}

Test(bm25, log2_of_powers_of_two_is_exact)
{
    for (unsigned i = 0; i < 64; i++) {
        cr_assert_eq(bm25_log2((uint64_t)1 << i), (uint64_t)i << 32, "2^%u", i);
    }
}

/* floor(log2(x) * 2^32), computed with 60 decimal digits. */
Test(bm25, log2_of_known_numbers)
{
    static const struct {
        uint64_t x, log2;
    } cases[] = {
        {3, 6807362105u},
        {5, 9972605231u},
        {7, 12057497578u},
        {10, 14267572527u},
        {199999, 75632798950u},
        {2000002, 89900408655u},
        {((uint64_t)1 << 35) + 1, 150323855360u},
        {((uint64_t)1 << 63) + 12345, 270582939648u},
        {UINT64_MAX, 274877906943u},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint64_t found = bm25_log2(cases[i].x);
        cr_assert(found <= cases[i].log2 && cases[i].log2 - found <= 1, "log2(%lu) = %lu",
                  (unsigned long)cases[i].x, (unsigned long)found);
    }
}

/* log2(ab) = log2(a) + log2(b); with exact powers of two and a monotone course nothing else than
 * the logarithm does that. */
Test(bm25, log2_turns_products_into_sums)
{
    for (uint64_t a = 1; a < 3000; a += 7) {
        for (uint64_t b = 1; b < 3000; b += 11) {
            uint64_t sum = bm25_log2(a) + bm25_log2(b);
            uint64_t product = bm25_log2(a * b);
            cr_assert(product + 1 >= sum && product <= sum + 2, "%lu * %lu", (unsigned long)a,
                      (unsigned long)b);
        }
    }
}

Test(bm25, log2_never_falls)
{
    for (uint64_t x = 2; x < 300000; x++) {
        cr_assert_gt(bm25_log2(x), bm25_log2(x - 1), "x = %lu", (unsigned long)x);
    }
}

/* N = 1: idf = log2(4 / 3) = 0.4150374992788438…, * 2^20 = 435198.36…; * 2.2 = 957435.6 */
Test(bm25, weight_by_hand)
{
    struct bm25 m = model(1200, 750, 1, 10);
    cr_assert_eq(bm25_weight(&m, 1), 957435);
    /* N = 7, df = 1: log2(16 / 3) = 2.4150374992788438 * 2^20 = 2532350.36; * 2.2 = 5571170 */
    m = model(1200, 750, 7, 70);
    cr_assert_eq(bm25_weight(&m, 1), 5571170);
}

/* k1 = 1.2, b = 0.75, length twice the average: 1.2 * (0.25 + 1.5) = 2.1, * 2^16 = 137625.6; the
 * parts 0.3 * 2^16 and 1.8 * 2^16 are each rounded down. */
Test(bm25, norm_by_hand)
{
    struct bm25 m = model(1200, 750, 10, 1000);
    cr_assert_eq(bm25_norm(&m, 200), 19660 + 117964);
    cr_assert_eq(bm25_norm(&m, 0), 19660);
    m = model(0, 750, 10, 1000);
    cr_assert_eq(bm25_norm(&m, 200), 0);
    m = model(1200, 0, 10, 1000);
    cr_assert_eq(bm25_norm(&m, 5), bm25_norm(&m, 500000));
}

Test(bm25, contribution_by_hand)
{
    /* 1000 * 2 / (2 + 0.5) = 800 */
    cr_assert_eq(bm25_contribution(1000, 1 << 15, 2), 800);
    cr_assert_eq(bm25_contribution(1000, 0, 1), 1000);
    /* rounded down to nothing: still a match */
    cr_assert_eq(bm25_contribution(1, (uint64_t)1 << 40, 1), 1);
}

Test(bm25, rarer_and_more_frequent_terms_score_higher)
{
    struct bm25 m = model(1200, 750, 1000, 50000);
    for (uint64_t df = 2; df <= 1000; df++) {
        cr_assert_lt(bm25_weight(&m, df), bm25_weight(&m, df - 1));
    }
    uint64_t weight = bm25_weight(&m, 10);
    for (uint32_t tf = 2; tf < 50; tf++) {
        cr_assert_gt(bm25_contribution(weight, bm25_norm(&m, 50), tf),
                     bm25_contribution(weight, bm25_norm(&m, 50), tf - 1));
    }
    cr_assert_lt(bm25_contribution(weight, bm25_norm(&m, 51), 3),
                 bm25_contribution(weight, bm25_norm(&m, 50), 3));
}

/* The largest weight meets the largest tf; then the longest chunk the shortest average. The
 * products are checked in 128 bits against the bounds that the header promises. */
Test(bm25, nothing_overflows_at_the_bounds)
{
    const uint64_t n = (uint64_t)1 << 35;
    const uint32_t tf = 65535, length = (1 << 20) - 1;
    struct bm25 m = model(10000, 1000, n, n);
    uint64_t weight = bm25_query_weight(&m, 1, TEXT_WEIGHT_MAX);
    __extension__ typedef unsigned __int128 wide;
    cr_assert((wide)weight * ((uint64_t)tf << 16) < (wide)1 << 63);
    cr_assert((wide)m.norm_by_length * length < (wide)1 << 61);
    cr_assert((wide)n * length * 256 < (wide)1 << 63);
    cr_assert_leq(bm25_contribution(weight, 0, tf), weight);
    cr_assert_lt((wide)weight * 256, (wide)1 << 40);
    cr_assert_geq(bm25_contribution(weight, bm25_norm(&m, length), 1), 1);
    /* a term that every chunk holds still counts */
    cr_assert_geq(bm25_weight(&m, n), 1);
}

Test(bm25, a_term_weighs_by_its_weight_in_the_query)
{
    struct bm25 m = model(1200, 750, 1000, 50000);
    uint64_t one = bm25_weight(&m, 10);
    cr_assert_eq(bm25_query_weight(&m, 10, TEXT_WEIGHT_ONE), one);
    cr_assert_eq(bm25_query_weight(&m, 10, TEXT_WEIGHT_MAX), 4 * one);
    cr_assert_eq(bm25_query_weight(&m, 10, 11), one * 11 / 16);
    cr_assert_geq(bm25_query_weight(&m, 1000, 1), 1);
}

Test(bm25, empty_statistics_are_harmless)
{
    struct bm25 m = model(1200, 750, 0, 0);
    cr_assert_geq(bm25_norm(&m, 1), 1);
    m = model(1200, 750, 5, 0);
    cr_assert_geq(bm25_weight(&m, 5), 1);
}

Test(bm25, remembered_norms_are_the_norms)
{
    static struct bm25_norms known;
    struct bm25 m = model(1200, 750, 10, 1000);
    known.model = &m;
    for (int again = 0; again < 2; again++) {
        for (uint32_t length = 0; length < 2 * BM25_NORMS; length++) {
            cr_assert_eq(bm25_norms_get(&known, length), bm25_norm(&m, length), "%u", length);
        }
    }
}
