/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/front_matter.h"

#include <criterion/criterion.h>

Test(front_matter, is_found_only_between_two_lines_at_the_head)
{
    static const struct {
        const char *text;
        size_t size;
    } cases[] = {
        {"", 0},
        {"text", 0},
        {"---\ntitle: x\n---\ntext", 17},
        {"---\ntitle: x\n...\ntext", 17},
        {"---  \n---  ", 11},
        {"---\n", 0},
        {"---\nno end\n", 0},
        {"\n---\ntitle: x\n---\n", 0},
        {"----\ntitle: x\n----\n", 0},
        {" ---\na: b\n---\n", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(front_matter_size(slice_of(cases[i].text)), cases[i].size, "case %zu: %zu", i,
                     front_matter_size(slice_of(cases[i].text)));
    }
}

struct reading {
    struct arena arena;
    struct fields f;
    uint64_t line;
    char reason[FIELD_REASON_BYTES];
};

static bool read(struct reading *r, const char *text)
{
    *r = (struct reading){0};
    struct slice front = slice_of(text);
    cr_assert_eq(front_matter_size(front), front.n, "%s", text);
    return front_matter_read(front, &r->arena, &r->f, &r->line, r->reason);
}

Test(front_matter, reads_its_own_keys)
{
    struct reading r;
    cr_assert(read(&r, "---\ntitle: \"A: title\"\npublished: 2024-05-06\ncollection: c\n"
                       "doc_type: t\nlabels: [hr, public]\nsource_url: https://e.org/\n---\n"),
              "%s", r.reason);
    cr_expect(slice_is(r.f.title, "A: title"));
    cr_expect(slice_is(r.f.published, "2024-05-06"));
    cr_expect(slice_is(r.f.collection, "c"));
    cr_expect(slice_is(r.f.doc_type, "t"));
    cr_expect(slice_is(r.f.source_url, "https://e.org/"));
    cr_assert_eq(r.f.n_labels, 2);
    cr_expect(slice_is(r.f.labels[0], "hr"));
    arena_done(&r.arena);
}

Test(front_matter, labels_in_every_form_of_a_list)
{
    static const char *const texts[] = {
        "---\nlabels: [hr]\n---\n",
        "---\nlabels:\n  - hr\n---\n",
        "---\nlabels:\n- hr\n---\n",
        "---\nlabels: hr\n---\n",
        "---\n\"labels\": [hr]\n---\n",
        "---\ntags: [x]\nlabels: [\n  hr\n  ]\n---\n",
        "---\n# note\nlabels:\n\n- hr\nother: 1\n---\n",
        "---\n  labels: [hr]\n---\n",
        "---\nauthor: y\n labels: [hr]\n---\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct reading r;
        cr_expect(read(&r, texts[i]), "case %zu: %s", i, r.reason);
        cr_expect(r.f.has_labels, "case %zu", i);
        cr_assert_eq(r.f.n_labels, 1, "case %zu", i);
        cr_expect(slice_is(r.f.labels[0], "hr"), "case %zu", i);
        arena_done(&r.arena);
    }
}

Test(front_matter, foreign_entries_need_not_be_in_our_yaml)
{
    struct reading r;
    cr_assert(read(&r, "---\nlayout: null\nempty:\ntags: &a [x]\nmore: *a\n"
                       "text: |\n  title: not this\n  labels: [not]\n"
                       "list:\n- labels: [not]\nlayout: again\ntitle: This\n---\n"),
              "%s", r.reason);
    cr_expect(slice_is(r.f.title, "This"));
    cr_expect_not(r.f.has_labels);
    arena_done(&r.arena);
}

Test(front_matter, dates)
{
    static const struct {
        const char *text, *date; /* NULL: not said */
    } cases[] = {
        {"---\ndate: 2024-05-06\n---\n", "2024-05-06"},
        {"---\ndate: 2024-05-06 10:00:00 +0200\n---\n", "2024-05-06"},
        {"---\ndate: 2024-05-06T10:00:00Z\n---\n", "2024-05-06"},
        {"---\ndate: May 6, 2024\n---\n", NULL},
        {"---\ndate: 2024-05-061\n---\n", NULL},
        {"---\ndate: 2024-05-06\npublished: 2020-01-01\n---\n", "2020-01-01"},
        {"---\npublished: 2020-01-01\ndate: 2024-05-06\n---\n", "2020-01-01"},
        {"---\npublished: true\ndate: 2024-05-06\n---\n", "2024-05-06"},
        {"---\npublished: soon\n---\n", "soon"}, /* refused where documents are resolved */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;
        cr_expect(read(&r, cases[i].text), "case %zu: %s", i, r.reason);
        cr_expect(cases[i].date ? slice_is(r.f.published, cases[i].date) : !r.f.published.p,
                  "case %zu", i);
        arena_done(&r.arena);
    }
}

Test(front_matter, what_could_hide_a_label_is_refused_with_its_line)
{
    static const struct {
        const char *text;
        uint64_t line;
    } cases[] = {
        {"---\ntitle: x\nlabels: [hr\n---\n", 0},
        {"---\nlabels: [hr]\nlabels: [public]\n---\n", 3},
        {"---\ntitle: x\nlabels: {hr: 1}\n---\n", 3},
        {"---\ntitle: [a, b]\n---\n", 2},
        {"---\nlabels:\n---\n", 2},
        {"---\nlabels: [[hr]]\n---\n", 2},
        {"---\n{labels: [hr]\n---\n", 0},
        {"---\nlables: [hr]\n---\n", 2},
        {"---\ntitle: x\nLabels: [hr]\n---\n", 3},
        {"---\nlabel: hr\n---\n", 2},
        {"---\n\"lables\": [hr]\n---\n", 2},
        {"---\nlables : [hr]\n---\n", 2},
        {"---\nlabels:[hr]\n---\n", 0},
        {"---\nl\xD0\xB0"
         "bels: [hr]\n---\n",
         2},
        {"---\ndocType: t\n---\n", 2},
        {"---\nCollection: c\n---\n", 2},
        {"---\n  lables: [hr]\n---\n", 2},
        {"---\n- labels: [hr]\n---\n", 0},
        {"---\ntitle: x\nauthor: y\n labels: [hr]\n---\n", 0},
        {"---\nlabels: [hr]\n----\ntext\n---\n", 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct reading r;
        cr_expect_not(read(&r, cases[i].text), "case %zu", i);
        cr_expect_gt(strlen(r.reason), 0, "case %zu", i);
        cr_expect(cases[i].line == 0 || cases[i].line == r.line, "case %zu: line %llu, %s", i,
                  (unsigned long long)r.line, r.reason);
        arena_done(&r.arena);
    }
}

Test(front_matter, what_would_be_overlooked_is_seen)
{
    static const struct {
        const char *text;
        uint64_t markdown, other; /* the line; 0: nothing */
    } cases[] = {
        {"---\nlabels: [hr]\n\ntext", 2, 2},
        {"---\nlabels: [hr]\n----\ntext", 2, 2},
        {"---\nauthor: me\n\n  lables = [hr]\n", 4, 4},
        {"---\ntitle: x\n\ntext", 2, 0},
        {"---\nDate: x\n\ntext", 2, 0},
        {"\n \n---\nlabels: [hr]\n---\ntext", 4, 4},
        {"\n---\ntitle: x\n---\ntext", 3, 0},
        {"----\nlabels: [hr]\n----\n", 2, 2},
        {" ---\nlabels: [hr]\n---\n", 2, 2},
        {"---\t\nlabels: [hr]\n---\n", 2, 2},
        {"--- # note\n'doc_type' : t\n---\n", 2, 2},
        {"+++\nlabels = [\"hr\"]\n+++\ntext", 2, 2},
        {"\xE2\x80\x94\nlabels: hr\n\xE2\x80\x94\n", 2, 2},
        {"<!-- licence\n-->\n\n---\nlabels: [hr]\n---\ntext", 5, 5},
        {"<!-- x --> \n---\nlabels: [hr]\n---\ntext", 3, 3},
        {"labels: [hr]\n---\ntext", 1, 1},
        {"collection: hr\n\ntext", 1, 1},
        {"", 0, 0},
        {"\n\n", 0, 0},
        {"---\n", 0, 0},
        {"---\ntext\n\nmore", 0, 0},
        {"---\nauthor: me\nlayout: x\n\ntext", 0, 0},
        {"---\nauthor: me\n----\nlabels: in the text", 0, 0},
        {"# Title\n\n---\n\nlabels: in the text\n", 0, 0},
        {"Labels: what they are and why\n", 0, 0},
        {"text\nlabels: [hr]\n", 0, 0},
        {"- labels: [hr]\n", 0, 0},
        {"<!-- never ends\n---\nlabels: [hr]\n", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char reason[FIELD_REASON_BYTES] = "";
        uint64_t line = 0;
        struct slice text = slice_of(cases[i].text);
        bool seen = front_matter_is_missed(text, true, &line, reason);
        cr_expect_eq(seen ? line : 0, cases[i].markdown, "case %zu: %llu", i,
                     (unsigned long long)line);
        cr_expect_eq(seen, strlen(reason) > 0);
        line = 0;
        seen = front_matter_is_missed(text, false, &line, reason);
        cr_expect_eq(seen ? line : 0, cases[i].other, "case %zu: %llu", i,
                     (unsigned long long)line);
    }
}
