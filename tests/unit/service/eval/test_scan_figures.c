/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/scan_figures.h"

#include <criterion/criterion.h>
#include <math.h>

static void add(struct scan_class *c, const char *category, const char *difficulty, int n,
                int flagged)
{
    const struct eval_record r = {.category = slice_of(category),
                                  .difficulty = slice_of(difficulty)};
    for (int i = 0; i < n; i++) {
        scan_class_add(c, &r, i < flagged);
    }
}

/* 8 of 20 positives and 1 of 10 benign texts marked. */
static void fill(struct scan_figures *ret_figures)
{
    *ret_figures = (struct scan_figures){0};
    add(&ret_figures->positives, "a", "easy", 6, 6);
    add(&ret_figures->positives, "a", "hard", 10, 0);
    add(&ret_figures->positives, "ab", "medium", 4, 2);
    add(&ret_figures->benign, "mail", NULL, 6, 1);
    add(&ret_figures->benign, NULL, NULL, 4, 0);
}

static void done(struct scan_figures *f)
{
    scan_class_done(&f->positives);
    scan_class_done(&f->benign);
}

Test(scan_figures, are_those_of_the_confusion_table)
{
    struct scan_figures f;
    fill(&f);
    cr_assert(fabs(scan_precision(&f) - 8.0 / 9) < 1e-12);
    cr_assert(fabs(scan_recall(&f) - 8.0 / 20) < 1e-12);
    cr_assert(fabs(scan_f1(&f) - 16.0 / 29) < 1e-12);
    cr_assert(fabs(scan_fpr(&f) - 0.1) < 1e-12);
    done(&f);
    struct scan_figures none = {0};
    cr_assert(scan_precision(&none) == 0 && scan_recall(&none) == 0 && scan_f1(&none) == 0 &&
              scan_fpr(&none) == 0);
}

Test(scan_figures, are_written_by_category_and_difficulty)
{
    struct scan_figures f;
    struct dynbuf out;
    fill(&f);
    dynbuf_init(&out, SIZE_MAX);
    struct json_writer w = json_writer_on(&out);
    json_object_begin(&w);
    scan_figures_json(&w, &f);
    json_object_end(&w);
    cr_assert(
        slice_is(dynbuf_get(&out),
                 "{\"true_positives\":8,\"false_negatives\":12,\"false_positives\":1,"
                 "\"true_negatives\":9,\"precision\":0.888889,\"recall\":0.400000,\"f1\":0.551724,"
                 "\"fpr\":0.100000,\"recall_by_category\":{"
                 "\"a\":{\"n\":16,\"flagged\":6,\"share\":0.375000},"
                 "\"ab\":{\"n\":4,\"flagged\":2,\"share\":0.500000}},\"recall_by_difficulty\":{"
                 "\"easy\":{\"n\":6,\"flagged\":6,\"share\":1.000000},"
                 "\"hard\":{\"n\":10,\"flagged\":0,\"share\":0.000000},"
                 "\"medium\":{\"n\":4,\"flagged\":2,\"share\":0.500000}},\"fpr_by_category\":{"
                 "\"mail\":{\"n\":6,\"flagged\":1,\"share\":0.166667},"
                 "\"\":{\"n\":4,\"flagged\":0,\"share\":0.000000}}}"),
        "%.*s", (int)out.n, out.p);
    dynbuf_done(&out);
    done(&f);
}

static void ignore(void *arg, const char *figure, struct slice rule, int64_t found, bool holds)
{
    int *checked = arg;
    (*checked)++;
    cr_assert(figure && rule.n && found >= 0 && (holds || !holds));
}

/* How many bounds of the gate fail; -1: it is refused. */
static int failures(const char *gate, struct err_detail *detail)
{
    struct scan_figures f;
    uint64_t failed;
    int checked = 0;
    json_t *root = json_loads(gate, 0, NULL);
    fill(&f);
    bool good = scan_gate(root, &f, ignore, &checked, &failed, detail);
    json_decref(root);
    done(&f);
    cr_assert(!good || checked > 0);
    return good ? (int)failed : -1;
}

Test(scan_gate, bounds_texts_that_are_counted_together)
{
    static const struct {
        const char *gate;
        int want;
    } CASES[] = {
        {"{\"recall\":[{\"at_least\":0.4}]}", 0},
        {"{\"recall\":[{\"at_least\":0.400001}]}", 1},
        {"{\"recall\":[{\"difficulty\":[\"easy\"],\"at_least\":1}]}", 0},
        {"{\"recall\":[{\"difficulty\":[\"easy\",\"medium\"],\"at_least\":0.8}]}", 0}, /* 8 of 10 */
        {"{\"recall\":[{\"difficulty\":[\"easy\",\"medium\"],\"at_least\":0.81}]}", 1},
        {"{\"recall\":[{\"category\":[\"a\"],\"at_least\":0.375,\"at_most\":0.375}]}", 0},
        {"{\"recall\":[{\"category\":[\"a*\"],\"at_least\":0.4,\"at_most\":0.4}]}", 0},
        {"{\"fpr\":[{\"at_most\":0.1},{\"category\":[\"mail\"],\"at_most\":0.1}]}", 1},
        {"{\"fpr\":[{\"category\":[\"\"],\"at_most\":0}],\"note\":\"x\",\"half\":\"8-f\"}", 0},
        {"{\"precision\":[{\"at_least\":0.9}],\"f1\":[{\"at_least\":0.6}]}", 2},
        {"{}", -1},
        {"{\"recal\":[{\"at_least\":0.4}]}", -1},
        {"{\"recall\":{\"at_least\":0.4}}", -1},
        {"{\"recall\":[{}]}", -1},
        {"{\"recall\":[0.4]}", -1},
        {"{\"recall\":[{\"at_least\":1.5}]}", -1},
        {"{\"recall\":[{\"at_least\":0.4,\"categories\":[\"a\"]}]}", -1},
        {"{\"recall\":[{\"at_least\":0.4,\"category\":\"a\"}]}", -1},
        {"{\"recall\":[{\"at_least\":0.4,\"category\":[]}]}", -1},
        {"{\"fpr\":[{\"at_most\":0.4,\"category\":[\"b*\"]}]}", -1}, /* chooses no text */
        {"{\"precision\":[{\"at_least\":0.4,\"category\":[\"a\"]}]}", -1},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct err_detail detail = {""};
        cr_assert_eq(failures(CASES[i].gate, &detail), CASES[i].want, "%s: %s", CASES[i].gate,
                     detail.text);
        cr_assert((CASES[i].want < 0) == (detail.text[0] != '\0'), "%s", CASES[i].gate);
    }
}

Test(scan_half, is_by_the_group_or_else_the_id)
{
    /* SHA-256 of "a" begins with c, of "b" with 3 */
    const struct eval_record a = {.id = SLICE_LIT("b"), .group = SLICE_LIT("a")};
    const struct eval_record b = {.id = SLICE_LIT("b")};
    enum scan_half half;
    cr_assert(scan_half_has(SCAN_WHOLE, &a) && scan_half_has(SCAN_WHOLE, &b));
    cr_assert(scan_half_parse("0-7", &half));
    cr_assert(!scan_half_has(half, &a) && scan_half_has(half, &b));
    cr_assert(scan_half_parse("8-f", &half));
    cr_assert(scan_half_has(half, &a) && !scan_half_has(half, &b));
    cr_assert_not(scan_half_parse("0-8", &half));
    cr_assert_not(scan_half_parse("", &half));
}
