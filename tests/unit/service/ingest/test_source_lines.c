/* SPDX-License-Identifier: Apache-2.0 */
/* However the lines are cut and whoever reads them, the same documents and skips come out. */
#include "service/ingest/source_lines.h"

#include <criterion/criterion.h>
#include <stdio.h>

struct reading {
    struct ingest_options options;
    struct ingest_report report;
    struct collect collect;
    struct fields defaults;
    struct walk_file file;
    struct source source;
    struct dynbuf skips; /* "line: reason" a line */
};

static void on_skip(void *arg, const struct ingest_skip *skip)
{
    struct reading *r = arg;
    cr_assert_str_eq(skip->path, "a.jsonl");
    dynbuf_add_int(&r->skips, (int64_t)skip->line);
    dynbuf_add_text(&r->skips, ": ");
    dynbuf_add_text(&r->skips, skip->reason);
    dynbuf_add_text(&r->skips, "\n");
}

static void start(struct reading *r)
{
    *r = (struct reading){.defaults = {.collection = SLICE_LIT("c"), .has_labels = true},
                          .file = {.relative = SLICE_LIT("a.jsonl"), .type = FILE_JSONL}};
    r->options = (struct ingest_options){.on_skip = on_skip, .arg = r};
    r->collect = (struct collect){.options = &r->options, .report = &r->report};
    r->source = (struct source){&r->collect, &r->defaults, &r->file, NULL};
    dynbuf_init(&r->skips, 1 << 24);
}

static void stop(struct reading *r)
{
    collect_done(&r->collect);
    dynbuf_done(&r->skips);
}

/* Every seventh line is broken, every eleventh names no doc_type, every thirteenth is blank. */
static void write_lines(struct dynbuf *out, size_t n)
{
    char line[2000];
    for (size_t i = 1; i <= n; i++) {
        int size = snprintf(line, sizeof(line), "{\"id\":\"%zu\",\"text\":\"caf\u00E9 %0*d\"%s}\n",
                            i, (int)(i % 1500), 7, i % 11 ? ",\"doc_type\":\"d\"" : "");
        struct slice text = {line, (size_t)size};
        text = i % 13 == 0 ? SLICE_LIT(" \r\n") : i % 7 == 0 ? slice_skip(text, 1) : text;
        dynbuf_add(out, text);
    }
}

static void expect_same(const struct reading *a, const struct reading *b)
{
    cr_assert(slice_eq(dynbuf_get(&a->skips), dynbuf_get(&b->skips)));
    cr_assert_eq(a->report.skipped, b->report.skipped);
    cr_assert_eq(a->collect.n, b->collect.n);
    for (size_t i = 0; i < a->collect.n; i++) {
        const struct document *x = &a->collect.docs[i], *y = &b->collect.docs[i];
        cr_assert_eq(x->line, y->line, "document %zu", i);
        cr_assert_str_eq(x->path, y->path);
        cr_assert(slice_eq(x->head.doc_id, y->head.doc_id), "document %zu", i);
        cr_assert_eq(x->n_chunks, 1);
        cr_assert(slice_eq(x->chunks[0].text, y->chunks[0].text), "document %zu", i);
    }
}

Test(source_lines, the_same_comes_out_however_the_lines_are_cut)
{
    enum { LINES = 3000 }; /* 2 MiB: several pieces */
    struct reading whole, single;
    struct dynbuf text;
    dynbuf_init(&text, 1 << 24);
    write_lines(&text, LINES);
    cr_assert_gt(text.n, 2 * 1024 * 1024);
    start(&whole);
    cr_assert_eq(source_read_lines(&whole.source, dynbuf_get(&text), 0), LINES);
    start(&single);
    struct slice rest = dynbuf_get(&text);
    for (uint64_t i = 0; i < LINES; i++) {
        size_t n = (size_t)((const char *)memchr(rest.p, '\n', rest.n) - rest.p) + 1;
        cr_assert_eq(source_read_lines(&single.source, (struct slice){rest.p, n}, i), 1);
        rest = slice_skip(rest, n);
    }
    expect_same(&whole, &single);
    cr_assert_gt(whole.collect.n, LINES / 2);
    cr_assert_eq(whole.report.skipped,
                 LINES / 7 - LINES / 91 + LINES / 11 - LINES / 143 - (LINES / 77 - LINES / 1001));
    stop(&whole);
    stop(&single);
    dynbuf_done(&text);
}

Test(source_lines, the_last_line_needs_no_end_and_nothing_gives_nothing)
{
    static const char TEXT[] = "{\"id\":\"x\",\"doc_type\":\"d\",\"text\":\"t\"}\n"
                               "{\"id\":\"y\",\"doc_type\":\"d\",\"text\":\"t\"}";
    struct reading r;
    start(&r);
    cr_expect_eq(source_read_lines(&r.source, SLICE_LIT(""), 5), 0);
    cr_expect_eq(r.collect.n, 0);
    cr_expect_eq(source_read_lines(&r.source, slice_of(TEXT), 5), 2);
    cr_assert_eq(r.collect.n, 2);
    cr_expect_eq(r.collect.docs[0].line, 6);
    cr_expect_eq(r.collect.docs[1].line, 7);
    cr_expect_eq(r.report.skipped, 0);
    stop(&r);
}
