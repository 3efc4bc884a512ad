/* SPDX-License-Identifier: Apache-2.0 */
/* draw: pseudo-random numbers that are the same on every machine (splitmix64). Pure. */
#ifndef TESTS_BENCH_ENGINES_DRAW_H
#define TESTS_BENCH_ENGINES_DRAW_H

#include "tests/splitmix.h"

struct draw {
    uint64_t state;
};

static inline uint64_t draw_next(struct draw *d)
{
    return splitmix(&d->state);
}

/* 0 .. n-1 */
static inline uint32_t draw_below(struct draw *d, uint32_t n)
{
    return (uint32_t)((draw_next(d) >> 32) * n >> 32);
}

/* A generator of its own for the n-th thing of a kind. */
static inline struct draw draw_of(uint64_t seed, uint64_t kind, uint64_t n)
{
    struct draw d = {seed ^ kind << 56 ^ n * 0xD1342543DE82EF95u};
    d.state = draw_next(&d);
    return d;
}

#endif
