/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/top_texts.h"

#include "corpus.h"

enum { MAX_HASHES = 3000 };

/* The depth-th best of the best score of each hash, found by sorting. */
static uint64_t expected_threshold(const uint64_t *best, uint32_t depth)
{
    uint64_t sorted[MAX_HASHES];
    size_t n = 0;
    for (size_t i = 0; i < MAX_HASHES; i++) {
        size_t at = n;
        if (best[i] == 0) {
            continue;
        }
        for (n++; at > 0 && sorted[at - 1] < best[i]; at--) {
            sorted[at] = sorted[at - 1];
        }
        sorted[at] = best[i];
    }
    return n >= depth ? sorted[depth - 1] : 0;
}

/* Hashes that begin in a few slots, too, so that they get into each other's way. */
Test(top_texts, threshold_is_that_of_sorting)
{
    static const uint32_t depths[] = {1, 2, 3, 20, 50, 1000};
    for (uint64_t seed = 1; seed <= 36; seed++) {
        static uint64_t best[MAX_HASHES];
        struct random r = {seed * 101};
        struct top_texts t;
        uint64_t last = 0, step = seed % 2 ? 1 : 4096;
        memset(best, 0, sizeof(best));
        top_texts_init(&t, depths[seed % 6]);
        for (int i = 0; i < 4000; i++) {
            uint32_t at = random_below(&r, 1 + random_below(&r, MAX_HASHES));
            uint64_t score = 1 + random_below(&r, seed % 3 ? 100000 : 5);
            best[at] = score > best[at] ? score : best[at];
            top_texts_add(&t, at * step, score);
            cr_assert_geq(t.threshold, last, "it never falls");
            last = t.threshold;
            if (i % 100 == 99) {
                cr_assert_eq(t.threshold, expected_threshold(best, t.depth), "seed %lu, %d",
                             (unsigned long)seed, i);
            }
        }
        top_texts_done(&t);
    }
}

Test(top_texts, one_text_counts_once)
{
    struct top_texts t;
    top_texts_init(&t, 2);
    for (int i = 0; i < 10000; i++) {
        top_texts_add(&t, 7, (uint64_t)i + 1);
        cr_assert_eq(t.threshold, 0);
    }
    top_texts_add(&t, 8, 5);
    cr_assert_eq(t.threshold, 5);
    top_texts_add(&t, 9, 5);
    cr_assert_eq(t.threshold, 5);
    top_texts_add(&t, 9, 6);
    cr_assert_eq(t.threshold, 6);
    top_texts_done(&t);
}
