/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/service/ingest/outline_text.h"

Test(outline, keeps_blocks_in_order_and_drops_blank_ones)
{
    struct outline o;
    outline_init(&o);
    outline_add(&o, BLOCK_HEADING, 2, SLICE_LIT("  A \n heading "));
    outline_add(&o, BLOCK_PARAGRAPH, 0, SLICE_LIT(" \n\t\n "));
    outline_add(&o, BLOCK_PARAGRAPH, 0, SLICE_LIT("\n\n  indented\nlines \n\n"));
    outline_add(&o, BLOCK_ITEM, 0, SLICE_LIT("- x"));
    cr_assert_str_eq(outline_show(&o), "H2:A heading / P:  indented\nlines / I:- x");
    outline_done(&o);
}

Test(outline, brings_text_to_nfc)
{
    struct outline o;
    outline_init(&o);
    outline_add(&o, BLOCK_PARAGRAPH, 0, SLICE_LIT("cafe\xCC\x81"));
    cr_assert_str_eq(outline_show(&o), "P:caf\xC3\xA9");
    outline_done(&o);
}

Test(outline, title_is_its_own_else_the_first_heading)
{
    struct outline o;
    outline_init(&o);
    cr_assert_null(outline_title(&o).p);
    outline_add(&o, BLOCK_PARAGRAPH, 0, SLICE_LIT("text"));
    cr_assert_null(outline_title(&o).p);
    outline_add(&o, BLOCK_HEADING, 3, SLICE_LIT("First"));
    outline_add(&o, BLOCK_HEADING, 1, SLICE_LIT("Second"));
    cr_assert(slice_is(outline_title(&o), "First"));
    dynbuf_add_text(&o.title, "Own");
    cr_assert(slice_is(outline_title(&o), "Own"));
    outline_done(&o);
}
