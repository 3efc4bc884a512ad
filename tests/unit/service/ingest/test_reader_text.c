/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/reader.h"
#include "tests/unit/service/ingest/outline_text.h"

Test(reader_text, splits_at_blank_lines_and_knows_underlined_headings)
{
    static const struct {
        const char *text, *outline;
    } cases[] = {
        {"", ""},
        {"\n \n", ""},
        {"one\ntwo\n\nthree", "P:one\ntwo / P:three"},
        {"one\n   \nthree\n", "P:one / P:three"},
        {"Title\n=====\ntext\n\nPart\n----\nmore\nPoint\n~~~~~\nlast",
         "H1:Title / P:text / H2:Part / P:more / H3:Point / P:last"},
        {"above\nTitle\n=====", "P:above / H1:Title"},
        {"a line\n\n-----\n\nanother", "P:a line / P:----- / P:another"},
        {"a much longer line than the rule\n---\ntext",
         "P:a much longer line than the rule\n---\ntext"},
        {"ab\n--\ntext", "P:ab\n--\ntext"},
        {"Title\n==-==\n", "P:Title\n==-=="},
        {"<b>html</b> & *stars*", "P:<b>html</b> & *stars*"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct outline o;
        outline_init(&o);
        reader_text(&o, slice_of(cases[i].text));
        cr_expect_str_eq(outline_show(&o), cases[i].outline, "case %zu: %s", i, outline_show(&o));
        outline_done(&o);
    }
}
