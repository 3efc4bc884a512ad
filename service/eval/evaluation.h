/* SPDX-License-Identifier: Apache-2.0 */
/* evaluation: rankings against judgements, averaged as `trec_eval -c` does.
 *
 * The average is over the queries of the judgements: one that was not asked, or found nothing,
 * counts 0, and so does one without a relevant document. A query that has no judgement counts
 * nowhere. */
#ifndef EVAL_EVALUATION_H
#define EVAL_EVALUATION_H

#include "service/base/arena.h"
#include "service/eval/measures.h"
#include "service/eval/qrels.h"

/* The documents of one answer, best first, each once: where a document comes several times (with
 * several of its passages) its first place counts. Ids are copied. A zeroed one is empty. */
struct ranking {
    struct arena arena;
    struct id_map docs;
};
void ranking_add(struct ranking *r, struct slice doc);
void ranking_done(struct ranking *r);

struct query_result {
    struct measures measures;
    uint32_t n_ret, n_rel, n_rel_ret; /* documents returned, relevant, both */
    bool asked;
};

struct interval {
    double low, high;
};

struct evaluation {
    const struct qrels *qrels;
    struct query_result *results; /* by number of the query in qrels */
    size_t n;
    struct measures mean;
    struct interval intervals[N_MEASURES];
};

void evaluation_init(struct evaluation *e, const struct qrels *qrels);
void evaluation_done(struct evaluation *e);

/* Takes one query's ranking; NULL where the query has no judgement. */
const struct query_result *evaluation_take(struct evaluation *e, struct slice query,
                                           const struct ranking *ranking);

/* Fills mean and intervals, once every ranking was taken. */
void evaluation_finish(struct evaluation *e);

enum { BOOTSTRAP_RESAMPLES = 1000 };

/* The 95 % percentile interval of each measure's mean, from resamples of the queries. The generator
 * is seeded with a constant: same results, same interval. n > 0. */
void bootstrap(const struct query_result *results, size_t n,
               struct interval ret_intervals[N_MEASURES]);

#endif
