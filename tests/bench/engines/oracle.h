/* SPDX-License-Identifier: Apache-2.0 */
/* oracle: what a search must find, worked out from the corpus itself.
 *
 * Every chunk is analysed and scored by the formula of bm25.h with the statistics of the chunks
 * that the caller may see; no index, segment or store is read. Slow (a chunk takes tens of
 * microseconds) and plain. */
#ifndef TESTS_BENCH_ENGINES_ORACLE_H
#define TESTS_BENCH_ENGINES_ORACLE_H

#include "tests/bench/engines/corpus.h"

enum { ORACLE_HITS = 10, ORACLE_QUESTIONS_MAX = 64 };

struct oracle_hit {
    uint32_t number; /* of the chunk */
    uint32_t partition;
    uint64_t score;
};

struct oracle_answer {
    size_t n;
    struct oracle_hit hits[ORACLE_HITS];
};

struct oracle; /* opaque */

/* Reads the corpus once for all questions (at most ORACLE_QUESTIONS_MAX). */
struct oracle *oracle_new(uint32_t n_chunks, uint32_t n_partitions, const char *const *questions,
                          size_t n);
void oracle_free(struct oracle *o);

void oracle_ask(const struct oracle *o, enum corpus_scope scope, size_t question,
                struct oracle_answer *ret_answer);

/* (term, chunk) pairs of the corpus: what an index has to hold. */
uint64_t oracle_postings(const struct oracle *o);

#endif
