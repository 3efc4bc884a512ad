/* SPDX-License-Identifier: Apache-2.0 */
/* lexical: the word leg: BM25 over the segments it is given, with statistics of exactly those.
 *
 * Pruned: what cannot be among the best is passed over, and the outcome is as if everything had
 * been scored. Blocking: yes. Failure: ERR_OK, ERR_INTERNAL (damaged postings), ERR_DEADLINE
 * (cancelled; nobody waits). */
#ifndef RETRIEVAL_LEXICAL_H
#define RETRIEVAL_LEXICAL_H

#include "service/retrieval/backend.h"
#include "service/retrieval/segment_reader.h"

#include <stdatomic.h>

struct lexical_query {
    struct segment_reader *const *segments;
    size_t n_segments;
    unsigned slot;                /* of each segment, this thread's */
    const struct slice *terms;    /* distinct, at most TEXT_QUERY_MAX_TERMS */
    const uint32_t *term_weights; /* of each term, as text_query_terms gives them */
    size_t n_terms;
    int32_t published_from, published_to; /* as in struct search_query */
    const struct answer_profile *profile;
    atomic_bool *cancelled; /* looked at now and then; may be NULL */
};

/* The profile's candidate_depth best distinct texts, by score and then chunk id. Candidates are all
 * chunks that score no less than the last text kept; those with a kept text are its `also`, the
 * first also_in_max by chunk id. The query's terms are copied into the hits. *ret_hits is set on
 * ERR_OK only. */
enum err lexical_search(const struct lexical_query *q, struct hits **ret_hits);

static inline bool lexical_is_cancelled(const struct lexical_query *q)
{
    return q->cancelled && atomic_load_explicit(q->cancelled, memory_order_relaxed);
}

#endif
