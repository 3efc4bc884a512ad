/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate eval lint: every fault of a test set with its place. */
#include "service/base/json_write.h"
#include "service/cli/eval_common.h"
#include "service/cli/visible.h"
#include "service/eval/lint.h"
#include "service/eval/test_set.h"

#include <stdio.h>

enum { REPORT_MAX_BYTES = 64 * 1024 * 1024, ITEMS_IN_JSON = 1000, SHOWN_OF_A_KIND = 20 };

struct values {
    const char *queries, *corpus, *qrels, *frozen, *json;
    bool strict, force;
};

static const struct cli_option OPTIONS[] = {
    {"queries", "F", "JSON lines with id and text", OPTION_TEXT, offsetof(struct values, queries),
     0, 0},
    {"corpus", "F", "JSON lines with id, title and text", OPTION_TEXT,
     offsetof(struct values, corpus), 0, 0},
    {"qrels", "F", "judgements: query id, 0, document id, grade", OPTION_TEXT,
     offsetof(struct values, qrels), 0, 0},
    {"json", "OUT", "write the findings as JSON, the first 1,000 one by one; - is standard output",
     OPTION_TEXT, offsetof(struct values, json), 0, 0},
    {"frozen", "FILE", "refuse files that differ from this frozen set", OPTION_TEXT,
     offsetof(struct values, frozen), 0, 0},
    {"strict", NULL, "exit 1 for any finding", OPTION_FLAG, offsetof(struct values, strict), 0, 0},
    {"force", NULL, "overwrite a recorded held-out result", OPTION_FLAG,
     offsetof(struct values, force), 0, 0},
};

struct screen {
    struct lint_counts counts;
    uint64_t shown[N_LINT_KINDS], listed;
    struct dynbuf items;
    struct json_writer list;
};

static void member_visible(struct json_writer *w, const char *key, struct slice text)
{
    struct dynbuf value;
    if (!text.p) {
        return;
    }
    dynbuf_init(&value, SIZE_MAX);
    visible_add_json(&value, text);
    json_member_raw(w, key, dynbuf_get(&value));
    dynbuf_done(&value);
}

static void list_finding(struct screen *s, const struct lint_finding *f)
{
    json_object_begin(&s->list);
    json_member_text_z(&s->list, "kind", lint_name(f->kind));
    member_visible(&s->list, "file", slice_of(f->path));
    json_member_int(&s->list, "line", (int64_t)f->line);
    member_visible(&s->list, "id", f->id);
    member_visible(&s->list, f->id.p ? "document" : "reason", f->more);
    json_object_end(&s->list);
}

static void show_finding(const struct lint_finding *f)
{
    struct dynbuf line;
    dynbuf_init(&line, SIZE_MAX);
    visible_add(&line, slice_of(f->path));
    dynbuf_add_byte(&line, ':');
    dynbuf_add_int(&line, (int64_t)f->line);
    dynbuf_add_text(&line, ": ");
    dynbuf_add_text(&line, lint_name(f->kind));
    if (f->id.p) {
        dynbuf_add_byte(&line, ' ');
        visible_add(&line, f->id);
    }
    if (f->more.p) {
        dynbuf_add_text(&line, f->id.p ? " " : ": ");
        visible_add(&line, f->more);
    }
    fprintf(stderr, "%s\n", dynbuf_text(&line));
    dynbuf_done(&line);
}

static void on_finding(void *arg, const struct lint_finding *f)
{
    struct screen *s = arg;
    if (s->listed < ITEMS_IN_JSON) {
        s->listed++;
        list_finding(s, f);
    }
    if (s->shown[f->kind]++ < SHOWN_OF_A_KIND) {
        show_finding(f);
    }
}

static void print_counts(const struct lint_counts *c)
{
    printf("%llu queries, %llu documents, %llu judgements\n", (unsigned long long)c->n_queries,
           (unsigned long long)c->n_documents, (unsigned long long)c->n_judgements);
    for (enum lint_kind k = 0; k < N_LINT_KINDS; k++) {
        if (c->findings[k]) {
            printf("%llu %s%s: %s\n", (unsigned long long)c->findings[k], lint_name(k),
                   lint_is_fatal(k) ? " (fatal)" : "", lint_what(k));
        }
    }
}

