/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/reader.h"
#include "service/ingest/reader_tags.h"

#include <criterion/criterion.h>

Test(reader_tags, counts_what_is_hidden)
{
    static const struct {
        const char *html;
        unsigned depth;
    } cases[] = {
        {"", 0},
        {"<", 0},
        {"</", 0},
        {"<>", 0},
        {"<span", 0},
        {"<span>", 0},
        {"<span hidden>", 1},
        {"<span a=b hidden>", 1},
        {"<SPAN HIDDEN=''>", 1},
        {"<span a='>' hidden>", 1},
        {"<span a = \"x\" hidden/>", 1},
        {"<span style=display:none>", 1},
        {"<span style = 'color:red; display: none'>", 1},
        {"<span style='display:none>", 0}, /* the quote never ends */
        {"<span aria-hidden=TRUE>", 1},
        {"<span aria-hidden=false>", 0},
        {"<span a=hidden>", 0},
        {"<span a='hidden'>", 0},
        {"<span nothidden>", 0},
        {"<!-- <span hidden> -->", 0},
        {"<!-- <span hidden>", 0},
        {"< span hidden>", 0},
        {"<img hidden>", 0},
        {"<p hidden>", 0},
        {"<averyveryverylongname hidden>", 0},
        {"<span hidden><b><span></b>", 2},
        {"<span hidden><b><span></span></B></SPAN>", 0},
        {"<span hidden></b></div>", 1},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct tags t = {.depth = 0};
        struct slice html = slice_of(cases[i].html);
        cr_expect_eq(tags_scan(&t, html), html.n, "case %zu", i);
        cr_expect_eq(t.depth, cases[i].depth, "%s: %u", cases[i].html, t.depth);
    }
}

Test(reader_tags, stops_where_the_hidden_part_ends)
{
    struct tags t = {.name = "div", .depth = 1};
    cr_expect_eq(tags_scan(&t, SLICE_LIT("no<div></div></div><div hidden>")), 19);
    cr_expect_eq(t.depth, 0);
}

Test(reader_tags, unfinished_tags_take_linear_time)
{
    enum { TIMES = 1 << 20 };
    char *text = malloc(TIMES * 2);
    cr_assert_not_null(text);
    for (size_t i = 0; i < TIMES; i++) {
        memcpy(text + i * 2, "<a", 2);
    }
    struct tags t = {.depth = 0};
    cr_expect_eq(tags_scan(&t, (struct slice){text, TIMES * 2}), TIMES * 2);
    cr_expect_eq(t.depth, 0);
    free(text);
}

Test(reader_tags, styles)
{
    static const char *const hide[] = {
        "display:none",
        "DISPLAY:NONE",
        "display :none",
        " display\t:\nnone ",
        "color:red;display:none",
        "display:none;color:red",
        "display:none!important",
        "visibility:hidden",
        "visibility: collapse",
        "font-size:0",
        "font-size:0px",
        "font-size:.0em",
        "opacity:0",
        "opacity:0.00",
        "dis/**/play:none",
        "display:/* never ends",
        ";;display:none",
        "font-size:-0",
    };
    static const char *const show[] = {
        "",
        ";",
        ":",
        "display",
        "display:",
        "display:block",
        "display:nonesuch",
        "x-display:none",
        "font-size:0.5em",
        "font-size:10px",
        "font-size:.",
        "opacity:1",
        "opacity:0.01",
        "background:url(display:none)",
        "content:'visibility:hidden'",
    };
    for (size_t i = 0; i < sizeof(hide) / sizeof(hide[0]); i++) {
        bool unfinished = strcmp(hide[i], "display:/* never ends") == 0;
        cr_expect_eq(reader_style_hides(slice_of(hide[i])), !unfinished, "%s", hide[i]);
    }
    for (size_t i = 0; i < sizeof(show) / sizeof(show[0]); i++) {
        cr_expect_not(reader_style_hides(slice_of(show[i])), "%s", show[i]);
    }
    char text[200];
    memset(text, 'x', sizeof(text));
    for (size_t n = 60; n <= 66; n++) {
        cr_expect_not(reader_style_hides((struct slice){text, n}));
    }
    cr_expect_not(reader_style_hides(SLICE_NONE));
}
