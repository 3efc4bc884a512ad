/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/qrels.h"

#include "service/base/dynbuf.h"
#include "service/eval/lines.h"

#include <criterion/criterion.h>
#include <stdio.h>

static bool reads(struct slice text, struct err_detail *ret_detail)
{
    struct qrels qrels;
    ret_detail->text[0] = '\0';
    bool good = qrels_read("q.tsv", text, &qrels, ret_detail);
    qrels_done(&qrels);
    return good;
}

Test(qrels, refuse_a_broken_line_by_its_number)
{
    static const struct {
        const char *text, *reason;
    } CASES[] = {
        {"", "q.tsv: no judgement in it"},
        {"\n \n\t\n", "q.tsv: no judgement in it"},
        {"q 0 d 1\nq 0 e\n", "q.tsv:2: four columns"},
        {"q 0 d 1 x\n", "q.tsv:1: four columns"},
        {"q\t0\td\t1\t\n", "q.tsv:1: four columns"},
        {"q\t0\td 1\n", "q.tsv:1: four columns"},
        {"\n\nq 0 d one\n", "q.tsv:3: the grade"},
        {"q 0 d 1.5\n", "q.tsv:1: the grade"},
        {"q 0 d -\n", "q.tsv:1: the grade"},
        {"q\t0\td\t\n", "q.tsv:1: the grade"},
        {"q 0 d 1001\n", "q.tsv:1: the grade"},
        {"q 0 d -1001\n", "q.tsv:1: the grade"},
        {"q 0 d 99999999999999999999\n", "q.tsv:1: the grade"},
        {"\t0\td\t1\n", "q.tsv:1: an id"},
        {"q\t0\t\t1\n", "q.tsv:1: an id"},
        {"q 0 \xFF 1\n", "q.tsv:1: the line is not UTF-8"},
        {"q 0 d 1\nr 0 d 1\nq 0 d 1\n", "q.tsv:3: this document is judged"},
        {"q 0 d 1\nq 0 d 2\n", "q.tsv:2: this document is judged"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct err_detail detail;
        cr_assert_not(reads(slice_of(CASES[i].text), &detail), "%s", CASES[i].text);
        cr_assert(slice_starts(slice_of(detail.text), slice_of(CASES[i].reason)), "%s: %s",
                  CASES[i].text, detail.text);
    }
    struct err_detail detail;
    cr_assert_not(reads(SLICE_LIT("q 0 a\0b 1\n"), &detail));
}

Test(qrels, take_what_is_well_formed)
{
    static const char *const CASES[] = {
        "q 0 d 1",
        "\xEF\xBB\xBFq 0 d 1\r\n\r\n",
        "  q   0  d   1  \n",
        "q\t0\td\t1\n",
        "q\tQ0\td\t1\n",
        "q 0 d 1000\nq 0 e -1000\nq 0 f 0\n",
        "q with space\t0\td with space\t1\n",
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct err_detail detail;
        cr_assert(reads(slice_of(CASES[i]), &detail), "%s: %s", CASES[i], detail.text);
    }
}

Test(qrels, bound_the_length_of_ids)
{
    for (int over = -1; over <= 1; over++) {
        struct dynbuf line;
        struct err_detail detail;
        dynbuf_init(&line, SIZE_MAX);
        dynbuf_add_text(&line, "q 0 ");
        for (int i = 0; i < EVAL_ID_MAX_BYTES + over; i++) {
            dynbuf_add_byte(&line, 'd');
        }
        dynbuf_add_text(&line, " 1\n");
        cr_assert_eq(reads(dynbuf_get(&line), &detail), over <= 0);
        dynbuf_done(&line);
    }
}

Test(qrels, group_judgements_by_query)
{
    struct qrels qrels;
    struct err_detail detail;
    size_t n;
    cr_assert(qrels_read("q", SLICE_LIT("b 0 x 1\na 0 x 2\nb 0 y 3\n"), &qrels, &detail));
    const struct judgement *b = qrels_of(&qrels, id_map_find(&qrels.queries, SLICE_LIT("b")), &n);
    cr_assert_eq(n, 2);
    cr_assert_eq(b[0].grade, 1);
    cr_assert_eq(b[1].grade, 3);
    const struct judgement *a = qrels_of(&qrels, id_map_find(&qrels.queries, SLICE_LIT("a")), &n);
    cr_assert_eq(n, 1);
    cr_assert_eq(a[0].grade, 2);
    cr_assert_eq(id_map_find(&qrels.queries, SLICE_LIT("c")), ID_NONE);
    qrels_done(&qrels);
}

Test(exclusions, name_pairs)
{
    struct exclusions x;
    struct err_detail detail;
    cr_assert(exclusions_read("x", SLICE_LIT("2\td2\n1\td1\n1\td3\n"), &x, &detail));
    cr_assert(exclusions_has(&x, SLICE_LIT("1"), SLICE_LIT("d3")));
    cr_assert(exclusions_has(&x, SLICE_LIT("2"), SLICE_LIT("d2")));
    cr_assert_not(exclusions_has(&x, SLICE_LIT("1"), SLICE_LIT("d2")));
    cr_assert_not(exclusions_has(&x, SLICE_LIT("3"), SLICE_LIT("d1")));
    cr_assert_not(exclusions_has(&x, SLICE_LIT("1"), SLICE_LIT("other")));
    exclusions_done(&x);
    static const struct {
        const char *text, *reason;
    } BAD[] = {{"1\n", "x:1: two columns"},
               {"1 a\n1 a b\n", "x:2: two columns"},
               {"\n", "x: no pair in it"}};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_assert_not(exclusions_read("x", slice_of(BAD[i].text), &x, &detail));
        cr_assert(slice_starts(slice_of(detail.text), slice_of(BAD[i].reason)), "%s", detail.text);
        exclusions_done(&x);
    }
}

Test(id_map, numbers_ids_in_the_order_they_come)
{
    struct id_map m = {0};
    char ids[5000][8];
    cr_assert_eq(id_map_find(&m, SLICE_LIT("0")), ID_NONE);
    for (uint32_t i = 0; i < 5000; i++) {
        bool is_new;
        snprintf(ids[i], sizeof(ids[i]), "%u", i);
        cr_assert_eq(id_map_add(&m, slice_of(ids[i]), &is_new), i);
        cr_assert(is_new);
    }
    for (uint32_t i = 0; i < 5000; i++) {
        bool is_new;
        cr_assert_eq(id_map_add(&m, slice_of(ids[i]), &is_new), i);
        cr_assert_not(is_new);
        cr_assert_eq(id_map_find(&m, slice_of(ids[i])), i);
    }
    cr_assert_eq(id_map_find(&m, SLICE_LIT("5000")), ID_NONE);
    id_map_done(&m);
}
