/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/evaluation.h"

#include "service/base/mem.h"

#include <stdlib.h>

void ranking_add(struct ranking *r, struct slice doc)
{
    if (id_map_find(&r->docs, doc) == ID_NONE) {
        (void)id_map_add(&r->docs, arena_copy(&r->arena, doc), NULL);
    }
}

void ranking_done(struct ranking *r)
{
    id_map_done(&r->docs);
    arena_done(&r->arena);
    *r = (struct ranking){0};
}

void evaluation_init(struct evaluation *e, const struct qrels *qrels)
{
    *e = (struct evaluation){.qrels = qrels, .n = qrels->queries.n};
    e->results = mem_array(e->n, sizeof(*e->results));
    for (uint32_t q = 0; q < e->n; q++) {
        size_t n;
        const struct judgement *judged = qrels_of(qrels, q, &n);
        for (size_t i = 0; i < n; i++) {
            e->results[q].n_rel += judged[i].grade > 0;
        }
    }
}

void evaluation_done(struct evaluation *e)
{
    free(e->results);
    *e = (struct evaluation){0};
}

static int by_doc(const void *left, const void *right)
{
    const struct judgement *a = left, *b = right;
    return a->doc < b->doc ? -1 : a->doc > b->doc;
}

/* The grade of a document for the query whose judgements these are. */
static int32_t grade_of(const struct qrels *qrels, const struct judgement *judged, size_t n,
                        struct slice doc)
{
    const struct judgement key = {.doc = id_map_find(&qrels->docs, doc)};
    const struct judgement *found =
        key.doc == ID_NONE ? NULL : bsearch(&key, judged, n, sizeof(key), by_doc);
    return found ? found->grade : 0;
}

const struct query_result *evaluation_take(struct evaluation *e, struct slice query,
                                           const struct ranking *ranking)
{
    uint32_t q = id_map_find(&e->qrels->queries, query);
    if (q == ID_NONE) {
        return NULL;
    }
    size_t n_judged;
    const struct judgement *judged = qrels_of(e->qrels, q, &n_judged);
    struct query_result *result = &e->results[q];
    int32_t *ranked = mem_array((size_t)ranking->docs.n + n_judged, sizeof(*ranked));
    int32_t *grades = ranked + ranking->docs.n;
    for (uint32_t i = 0; i < ranking->docs.n; i++) {
        ranked[i] = grade_of(e->qrels, judged, n_judged, ranking->docs.ids[i]);
        result->n_rel_ret += ranked[i] > 0;
    }
    for (size_t i = 0; i < n_judged; i++) {
        grades[i] = judged[i].grade;
    }
    measure_query(ranked, ranking->docs.n, grades, n_judged, &result->measures);
    result->n_ret = ranking->docs.n;
    result->asked = true;
    free(ranked);
    return result;
}

void evaluation_finish(struct evaluation *e)
{
    for (size_t m = 0; m < N_MEASURES; m++) {
        double sum = 0;
        for (size_t q = 0; q < e->n; q++) {
            sum += e->results[q].measures.value[m];
        }
        e->mean.value[m] = sum / (double)e->n;
    }
    bootstrap(e->results, e->n, e->intervals);
}
