/* SPDX-License-Identifier: Apache-2.0 */
/* engine_kbgate: a store opened for the benchmark, with the filters of its two callers.
 *
 * Thread: one. */
#ifndef TESTS_BENCH_ENGINES_ENGINE_KBGATE_H
#define TESTS_BENCH_ENGINES_ENGINE_KBGATE_H

#include "service/retrieval/embedded.h"
#include "tests/bench/engines/corpus.h"

struct kbgate {
    struct backend *backend;
    struct answer_profile profile;
    struct filter *filters[N_SCOPES];
    struct dynbuf canonical, answer;
};

struct kbgate *kbgate_open(const char *store, uint32_t n_partitions, struct worker_pool *pool);
void kbgate_close(struct kbgate *k);

/* Its text is valid until the next call. */
struct search_query kbgate_query(struct kbgate *k, const char *question);

/* Searches in this thread; release both. */
struct view *kbgate_search(struct kbgate *k, int scope, const char *question,
                           struct hits **ret_hits);

#endif
