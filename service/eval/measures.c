/* SPDX-License-Identifier: Apache-2.0 */
/* The ideal order is that of all judged documents, found or not, cut at the same depth; MAP divides
 * by all relevant documents too, so that what was not found costs. */
#include "service/eval/measures.h"

#include "service/base/mem.h"

#include <math.h>
#include <stdlib.h>

enum { NDCG_DEPTH = 10 };

const char *measure_name(enum measure m)
{
    static const char *const NAMES[] = {
#define X(name, title) #name,
        MEASURE_TABLE(X)
#undef X
    };
    return NAMES[m];
}

const char *measure_title(enum measure m)
{
    static const char *const TITLES[] = {
#define X(name, title) title,
        MEASURE_TABLE(X)
#undef X
    };
    return TITLES[m];
}

static double dcg(const int32_t *grades, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n && i < NDCG_DEPTH; i++) {
        if (grades[i] > 0) {
            sum += grades[i] / log2((double)i + 2);
        }
    }
    return sum;
}

static int falling(const void *left, const void *right)
{
    int32_t a = *(const int32_t *)left, b = *(const int32_t *)right;
    return a > b ? -1 : a < b;
}

static double ideal_dcg(const int32_t *judged, size_t n)
{
    int32_t *sorted = mem_array(n, sizeof(*sorted));
    for (size_t i = 0; i < n; i++) {
        sorted[i] = judged[i];
    }
    qsort(sorted, n, sizeof(*sorted), falling);
    double ideal = dcg(sorted, n);
    free(sorted);
    return ideal;
}

static size_t count_relevant(const int32_t *grades, size_t n)
{
    size_t count = 0;
    for (size_t i = 0; i < n; i++) {
        count += grades[i] > 0;
    }
    return count;
}

static double recall(const int32_t *ranked, size_t n, size_t depth, size_t n_relevant)
{
    return (double)count_relevant(ranked, n < depth ? n : depth) / (double)n_relevant;
}

/* The reciprocal rank of the first relevant document, and the average precision. */
static void walk(const int32_t *ranked, size_t n, size_t n_relevant, struct measures *m)
{
    size_t found = 0;
    double precisions = 0;
    for (size_t i = 0; i < n; i++) {
        if (ranked[i] <= 0) {
            continue;
        }
        if (found++ == 0) {
            m->value[MEASURE_recip_rank] = 1.0 / (double)(i + 1);
        }
        precisions += (double)found / (double)(i + 1);
    }
    m->value[MEASURE_map] = precisions / (double)n_relevant;
}

void measure_query(const int32_t *ranked, size_t n_ranked, const int32_t *judged, size_t n_judged,
                   struct measures *ret_measures)
{
    size_t n_relevant = count_relevant(judged, n_judged);
    *ret_measures = (struct measures){{0}};
    if (n_relevant == 0) {
        return;
    }
    double *value = ret_measures->value;
    value[MEASURE_ndcg_cut_10] = dcg(ranked, n_ranked) / ideal_dcg(judged, n_judged);
    value[MEASURE_recall_1] = recall(ranked, n_ranked, 1, n_relevant);
    value[MEASURE_recall_3] = recall(ranked, n_ranked, 3, n_relevant);
    value[MEASURE_recall_5] = recall(ranked, n_ranked, 5, n_relevant);
    value[MEASURE_recall_10] = recall(ranked, n_ranked, 10, n_relevant);
    value[MEASURE_recall_100] = recall(ranked, n_ranked, 100, n_relevant);
    walk(ranked, n_ranked, n_relevant, ret_measures);
}
