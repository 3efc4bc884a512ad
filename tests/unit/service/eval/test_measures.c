/* SPDX-License-Identifier: Apache-2.0 */
/* Values are worked out by hand from trec_eval's definitions; 1/log2(3) is 0.63092975. */
#include "service/eval/measures.h"

#include <criterion/criterion.h>
#include <math.h>

enum { LONGEST = 120 };

struct hand_case {
    const char *what;
    int32_t ranked[12];
    size_t n_ranked;
    int32_t judged[12];
    size_t n_judged;
    struct measures want; /* ndcg_cut_10, recall_1, 3, 5, 10, 100, recip_rank, map */
};

static void assert_measures(const char *what, const struct measures *found,
                            const struct measures *want)
{
    for (enum measure m = 0; m < N_MEASURES; m++) {
        cr_assert(fabs(found->value[m] - want->value[m]) < 1e-7, "%s: %s is %.9f, not %.9f", what,
                  measure_name(m), found->value[m], want->value[m]);
    }
}

Test(measures, hand_computed)
{
    static const struct hand_case CASES[] = {
        {"nothing found", {0}, 0, {1, 2}, 2, {{0}}},
        {"nothing relevant", {0, 0}, 2, {0, 0}, 2, {{0}}},
        {"no judgement", {0, 0}, 2, {0}, 0, {{0}}},
        {"the one document first", {1}, 1, {1}, 1, {{1, 1, 1, 1, 1, 1, 1, 1}}},
        {"a judgement of 0 is not relevant and no gain",
         {0, 1},
         2,
         {0, 1},
         2,
         {{0.63092975357, 0, 1, 1, 1, 1, 0.5, 0.5}}},
        {"a negative grade is not relevant and takes no gain away",
         {-1, 1},
         2,
         {-1, 1},
         2,
         {{0.63092975357, 0, 1, 1, 1, 1, 0.5, 0.5}}},
        /* dcg = 1 + 3/log2(3) = 2.89278926; ideal = 3 + 1/log2(3) = 3.63092975 */
        {"the gain is the grade, not 2^grade - 1",
         {1, 3},
         2,
         {3, 1},
         2,
         {{0.79670758079, 0.5, 1, 1, 1, 1, 1, 1}}},
        /* dcg = 2/log2(3); ideal = 2 + 2/log2(3) + 1/log2(4) = 3.76185951 */
        {"what is not found costs nDCG, recall and MAP",
         {0, 2, 0},
         3,
         {2, 2, 1},
         3,
         {{0.33543504430, 0, 0.33333333333, 0.33333333333, 0.33333333333, 0.33333333333, 0.5,
           0.16666666667}}},
        /* precisions 1/1, 2/3, 3/6 over four relevant ones */
        {"average precision divides by all relevant documents",
         {1, 0, 1, 0, 0, 1},
         6,
         {1, 1, 1, 1},
         4,
         {{0.72462625450, 0.25, 0.5, 0.5, 0.75, 0.75, 1, 0.54166666667}}},
        /* rank 11 is beyond the cut of nDCG and recall_10, not of the others */
        {"ranks beyond ten",
         {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1},
         11,
         {1},
         1,
         {{0, 0, 0, 0, 0, 1, 0.09090909091, 0.09090909091}}},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        const struct hand_case *c = &CASES[i];
        struct measures found;
        measure_query(c->ranked, c->n_ranked, c->judged, c->n_judged, &found);
        assert_measures(c->what, &found, &c->want);
    }
}

Test(measures, the_ideal_is_cut_at_ten_too)
{
    int32_t grades[12];
    struct measures found;
    for (size_t i = 0; i < 12; i++) {
        grades[i] = 1;
    }
    measure_query(grades, 10, grades, 12, &found);
    cr_assert(fabs(found.value[MEASURE_ndcg_cut_10] - 1) < 1e-12);
    cr_assert(fabs(found.value[MEASURE_recall_10] - 10.0 / 12) < 1e-12);
    cr_assert(fabs(found.value[MEASURE_map] - 10.0 / 12) < 1e-12);
}

Test(measures, recall_100_ends_at_a_hundred)
{
    int32_t ranked[LONGEST] = {0};
    const int32_t judged[] = {1, 1};
    struct measures found;
    ranked[99] = ranked[100] = 1;
    measure_query(ranked, LONGEST, judged, 2, &found);
    cr_assert(fabs(found.value[MEASURE_recall_100] - 0.5) < 1e-12);
    cr_assert(fabs(found.value[MEASURE_recip_rank] - 0.01) < 1e-12);
    cr_assert(fabs(found.value[MEASURE_map] - (1.0 / 100 + 2.0 / 101) / 2) < 1e-12);
}

Test(measures, have_the_names_of_trec_eval)
{
    static const char *const NAMES[] = {"ndcg_cut_10", "recall_1",   "recall_3",   "recall_5",
                                        "recall_10",   "recall_100", "recip_rank", "map"};
    cr_assert_eq(N_MEASURES, sizeof(NAMES) / sizeof(NAMES[0]));
    for (enum measure m = 0; m < N_MEASURES; m++) {
        cr_assert_str_eq(measure_name(m), NAMES[m]);
    }
}
