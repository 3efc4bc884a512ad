/* SPDX-License-Identifier: Apache-2.0 */
/* qrels: relevance judgements in TREC's form: query id, 0, document id, grade.
 *
 * Columns are parted by tabs where a line has one, by spaces otherwise. A grade above 0 is
 * relevant, and the gain; any other is not. Ids are borrowed from the bytes that were read. */
#ifndef EVAL_QRELS_H
#define EVAL_QRELS_H

#include "service/base/err.h"
#include "service/eval/id_map.h"

enum { QRELS_MAX = 5000000, GRADE_MAX = 1000, EXCLUDE_MAX = 1000000 };

struct judgement {
    uint32_t query; /* number in queries */
    uint32_t doc;   /* number in docs */
    int32_t grade;
    uint64_t line;
};

struct qrels {
    struct id_map queries, docs;
    struct judgement *items; /* by query; within one in the order of the file */
    size_t n, cap;
    size_t *first; /* of each query's judgements; one more than there are queries */
};

/* Calls on_line for each line that is not blank. judgement.query and .doc are 0. A broken line has
 * a reason. */
void qrels_each(struct slice bytes,
                void (*on_line)(void *arg, uint64_t line, struct slice query, struct slice doc,
                                int32_t grade, const char *reason),
                void *arg);

/* Every line has to be right and every pair its own. False with file, line and reason. */
bool qrels_read(const char *path, struct slice bytes, struct qrels *ret_qrels,
                struct err_detail *detail);
void qrels_done(struct qrels *q);

/* The judgements of one query. */
static inline const struct judgement *qrels_of(const struct qrels *q, uint32_t query, size_t *ret_n)
{
    *ret_n = q->first[query + 1] - q->first[query];
    return q->items + q->first[query];
}

/* Pairs of query and document id, to be left out of a ranking: two columns, as above. */
struct exclusions {
    struct id_map queries, docs;
    struct exclusion {
        uint32_t query, doc;
    } * items;
    size_t n, cap;
};
bool exclusions_read(const char *path, struct slice bytes, struct exclusions *ret_exclusions,
                     struct err_detail *detail);
bool exclusions_has(const struct exclusions *x, struct slice query, struct slice doc);
void exclusions_done(struct exclusions *x);

#endif
