/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/reader.h"
#include "tests/unit/service/ingest/outline_text.h"

static const struct {
    const char *text, *outline;
} CASES[] = {
    {"<p>one <b>two</b>\n three<p>four", "P:one two three / P:four"},
    {"plain", "P:plain"},
    {"<h1>A</h1>text<h3>B <i>c</i></h3>", "H1:A / P:text / H3:B c"},
    {"<ul><li>a<li><p>b</p><ul><li>c</ul></ul>d", "I:- a / I:- b / I:  - c / P:d"},
    {"<table><tr><th>x<th>y<tr><td><p>1</p><p>2</p><td>3</table>", "R:| x | y | / R:| 1 2 | 3 |"},
    {"<pre>a\n  b</pre>c", "C:a\n  b / P:c"},
    {"a<br>b", "P:a\nb"},
    {"<p>caf&eacute; &lt;tag&gt;", "P:caf\xC3\xA9 <tag>"},
    {"<script>s()</script><style>x{}</style><nav>menu</nav><p>text", "P:text"},
    {"<p hidden>no<p style='color:red; display:none'>no<p>yes", "P:yes"},
    {"<p style='DISPLAY:NONE'>no<p style='display :none'>no<p style='display:\tnone!important'>no"
     "<p style='color:red;visibility:hidden'>no<p style='visibility: Collapse'>no"
     "<p style='font-size:0'>no<p style='Font-Size : 0.0em'>no<p style='opacity:0'>no"
     "<p style='display:/* x */none'>no<p style='display:n&#111;ne'>no<p>yes",
     "P:yes"},
    {"<p HIDDEN>no<p Hidden='until-found'>no<p aria-hidden=true>no<p ARIA-HIDDEN='TRUE'>no"
     "<dialog>no</dialog><p>yes<dialog open>open</dialog>",
     "P:yesopen"},
    {"<p style='display:block'>a<p style='font-size:0.8em'>b<p style='opacity:.5'>c"
     "<p style='no-display:none'>d<p aria-hidden=false>e<p style='visibility:visible;'>f"
     "<p style='font-size:10px'>g<p style=''>h<p style=';:;'>i",
     "P:a / P:b / P:c / P:d / P:e / P:f / P:g / P:h / P:i"},
    {"<!-- secret --><p>text", "P:text"},
    {"<header>site</header><main><p>text</main><footer>foot</footer>", "P:text"},
    {"<main>a</main><main>b</main>", "P:a / P:b"},
    {"<a href='https://e.org/'>text</a>, <a href='/x'>rel</a>", "P:text (https://e.org/), rel"},
    {"<a href='https://e.org/'>https://e.org/</a>", "P:https://e.org/"},
    {"<h2>T<a class=headerlink href='#t'>\xC2\xB6</a></h2>", "H2:T"},
    {"<p>unclosed <b>markup <i>everywhere</b> and</p> more",
     "P:unclosed markup everywhere and / P:more"},
    {"<html><head><meta charset='iso-8859-1'></head><p>\xC3\xA9", "P:\xC3\xA9"},
    {"<!DOCTYPE x SYSTEM 'file:///etc/passwd' [<!ENTITY e SYSTEM 'file:///etc/passwd'>]><p>&e;",
     "P:]> / P:&e;"}, /* nothing is fetched */
};

Test(reader_html, keeps_what_a_browser_shows)
{
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct outline o;
        const char *reason;
        outline_init(&o);
        cr_expect(reader_html(&o, slice_of(CASES[i].text), &reason));
        cr_expect_str_eq(outline_show(&o), CASES[i].outline, "case %zu: %s", i, outline_show(&o));
        outline_done(&o);
    }
}

Test(reader_html, title_is_taken_from_a_page_and_not_from_a_fragment)
{
    struct outline o;
    const char *reason;
    struct slice page =
        SLICE_LIT("<title> The\n title </title><svg><title>no</title></svg><h1>H</h1>");
    outline_init(&o);
    cr_expect(reader_html(&o, page, &reason));
    cr_expect(slice_is(outline_title(&o), "The title"));
    outline_done(&o);
    outline_init(&o);
    cr_expect(reader_html_fragment(&o, page));
    cr_expect(slice_is(outline_title(&o), "H"));
    outline_done(&o);
}

Test(reader_html, refuses_what_the_parser_would_cut_off)
{
    struct dynbuf text;
    struct outline o;
    const char *reason = NULL;
    dynbuf_init(&text, 1 << 24);
    for (int i = 0; i < 5000; i++) {
        dynbuf_add_text(&text, "<div>");
    }
    dynbuf_add_text(&text, "deep");
    outline_init(&o);
    cr_expect_not(reader_html(&o, dynbuf_get(&text), &reason));
    cr_expect_not_null(reason);
    cr_expect_eq(o.n, 0);
    outline_done(&o);
    dynbuf_done(&text);
}

Test(reader_html, shows_absolute_links_of_moderate_length_only)
{
    char long_link[300] = "https://e.org/";
    memset(long_link + 14, 'x', sizeof(long_link) - 15);
    cr_expect(reader_link_is_shown(SLICE_LIT("https://e.org")));
    cr_expect(reader_link_is_shown(SLICE_LIT("http://e.org")));
    cr_expect(reader_link_is_shown(SLICE_LIT("mailto:a@e.org")));
    cr_expect_not(reader_link_is_shown(SLICE_NONE));
    cr_expect_not(reader_link_is_shown(SLICE_LIT("javascript:x()")));
    cr_expect_not(reader_link_is_shown(SLICE_LIT("data:text/html,x")));
    cr_expect_not(reader_link_is_shown(SLICE_LIT("https://e.org/a b")));
    cr_expect(reader_link_is_shown((struct slice){long_link, 200}));
    cr_expect_not(reader_link_is_shown((struct slice){long_link, 201}));
}
