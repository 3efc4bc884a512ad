/* SPDX-License-Identifier: Apache-2.0 */
/* measures: retrieval measures of one query, as trec_eval defines them. Pure.
 *
 * A grade above 0 is relevant, and the gain of ndcg; a document without a judgement is not
 * relevant. */
#ifndef EVAL_MEASURES_H
#define EVAL_MEASURES_H

#include <stddef.h>
#include <stdint.h>

/* trec_eval's name, how a table heads it */
#define MEASURE_TABLE(X)                                                                           \
    X(ndcg_cut_10, "nDCG@10")                                                                      \
    X(recall_1, "Recall@1")                                                                        \
    X(recall_3, "Recall@3")                                                                        \
    X(recall_5, "Recall@5")                                                                        \
    X(recall_10, "Recall@10")                                                                      \
    X(recall_100, "Recall@100")                                                                    \
    X(recip_rank, "MRR")                                                                           \
    X(map, "MAP")

enum measure {
#define X(name, title) MEASURE_##name,
    MEASURE_TABLE(X)
#undef X
        N_MEASURES
};

struct measures {
    double value[N_MEASURES];
};

const char *measure_name(enum measure m);
const char *measure_title(enum measure m);

/* ranked: the grades of the documents of the answer, best first, 0 where a document is not judged.
 * judged: the grades of all judged documents of the query, in any order. All values are 0 where
 * none is relevant. */
void measure_query(const int32_t *ranked, size_t n_ranked, const int32_t *judged, size_t n_judged,
                   struct measures *ret_measures);

#endif
