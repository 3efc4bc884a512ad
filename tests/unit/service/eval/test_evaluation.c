/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/evaluation.h"

#include <criterion/criterion.h>
#include <math.h>

static void read_or_die(const char *text, struct qrels *ret_qrels)
{
    struct err_detail detail;
    cr_assert(qrels_read("qrels", slice_of(text), ret_qrels, &detail), "%s", detail.text);
}

/* Documents in order, parted by spaces. */
static const struct query_result *take(struct evaluation *e, const char *query, const char *docs)
{
    struct ranking ranking = {0};
    while (*docs) {
        size_t n = strcspn(docs, " ");
        ranking_add(&ranking, (struct slice){docs, n});
        docs += n + (docs[n] == ' ');
    }
    const struct query_result *result = evaluation_take(e, slice_of(query), &ranking);
    ranking_done(&ranking);
    return result;
}

Test(evaluation, averages_over_the_queries_of_the_judgements)
{
    struct qrels qrels;
    struct evaluation e;
    read_or_die("q1 0 a 1\nq2 0 b 1\nq3 0 c 0\nq4 0 d 1\n", &qrels);
    evaluation_init(&e, &qrels);
    cr_assert_eq(take(&e, "q1", "a x")->n_rel_ret, 1);
    cr_assert_eq(take(&e, "q2", "")->n_ret, 0);
    cr_assert_eq(take(&e, "q3", "c")->n_rel, 0);
    cr_assert_null(take(&e, "q9", "a b c"), "a query without judgement counts nowhere");
    evaluation_finish(&e); /* q4 was never asked */
    cr_assert_eq(e.n, 4);
    for (enum measure m = 0; m < N_MEASURES; m++) {
        cr_assert(fabs(e.mean.value[m] - 0.25) < 1e-12, "%s", measure_name(m));
    }
    cr_assert_not(e.results[3].asked);
    evaluation_done(&e);
    qrels_done(&qrels);
}

Test(evaluation, counts_a_document_at_its_first_place_only)
{
    struct qrels qrels;
    struct evaluation e;
    read_or_die("q 0 a 1\nq 0 b 1\n", &qrels);
    evaluation_init(&e, &qrels);
    const struct query_result *r = take(&e, "q", "x a a x a b");
    cr_assert_eq(r->n_ret, 3);
    cr_assert_eq(r->n_rel_ret, 2);
    cr_assert(fabs(r->measures.value[MEASURE_recip_rank] - 0.5) < 1e-12);
    cr_assert(fabs(r->measures.value[MEASURE_map] - (1.0 / 2 + 2.0 / 3) / 2) < 1e-12);
    evaluation_done(&e);
    qrels_done(&qrels);
}

Test(evaluation, takes_the_grade_of_this_query_and_of_no_other)
{
    struct qrels qrels;
    struct evaluation e;
    read_or_die("q1 0 a 1\nq2 0 b 1\nq2 0 a 0\n", &qrels);
    evaluation_init(&e, &qrels);
    cr_assert_eq(take(&e, "q1", "b a")->n_rel_ret, 1);
    cr_assert_eq(take(&e, "q2", "a")->n_rel_ret, 0);
    evaluation_done(&e);
    qrels_done(&qrels);
}

Test(bootstrap, is_the_same_each_time_and_around_the_mean)
{
    struct query_result results[50] = {{{{0}}, 0, 0, 0, false}};
    struct interval first[N_MEASURES], second[N_MEASURES];
    for (size_t i = 0; i < 50; i++) {
        results[i].measures.value[MEASURE_map] = i % 2 ? 1 : 0;
        results[i].measures.value[MEASURE_recall_1] = 0.5;
    }
    bootstrap(results, 50, first);
    bootstrap(results, 50, second);
    cr_assert_eq(memcmp(first, second, sizeof(first)), 0);
    /* the mean of 50 fair coins: standard error 0.0707 */
    cr_assert(first[MEASURE_map].low > 0.28 && first[MEASURE_map].low < 0.44);
    cr_assert(first[MEASURE_map].high > 0.56 && first[MEASURE_map].high < 0.72);
    cr_assert(first[MEASURE_recall_1].low == 0.5 && first[MEASURE_recall_1].high == 0.5);
    cr_assert(first[MEASURE_recip_rank].low == 0 && first[MEASURE_recip_rank].high == 0);
}

Test(bootstrap, of_one_query_is_its_value)
{
    struct query_result result = {.measures.value[MEASURE_map] = 0.25};
    struct interval found[N_MEASURES];
    bootstrap(&result, 1, found);
    cr_assert(found[MEASURE_map].low == 0.25 && found[MEASURE_map].high == 0.25);
}