static void write_json(struct dynbuf *out, struct screen *s)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text_z(&w, "format", "kbgate-eval-lint/1");
    json_member_int(&w, "queries", (int64_t)s->counts.n_queries);
    json_member_int(&w, "documents", (int64_t)s->counts.n_documents);
    json_member_int(&w, "judgements", (int64_t)s->counts.n_judgements);
    json_member_int(&w, "fatal", (int64_t)s->counts.n_fatal);
    json_key(&w, "findings");
    json_object_begin(&w);
    for (enum lint_kind k = 0; k < N_LINT_KINDS; k++) {
        json_member_int(&w, lint_name(k), (int64_t)s->counts.findings[k]);
    }
    json_object_end(&w);
    json_member_raw(&w, "items", dynbuf_get(&s->items));
    json_object_end(&w);
    dynbuf_add_byte(out, '\n');
}

static bool is_clean(const struct values *v, const struct lint_counts *c, struct err_detail *detail)
{
    uint64_t n = 0;
    for (enum lint_kind k = 0; k < N_LINT_KINDS; k++) {
        n += lint_is_fatal(k) || v->strict ? c->findings[k] : 0;
    }
    if (n) {
        err_detail_set(detail, "%llu findings that figures should not be made with%s",
                       (unsigned long long)n, v->strict ? "" : " (fatal)");
    }
    return n == 0;
}

static bool report(const struct values *v, struct screen *s, struct err_detail *detail)
{
    struct dynbuf out;
    dynbuf_init(&out, REPORT_MAX_BYTES);
    json_array_end(&s->list);
    write_json(&out, s);
    if (eval_shows_text(v->json)) {
        print_counts(&s->counts);
    }
    bool good = eval_write(v->json, &out, detail) && is_clean(v, &s->counts, detail);
    dynbuf_done(&out);
    return good;
}

static bool lint(const struct values *v, struct err_detail *detail)
{
    struct test_set set = {.n = 0};
    struct dynbuf queries = {0}, corpus = {0}, qrels = {0};
    struct screen s = {.listed = 0};
    dynbuf_init(&s.items, REPORT_MAX_BYTES);
    s.list = json_writer_on(&s.items);
    json_array_begin(&s.list);
    bool good = test_set_read(&set, "queries", v->queries, &queries, detail) &&
                test_set_read(&set, "corpus", v->corpus, &corpus, detail) &&
                (!v->qrels || test_set_read(&set, "qrels", v->qrels, &qrels, detail)) &&
                (!v->frozen || frozen_check(v->frozen, &set, detail));
    if (good) {
        const struct lint_file q = {v->queries, dynbuf_get(&queries)};
        const struct lint_file c = {v->corpus, dynbuf_get(&corpus)};
        const struct lint_file j = {v->qrels, dynbuf_get(&qrels)};
        lint_set(&q, &c, &j, on_finding, &s, &s.counts);
        good = report(v, &s, detail);
    }
    dynbuf_done(&s.items);
    dynbuf_done(&queries);
    dynbuf_done(&corpus);
    dynbuf_done(&qrels);
    return good;
}

static int run_lint(int argc, char **argv)
{
    struct values v = {0};
    int first;
    int result = options_parse(&EVAL_LINT, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    if (!v.queries || !v.corpus || first != argc) {
        return options_usage_error(&EVAL_LINT, "%s",
                                   first != argc ? "it takes no argument beside its options"
                                                 : "--queries and --corpus are needed");
    }
    const struct eval_file files[] = {
        {"--queries", v.queries, EVAL_FILE_READ}, {"--corpus", v.corpus, EVAL_FILE_READ},
        {"--qrels", v.qrels, EVAL_FILE_READ},     {"--frozen", v.frozen, EVAL_FILE_READ},
        {"--json", v.json, EVAL_FILE_WRITTEN},
    };
    const size_t n = sizeof(files) / sizeof(files[0]);
    struct err_detail detail = {""};
    result = eval_files_check(&EVAL_LINT, files, n, v.force);
    if (result >= 0) {
        return result;
    }
    return lint(&v, &detail) ? EXIT_DONE : command_failed(&EVAL_LINT, detail.text);
}

const struct command EVAL_LINT = {
    .name = "eval lint",
    .arguments = "--queries F --corpus F [--qrels F] [--json OUT]",
    .summary = "what is wrong with a set of queries, documents and judgements",
    .description =
        "Lists findings as FILE:LINE: KIND ID, the first 20 of each kind, and counts them all.\n"
        "Fatal, exit code 1: malformed, duplicate_id, duplicate_judgement, empty_query, "
        "missing_document, missing_query.\n"
        "To be known: empty_document, unjudged_query, no_relevant, and quotes_title, a query in "
        "which "
        "the words of a relevant\n"
        "document's title stand one behind the other (folded and stemmed): such a query measures "
        "how titles are found.\n"
        "What needs judgements is looked for with --qrels only.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_lint,
};
