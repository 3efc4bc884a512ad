/* SPDX-License-Identifier: Apache-2.0 */
/* The C library's log differs between CPUs (with and without fused multiply-add), hence our own. */
#include "service/retrieval/bm25.h"

#include "service/retrieval/text.h"

__extension__ typedef unsigned __int128 u128;

enum { LOG_FRACTION_BITS = 32, IDF_FRACTION_BITS = 20 };

/* The integer part is the place of the highest bit. Then the mantissa in [1, 2) is squared over and
 * over: each time it passes 2, the next bit of the fraction is 1. */
uint64_t bm25_log2(uint64_t x)
{
    unsigned leading = (unsigned)__builtin_clzll(x);
    uint64_t result = 63 - leading;
    uint64_t mantissa = x << leading; /* 2^63 is 1 */
    for (int i = 0; i < LOG_FRACTION_BITS; i++) {
        u128 square = (u128)mantissa * mantissa >> 63;
        uint64_t bit = (uint64_t)(square >> 64);
        mantissa = (uint64_t)(square >> bit);
        result = result << 1 | bit;
    }
    return result;
}

void bm25_init(struct bm25 *m, const struct answer_profile *profile,
               const struct bm25_statistics *statistics)
{
    const uint64_t k1 = profile->bm25_k1_milli;
    const uint64_t b = profile->bm25_b_milli;
    uint64_t average =
        statistics->n_chunks ? statistics->total_length * 256 / statistics->n_chunks : 0;
    *m = (struct bm25){
        .n_chunks = statistics->n_chunks,
        .average_length = average ? average : 1,
        .k1_plus_1_milli = k1 + 1000,
        .norm_fixed = (k1 * (1000 - b) << 16) / 1000000,
        .norm_by_length = (k1 * b << 24) / 1000000,
    };
}

uint64_t bm25_weight(const struct bm25 *m, uint64_t df)
{
    uint64_t idf = bm25_log2(2 * m->n_chunks + 2) - bm25_log2(2 * df + 1);
    idf >>= LOG_FRACTION_BITS - IDF_FRACTION_BITS;
    return (idf ? idf : 1) * m->k1_plus_1_milli / 1000;
}

uint64_t bm25_query_weight(const struct bm25 *m, uint64_t df, uint32_t query_weight)
{
    uint64_t weight = bm25_weight(m, df) * query_weight / TEXT_WEIGHT_ONE;
    return weight ? weight : 1;
}

uint64_t bm25_norm(const struct bm25 *m, uint32_t length)
{
    return m->norm_fixed + m->norm_by_length * length / m->average_length;
}
