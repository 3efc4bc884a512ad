/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/gate.h"

#include <criterion/criterion.h>

static void on_check(void *arg, enum measure m, int64_t wanted, int64_t tolerance, int64_t found)
{
    uint32_t *checked = arg;
    *checked |= 1u << m;
    cr_assert(wanted >= 0 && tolerance >= 0 && found >= 0);
}

enum verdict { HOLDS, BELOW, UNUSABLE };

static enum verdict check(const char *baseline, uint32_t *ret_checked, struct err_detail *detail)
{
    const struct measures measures = {.value = {[MEASURE_ndcg_cut_10] = 0.7, [MEASURE_map] = 0.5}};
    const struct gate_figures found = {&measures, "abc", "store", false, 1000, 40};
    struct gate_result result;
    json_t *root = json_loads(baseline, 0, NULL);
    cr_assert_not_null(root, "%s", baseline);
    *ret_checked = 0;
    bool good = gate_check(root, &found, on_check, ret_checked, &result, detail);
    json_decref(root);
    return !good ? UNUSABLE : result.n_failed ? BELOW : HOLDS;
}

Test(gate, holds_down_to_the_tolerance)
{
    static const struct {
        const char *baseline;
        enum verdict want;
    } CASES[] = {
        {"{\"ndcg_cut_10\":0.7}", HOLDS},
        {"{\"ndcg_cut_10\":0.705}", HOLDS}, /* the default tolerance is 0.005 */
        {"{\"ndcg_cut_10\":0.705001}", BELOW},
        {"{\"ndcg_cut_10\":0.7,\"tolerance\":0}", HOLDS},
        {"{\"ndcg_cut_10\":0.700001,\"tolerance\":0}", BELOW},
        {"{\"ndcg_cut_10\":0.73,\"tolerance\":0.03}", HOLDS},
        {"{\"ndcg_cut_10\":0.73,\"map\":0.5,\"tolerance\":{\"ndcg_cut_10\":0.03}}", HOLDS},
        {"{\"ndcg_cut_10\":0.6,\"map\":0.53,\"tolerance\":{\"ndcg_cut_10\":0.03}}", BELOW},
        {"{\"measures\":{\"map\":0.5}}", HOLDS},
        {"{\"measures\":{\"map\":0.51}}", BELOW},
        {"{\"recall_5\":0.1}", BELOW},
        {"{\"ndcg_cut_10\":0,\"note\":\"any\"}", HOLDS},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        uint32_t checked;
        struct err_detail detail = {""};
        cr_assert_eq(check(CASES[i].baseline, &checked, &detail), CASES[i].want, "%s: %s",
                     CASES[i].baseline, detail.text);
        cr_assert_neq(checked, 0);
    }
}

Test(gate, refuses_a_baseline_of_something_else)
{
    static const struct {
        const char *baseline, *reason;
    } CASES[] = {
        {"{}", "no measure in it"},
        {"{\"set\":{\"checksum\":\"abc\"}}", "no measure in it"},
        {"{\"ndcg_cut10\":0.7}", "ndcg_cut10: no member"},
        {"{\"measures\":{\"ndcg\":0.7}}", "measures.ndcg: no measure"},
        {"{\"map\":\"0.5\"}", "map: write a number"},
        {"{\"map\":1.1}", "map: write a number"},
        {"{\"map\":0.5,\"tolerance\":-0.1}", "tolerance: write a number"},
        {"{\"map\":0.5,\"set\":{\"checksum\":\"abd\"}}",
         "set.checksum: the baseline is of other files than these: --queries, --qrels or "
         "--exclude"},
        {"{\"map\":0.5,\"set\":{\"documents\":41}}",
         "set.documents: the store holds another corpus than the baseline's"},
        {"{\"map\":0.5,\"set\":{\"documents\":\"40\"}}", "set.documents: "},
        {"{\"map\":0.5,\"source\":\"url\"}", "source: the baseline is of url"},
        {"{\"map\":0.5,\"as_served\":true}", "as_served: "},
        {"{\"map\":0.5,\"depth\":20}", "depth: "},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        uint32_t checked;
        struct err_detail detail = {""};
        cr_assert_eq(check(CASES[i].baseline, &checked, &detail), UNUSABLE, "%s",
                     CASES[i].baseline);
        cr_assert_eq(strncmp(detail.text, CASES[i].reason, strlen(CASES[i].reason)), 0, "%s: %s",
                     CASES[i].baseline, detail.text);
        cr_assert_eq(checked, 0);
    }
}

Test(gate, takes_a_baseline_that_says_what_it_is_of)
{
    uint32_t checked;
    struct err_detail detail = {""};
    cr_assert_eq(
        check("{\"map\":0.5,\"set\":{\"checksum\":\"abc\",\"documents\":40},\"source\":\"store\","
              "\"as_served\":false,\"depth\":1000}",
              &checked, &detail),
        HOLDS, "%s", detail.text);
    cr_assert_eq(checked, 1u << MEASURE_map);
}
