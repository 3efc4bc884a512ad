/* SPDX-License-Identifier: Apache-2.0 */
/* draw: chance from a seed. A case draws all of its own from one seed, so it can be run alone. */
#ifndef TESTS_WHOLE_DRAW_H
#define TESTS_WHOLE_DRAW_H

#include "tests/splitmix.h"

#include <stdbool.h>
#include <stddef.h>

struct draw {
    uint64_t state;
};

static inline uint64_t draw_bits(struct draw *d)
{
    return splitmix(&d->state);
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
