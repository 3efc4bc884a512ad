/* SPDX-License-Identifier: Apache-2.0 */
/* Reciprocal rank fusion (Cormack, Clarke, Büttcher 2009) in 64-bit integers: ranks are all that
 * legs with unlike scores have in common, and integers add up the same on every machine. */
#include "service/retrieval/shape.h"

#include <stdlib.h>

enum { MILLION = 1000000 };

/* Fine enough that rounding to millionths never feels it, and a million times the sum of eight legs
 * of weight 100 at k = 1 still fits 64 bits. */
static const uint64_t SCALE = 10000000000;

struct candidate {
    const struct hit *hit;
    uint64_t fused;
    size_t best_rank;
};

static uint64_t share(const struct leg *leg, const struct answer_profile *profile, size_t rank)
{
    return leg->weight * SCALE / (profile->rrf_k + rank);
}

static void add_hit(struct candidate *all, size_t *n, const struct hit *hit, size_t rank,
                    uint64_t fused)
{
    size_t at = 0;
    while (at < *n && !slice_eq(all[at].hit->chunk_id, hit->chunk_id)) {
        at++;
    }
    if (at == *n) {
        all[(*n)++] = (struct candidate){hit, 0, rank};
    }
    all[at].fused += fused;
    if (rank < all[at].best_rank) {
        all[at].best_rank = rank;
    }
}

static int compare(const void *left, const void *right)
{
    const struct candidate *a = left, *b = right;
    if (a->fused != b->fused) {
        return a->fused > b->fused ? -1 : 1;
    }
    if (a->best_rank != b->best_rank) {
        return a->best_rank < b->best_rank ? -1 : 1;
    }
    return slice_cmp(a->hit->chunk_id, b->hit->chunk_id);
}

static uint32_t millionths(uint64_t fused, uint64_t highest)
{
    uint64_t score = (fused * MILLION + highest / 2) / highest;
    return score ? (uint32_t)score : 1;
}

const struct ranked *fuse_legs(const struct leg *legs, size_t n_legs,
                               const struct answer_profile *profile, struct arena *arena,
                               size_t *ret_n)
{
    size_t most = 0, n = 0;
    uint64_t highest = 0;
    for (size_t i = 0; i < n_legs; i++) {
        most += legs[i].hits->n;
        highest += share(&legs[i], profile, 1);
    }
    struct candidate *all = arena_alloc(arena, (most + 1) * sizeof(*all));
    for (size_t i = 0; i < n_legs; i++) {
        for (size_t k = 0; k < legs[i].hits->n; k++) {
            add_hit(all, &n, &legs[i].hits->items[k], k + 1, share(&legs[i], profile, k + 1));
        }
    }
    qsort(all, n, sizeof(*all), compare);
    struct ranked *ranked = arena_alloc(arena, (n + 1) * sizeof(*ranked));
    for (size_t i = 0; i < n; i++) {
        ranked[i] = (struct ranked){all[i].hit, millionths(all[i].fused, highest)};
    }
    *ret_n = n;
    return ranked;
}
