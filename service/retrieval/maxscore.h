/* SPDX-License-Identifier: Apache-2.0 */
/* maxscore: adds a segment's best chunks to the candidates and passes over what cannot become one.
 *
 * Blocking: yes. Failure: as lexical_search. */
#ifndef RETRIEVAL_MAXSCORE_H
#define RETRIEVAL_MAXSCORE_H

#include "service/retrieval/bm25.h"
#include "service/retrieval/candidates.h"

struct maxscore; /* room for one segment after the other */

/* weights: of each term, as bm25_query_weight; both are borrowed until maxscore_free. */
struct maxscore *maxscore_new(const struct lexical_query *q, const struct bm25 *model,
                              const uint64_t *weights);
void maxscore_free(struct maxscore *m);

/* A term's postings in a segment. */
struct term_postings {
    uint32_t df; /* 0: no chunk holds it */
    struct slice bytes;
};

/* postings: of each term, in segment number `segment` of the query. */
enum err maxscore_segment(struct maxscore *m, uint32_t segment,
                          const struct term_postings *postings, struct candidates *found);

#endif
