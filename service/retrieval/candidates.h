/* SPDX-License-Identifier: Apache-2.0 */
/* candidates: from scored chunks to hits: order, equal texts, depth. Blocking: yes. */
#ifndef RETRIEVAL_CANDIDATES_H
#define RETRIEVAL_CANDIDATES_H

#include "service/retrieval/lexical.h"

struct candidate {
    uint64_t score;
    uint32_t segment, chunk;
};

struct candidates {
    struct candidate *items;
    size_t n, cap;
};

void candidates_add(struct candidates *c, struct candidate candidate);
void candidates_done(struct candidates *c);

/* As lexical_search. Uses the list up. */
enum err candidates_to_hits(const struct lexical_query *q, struct candidates *c,
                            struct hits **ret_hits);

#endif
