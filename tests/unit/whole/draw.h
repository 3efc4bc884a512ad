/* SPDX-License-Identifier: Apache-2.0 */
/* draw: chance from a seed. A case draws all of its own from one seed, so it can be run alone. */
#ifndef TESTS_WHOLE_DRAW_H
#define TESTS_WHOLE_DRAW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct draw {
    uint64_t state;
};

/* splitmix64 (public domain, S. Vigna): good from any seed, also from neighbours. */
static inline uint64_t draw_bits(struct draw *d)
{
    uint64_t z = d->state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

/* 0 .. n-1 */
static inline uint32_t draw_below(struct draw *d, size_t n)
{
    return (uint32_t)((draw_bits(d) >> 33) % n);
}

static inline bool draw_one_in(struct draw *d, uint32_t n)
{
    return draw_below(d, n) == 0;
}

#endif
