/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/records.h"

#include "service/eval/lines.h"

#include <criterion/criterion.h>
#include <stdlib.h>

Test(records, refuse_a_broken_line_by_its_number)
{
    static const struct {
        const char *text, *reason;
    } CASES[] = {
        {"", "f: no record in it"},
        {"\n\n", "f: no record in it"},
        {"{\"id\":\"a\",\"text\":\"x\"}\nnonsense\n", "f:2: broken JSON"},
        {"[]\n", "f:1: not a JSON object"},
        {"{\"text\":\"x\"}\n", "f:1: `id`"},
        {"{\"id\":\"\",\"text\":\"x\"}\n", "f:1: `id`"},
        {"{\"id\":7,\"text\":\"x\"}\n", "f:1: `id`"},
        {"{\"id\":\"a\\u0000\",\"text\":\"x\"}\n", "f:1: `id`"},
        {"{\"id\":\"a\"}\n", "f:1: `text`"},
        {"{\"id\":\"a\",\"text\":null}\n", "f:1: `text`"},
        {"{\"id\":\"a\",\"text\":\"x\",\"title\":1}\n", "f:1: `title`"},
        {"{\"id\":\"a\",\"id\":\"b\",\"text\":\"x\"}\n", "f:1: broken JSON"},
        {"{\"id\":\"a\",\"text\":\"\\ud800\"}\n", "f:1: broken JSON"},
        {"{\"id\":\"a\",\"text\":\"\xFF\"}\n", "f:1: the line is not UTF-8"},
        {"{\"id\":\"a\",\"text\":\"x\"}\n\n{\"id\":\"a\",\"text\":\"y\"}\n",
         "f:3: the id a is that of line 1 already"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct records r;
        struct err_detail detail = {""};
        cr_assert_not(records_read("f", slice_of(CASES[i].text), &r, &detail), "%s", CASES[i].text);
        cr_assert(slice_starts(slice_of(detail.text), slice_of(CASES[i].reason)), "%s: %s",
                  CASES[i].text, detail.text);
        records_done(&r);
    }
}

Test(records, take_the_members_they_know)
{
    static const char TEXT[] = "\xEF\xBB\xBF{\"id\":\"a/b#1\",\"text\":\"\",\"answer\":[1],"
                               "\"title\":null}\r\n"
                               "{\"id\":\"b\",\"text\":\"t\",\"category\":\"c\",\"group\":\"g\","
                               "\"difficulty\":\"hard\"}";
    struct records r;
    struct err_detail detail = {""};
    cr_assert(records_read("f", slice_of(TEXT), &r, &detail), "%s", detail.text);
    cr_assert_eq(r.n, 2);
    cr_assert(slice_is(r.items[0].id, "a/b#1"));
    cr_assert(r.items[0].text.p && r.items[0].text.n == 0);
    cr_assert_null(r.items[0].title.p);
    cr_assert_eq(r.items[1].line, 2);
    cr_assert(slice_is(r.items[1].category, "c"));
    cr_assert(slice_is(r.items[1].group, "g"));
    cr_assert(slice_is(r.items[1].difficulty, "hard"));
    records_done(&r);
}

Test(lines, are_bounded)
{
    char *line = malloc(EVAL_LINE_MAX_BYTES + 1);
    memset(line, 'x', EVAL_LINE_MAX_BYTES + 1);
    cr_assert_null(line_fault((struct slice){line, EVAL_LINE_MAX_BYTES - 1}));
    cr_assert_null(line_fault((struct slice){line, EVAL_LINE_MAX_BYTES}));
    cr_assert_not_null(line_fault((struct slice){line, EVAL_LINE_MAX_BYTES + 1}));
    free(line);
}

Test(lines, end_at_line_feeds)
{
    struct slice rest = SLICE_LIT("a\r\n\nb");
    cr_assert(slice_is(line_next(&rest), "a"));
    cr_assert(slice_is(line_next(&rest), ""));
    cr_assert(slice_is(line_next(&rest), "b"));
    cr_assert_eq(rest.n, 0);
}
