/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/paired.h"

#include <criterion/criterion.h>
#include <math.h>

#define REST                                                                                       \
    "\"ndcg_cut_10\":0,\"recall_1\":0,\"recall_3\":0,\"recall_5\":0,\"recall_10\":0,"              \
    "\"recall_100\":0,\"recip_rank\":0}\n"

Test(paired, is_the_mean_of_the_differences)
{
    struct qrels qrels;
    struct evaluation e;
    struct paired p;
    struct err_detail detail = {""};
    cr_assert(qrels_read("j", SLICE_LIT("a 0 d 1\nb 0 d 1\nc 0 d 1\n"), &qrels, &detail));
    evaluation_init(&e, &qrels);
    e.results[0].asked = e.results[1].asked = true; /* c was asked in neither run */
    e.results[0].measures.value[MEASURE_map] = 0.5;
    e.results[1].measures.value[MEASURE_map] = 0.25;
    cr_assert(paired_compare(&e, "f",
                             SLICE_LIT("{\"id\":\"a\",\"map\":0.25," REST
                                       "{\"id\":\"unjudged\"}\n\n{\"id\":\"b\",\"map\":0.75," REST),
                             &p, &detail),
              "%s", detail.text);
    cr_assert_eq(p.n, 2);
    cr_assert(fabs(p.difference.value[MEASURE_map] + 0.125) < 1e-12);
    cr_assert(p.intervals[MEASURE_map].low == -0.5 && p.intervals[MEASURE_map].high == 0.25);
    cr_assert(p.difference.value[MEASURE_recall_1] == 0);
    cr_assert_not(
        paired_compare(&e, "f", SLICE_LIT("{\"id\":\"a\",\"map\":0.25," REST), &p, &detail));
    cr_assert_str_eq(detail.text, "f: query b was asked in one of the two runs only");
    evaluation_done(&e);
    qrels_done(&qrels);
}
