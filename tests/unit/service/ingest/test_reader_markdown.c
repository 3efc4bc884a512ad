/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/reader.h"
#include "tests/unit/service/ingest/outline_text.h"

static const struct {
    const char *text, *outline;
} CASES[] = {
    {"", ""},
    {"# A *b* `c`\ntext", "H1:A b c / P:text"},
    {"Title\n===\n\nPart\n---\n", "H1:Title / H2:Part"},
    {"**bold** and ~~gone~~  \nbreak\nsoft", "P:bold and gone\nbreak\nsoft"},
    {"- a\n- b\n  1. c\n  2. d\n- e", "I:- a / I:- b / I:  1. c / I:  2. d / I:- e"},
    {"3. three\n4. four", "I:3. three / I:4. four"},
    {"- a\n\n  more\n- b", "I:- a / I:  more / I:- b"},
    {"| x | y |\n|---|---|\n| 1 | *2* |", "R:| x | y | / R:| 1 | 2 |"},
    {"```c\nint x;\n  y\n```\n", "C:int x;\n  y"},
    {"    indented", "C:indented"},
    {"> quoted", "P:quoted"},
    {"[text](https://e.org/x?a=1&amp;b=2)", "P:text (https://e.org/x?a=1&b=2)"},
    {"[text](../relative.md) and [j](javascript:alert(1))", "P:text and j"},
    {"<https://e.org/> <a@e.org>", "P:https://e.org/ a@e.org"},
    {"# [text](https://e.org)", "H1:text"},
    {"![alt](https://e.org/pixel.png)", "P:alt"},
    {"&copy; &#8364; &#x41; &nosuch; &amp;", "P:\xC2\xA9 \xE2\x82\xAC A &nosuch; &"},
    {"&#xD800; &#1114112; &#0;", "P:&#xD800; &#1114112; &#0;"},
    {"a<br>b <b>c</b> <!-- secret -->", "P:a\nb c"},
    {"<div>\n<p>one<p>two\n</div>\n\ntext", "P:one / P:two / P:text"},
    {"<!-- secret -->\n\n<script>\nevil()\n</script>\n", ""},
    {"a | b\n", "P:a | b"},
    {"a <span style='display:none'>no *no* <b>no</b></span>b", "P:a b"},
    {"a <span\nHIDDEN>no [no](https://e.org) <span>no</span> `no`</span>b\n\nc", "P:a b / P:c"},
    {"a <span hidden>no\n\nb", "P:a / P:b"},
    {"a <!-- <span hidden> --><br hidden>b <i title='hidden'>c</i> <i data-hidden>d</i>",
     "P:a \nb c d"},
    {"# a <b aria-hidden=\"true\">no</b>", "H1:a"},
    {"<div style='visibility: hidden'>\n\nno\n\n- no\n\n<div>\nno\n</div>\n\n</div>\n\nb", "P:b"},
    {"<div hidden>\n\nno\n\n</div><p>b\n\nc", "P:b / P:c"},
    {"<p hidden>no\n\nb", "P:b"},
    {"<div>\n\na\n\n</div>\n\nb", "P:a / P:b"},
};

Test(reader_markdown, keeps_the_text_and_drops_the_markup)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct outline o;
        const char *reason;
        outline_init(&o);
        cr_expect(reader_markdown(&o, slice_of(CASES[i].text), &reason));
        cr_expect_str_eq(outline_show(&o), CASES[i].outline, "case %zu: %s", i, outline_show(&o));
        outline_done(&o);
    }
}

static void read_repeated(const char *unit, int times, bool ok)
{
    struct dynbuf text;
    struct outline o;
    const char *reason;
    dynbuf_init(&text, 1 << 24);
    outline_init(&o);
    for (int i = 0; i < times; i++) {
        dynbuf_add_text(&text, unit);
    }
    dynbuf_add_text(&text, "end");
    cr_expect_eq(reader_markdown(&o, dynbuf_get(&text), &reason), ok, "%s", unit);
    outline_done(&o);
    dynbuf_done(&text);
}

Test(reader_markdown, deep_nesting_is_harmless)
{
    static const char *const units[] = {"> ", "- ", "[", "*a_", "![", "[a](https://e.org/ ", "<b>"};
    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        read_repeated(units[i], 3000, true);
    }
}

Test(reader_markdown, html_that_is_too_deep_fails_instead_of_losing_text)
{
    read_repeated("<div>\n", 200, true);
    read_repeated("<div>\n", 3000, false);
}
