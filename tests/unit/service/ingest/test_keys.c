/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/keys.h"

#include <criterion/criterion.h>

Test(keys, knows_the_three_that_decide_who_reads)
{
    cr_expect(key_decides(SLICE_LIT("labels")));
    cr_expect(key_decides(SLICE_LIT("collection")));
    cr_expect(key_decides(SLICE_LIT("doc_type")));
    cr_expect_not(key_decides(SLICE_LIT("title")));
    cr_expect_not(key_decides(SLICE_LIT("Labels")));
    cr_expect_not(key_decides(SLICE_LIT("")));
}

Test(keys, one_slip_is_seen)
{
    static const struct {
        const char *key, *meant;
    } cases[] = {
        {"lables", "labels"},
        {"label", "labels"},
        {"lable", "labels"},
        {"Labels", "labels"},
        {"LABELS", "labels"},
        {"labelss", "labels"},
        {"labls", "labels"},
        {"kabels", "labels"},
        {"labels ", "labels"},
        {"labels:", "labels"},
        {"l\xD0\xB0"
         "bels",
         "labels"}, /* a Cyrillic letter */
        {"Collection", "collection"},
        {"collections", "collection"},
        {"colection", "collection"},
        {"docType", "doc_type"},
        {"doc-type", "doc_type"},
        {"doctype", "doc_type"},
        {"doc_types", "doc_type"},
        {"doc_tpye", "doc_type"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        const char *meant = key_meant(slice_of(cases[i].key));
        cr_expect(meant && strcmp(meant, cases[i].meant) == 0, "%s", cases[i].key);
    }
}

Test(keys, other_words_are_no_slips)
{
    static const char *const others[] = {
        "",      "labels",     "collection", "doc_type", "title", "levels", "level",  "tables",
        "table", "connection", "correction", "type",     "tags",  "id",     "doc_id", "text",
        "body",  "context",    "category",   "document", "url",   "author", "layout", "slug",
    };
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        cr_expect_null(key_meant(slice_of(others[i])), "%s", others[i]);
    }
    cr_expect_null(key_meant(SLICE_LIT("labelslabelslabelslabels")));
    cr_expect_null(key_meant(SLICE_LIT("\xFF\xFF\xFF\xFF\xFF")));
}
