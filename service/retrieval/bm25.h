/* SPDX-License-Identifier: Apache-2.0 */
/* bm25: BM25 in integers, so that a score is the same on every CPU and the order of additions does
 * not matter.
 *
 *   idf          = log2((2N + 2) / (2 df + 1))                    in 2^-20, at least 1
 *   weight       = idf * (k1 + 1)
 *                  times the term's weight in the query / TEXT_WEIGHT_ONE
 *   norm         = k1 * (1 - b + b * length / average length)     in 2^-16
 *   contribution = weight * tf / (tf + norm)                      in 2^-20, at least 1
 * Every division rounds down. With N <= 2^35 chunks, tf <= 65,535, length < 2^20 and k1 <= 10 no
 * product reaches 2^63, and the sum over 256 terms stays below 2^40. Pure. */
#ifndef RETRIEVAL_BM25_H
#define RETRIEVAL_BM25_H

#include "service/retrieval/profile.h"

enum { LEXICAL_SCORING_VERSION = 2 };

/* log2(x) in 2^-32, rounded down to within one unit; x >= 1. */
uint64_t bm25_log2(uint64_t x);

/* Of exactly the chunks that are searched. */
struct bm25_statistics {
    uint64_t n_chunks, total_length;
};

struct bm25 {
    uint64_t n_chunks;
    uint64_t average_length;  /* in 2^-8, at least 1 */
    uint64_t k1_plus_1_milli; /* (k1 + 1) * 1000 */
    uint64_t norm_fixed;      /* k1 * (1 - b), in 2^-16 */
    uint64_t norm_by_length;  /* k1 * b, in 2^-24 */
};

void bm25_init(struct bm25 *m, const struct answer_profile *profile,
               const struct bm25_statistics *statistics);

/* Of a term that occurs once in the query. 1 <= df <= N */
uint64_t bm25_weight(const struct bm25 *m, uint64_t df);

/* Of a term of that weight in the query, as text_query_terms gives it. At least 1. */
uint64_t bm25_query_weight(const struct bm25 *m, uint64_t df, uint32_t query_weight);

uint64_t bm25_norm(const struct bm25 *m, uint32_t length);

/* Norms cost two divisions each, and most chunks have one of a few hundred lengths. */
enum { BM25_NORMS = 2048 };

struct bm25_norms {
    const struct bm25 *model;
    uint64_t plus_1[BM25_NORMS]; /* by length; 0: not asked for yet */
};

/* As bm25_norm. */
static inline uint64_t bm25_norms_get(struct bm25_norms *known, uint32_t length)
{
    if (length >= BM25_NORMS) {
        return bm25_norm(known->model, length);
    }
    if (known->plus_1[length] == 0) {
        known->plus_1[length] = bm25_norm(known->model, length) + 1;
    }
    return known->plus_1[length] - 1;
}

static inline uint64_t bm25_contribution(uint64_t weight, uint64_t norm, uint32_t tf)
{
    uint64_t scaled = (uint64_t)tf << 16;
    uint64_t part = weight * scaled / (scaled + norm);
    return part ? part : 1; /* whatever matches scores */
}

#endif
