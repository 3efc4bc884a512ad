/* SPDX-License-Identifier: Apache-2.0 */
/* candidates: the scored chunks that may still be among the best, and the score below which no
 * chunk is. */
#ifndef RETRIEVAL_CANDIDATES_H
#define RETRIEVAL_CANDIDATES_H

#include "service/retrieval/lexical.h"
#include "service/retrieval/top_texts.h"

struct candidate {
    uint64_t score, text_hash;
    uint32_t segment, chunk;
    size_t mask; /* number of its mask */
};

struct candidates {
    struct candidate *items;
    uint64_t *masks; /* mask_words each: which terms the chunk holds */
    size_t n, cap, mask_words;
    struct top_texts best;
};

void candidates_init(struct candidates *c, const struct lexical_query *q);
void candidates_done(struct candidates *c);

/* What scores less is no candidate. Never falls. */
static inline uint64_t candidates_threshold(const struct candidates *c)
{
    return c->best.threshold;
}

/* The candidate's own mask number is not looked at. */
void candidates_add(struct candidates *c, struct candidate candidate, const uint64_t *mask);

/* Forgets those that score less. */
void candidates_cut(struct candidates *c, uint64_t score);

static inline const uint64_t *candidates_mask(const struct candidates *c,
                                              const struct candidate *candidate)
{
    return c->masks + candidate->mask * c->mask_words;
}

#endif
