/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate ingest: progress on a terminal, a report of what was left out, all or nothing. Names of
 * files are their authors' choice: they are printed through visible.h alone. */
#include "service/ingest/ingest.h"

#include "service/base/json_write.h"
#include "service/cli/options.h"
#include "service/cli/visible.h"

#include <stdio.h>
#include <unistd.h>

enum { REPORT_MAX_BYTES = 64 * 1024 * 1024, SKIPS_SHOWN = 50, SKIPS_IN_JSON = 1000 };

struct values {
    const char *store, *manifest, *collection, *doc_type;
    struct option_texts labels;
    bool strict, json, quiet;
};

static const struct cli_option OPTIONS[] = {
    {"store", "DIR", "the store's folder; made if it is not there", OPTION_TEXT,
     offsetof(struct values, store), 0, 0},
    {"collection", "C", "collection of documents that name none", OPTION_TEXT,
     offsetof(struct values, collection), 0, 0},
    {"doc-type", "T", "document type of documents that name none", OPTION_TEXT,
     offsetof(struct values, doc_type), 0, 0},
    {"label", "L", "label of documents that name none; may be repeated", OPTION_TEXTS,
     offsetof(struct values, labels), 0, 0},
    {"manifest", "FILE",
     "JSON lines with path, id, collection, doc_type, labels, published, title, source_url",
     OPTION_TEXT, offsetof(struct values, manifest), 0, 0},
    {"strict", NULL, "refuse the whole run (exit 1) if anything would be left out", OPTION_FLAG,
     offsetof(struct values, strict), 0, 0},
    {"json", NULL, "print the report as JSON, with the first 1,000 skipped_items", OPTION_FLAG,
     offsetof(struct values, json), 0, 0},
    {"quiet", NULL, "no progress and no list of what was left out; warnings stay", OPTION_FLAG,
     offsetof(struct values, quiet), 0, 0},
};

struct screen {
    const struct values *values;
    bool terminal;
    uint64_t skips;
    const char *phase;
    uint64_t percent;
    struct dynbuf items; /* of the JSON report: what was skipped */
    struct json_writer list;
};

static void on_progress(void *arg, const char *phase, uint64_t done, uint64_t total)
{
    struct screen *s = arg;
    uint64_t percent = total ? done * 100 / total : 100;
    if (!s->terminal || (s->phase == phase && s->percent == percent)) {
        return;
    }
    s->phase = phase;
    s->percent = percent;
    fprintf(stderr, "\r\033[K%s %llu/%llu", phase, (unsigned long long)done,
            (unsigned long long)total);
}

static void clear_progress(const struct screen *s)
{
    if (s->terminal) {
        fputs("\r\033[K", stderr);
    }
}

static void member_visible(struct json_writer *w, const char *key, const char *text)
{
    struct dynbuf value;
    dynbuf_init(&value, SIZE_MAX);
    visible_add_json(&value, slice_of(text));
    json_member_raw(w, key, dynbuf_get(&value));
    dynbuf_done(&value);
}

static void list_skip(struct screen *s, const struct ingest_skip *skip)
{
    json_object_begin(&s->list);
    member_visible(&s->list, "path", skip->path);
    json_member_int(&s->list, "line", (int64_t)skip->line);
    member_visible(&s->list, "reason", skip->reason);
    json_object_end(&s->list);
}

static void on_skip(void *arg, const struct ingest_skip *skip)
{
    struct screen *s = arg;
    s->skips++;
    if (s->values->json && s->skips <= SKIPS_IN_JSON) {
        list_skip(s, skip);
    }
    if (s->values->quiet || (s->skips > SKIPS_SHOWN && s->terminal)) {
        return;
    }
    clear_progress(s);
    fputs("skipped ", stderr);
    visible_print(stderr, skip->path);
    if (skip->line) {
        fprintf(stderr, ":%llu", (unsigned long long)skip->line);
    }
    fputs(": ", stderr);
    visible_print(stderr, skip->reason);
    fputc('\n', stderr);
}

static void on_warning(void *arg, const char *text)
{
    clear_progress(arg);
    fputs("warning: ", stderr);
    visible_print(stderr, text);
    fputc('\n', stderr);
}

static void print_report(const struct ingest_report *r, struct screen *s)
{
    if (!s->values->json) {
        printf("ingested %llu documents (%llu chunks) from %llu files, %llu skipped; %llu of %llu "
               "partitions "
               "built; generation %s\n",
               (unsigned long long)r->documents, (unsigned long long)r->chunks,
               (unsigned long long)r->files, (unsigned long long)r->skipped,
               (unsigned long long)r->built, (unsigned long long)r->partitions, r->generation);
        return;
    }
    struct dynbuf out;
    dynbuf_init(&out, REPORT_MAX_BYTES);
    struct json_writer w = json_writer_on(&out);
    json_object_begin(&w);
    json_member_int(&w, "files", (int64_t)r->files);
    json_member_int(&w, "skipped", (int64_t)r->skipped);
    json_member_int(&w, "documents", (int64_t)r->documents);
    json_member_int(&w, "chunks", (int64_t)r->chunks);
    json_member_int(&w, "partitions", (int64_t)r->partitions);
    json_member_int(&w, "built", (int64_t)r->built);
    json_member_text_z(&w, "generation", r->generation);
    json_array_end(&s->list);
    json_member_raw(&w, "skipped_items", dynbuf_get(&s->items));
    json_object_end(&w);
    dynbuf_add_byte(&out, '\n');
    (void)fwrite(out.p, 1, out.n, stdout);
    dynbuf_done(&out);
}

static int run_ingest(int argc, char **argv)
{
    struct values v = {0};
    int first;
    int result = options_parse(&COMMAND_INGEST, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    if (!v.store || first == argc) {
        return options_usage_error(&COMMAND_INGEST, "%s",
                                   v.store ? "name at least one PATH" : "--store DIR is needed");
    }
    struct screen screen = {.values = &v, .terminal = !v.quiet && isatty(STDERR_FILENO)};
    const struct ingest_options options = {
        .store_dir = v.store,
        .paths = (const char *const *)(argv + first),
        .n_paths = (size_t)(argc - first),
        .manifest = v.manifest,
        .collection = v.collection,
        .doc_type = v.doc_type,
        .labels = v.labels.items,
        .n_labels = v.labels.n,
        .strict = v.strict,
        .on_progress = on_progress,
        .on_skip = on_skip,
        .on_warning = on_warning,
        .arg = &screen,
    };
    struct ingest_report report;
    struct err_detail detail = {""};
    dynbuf_init(&screen.items, REPORT_MAX_BYTES);
    screen.list = json_writer_on(&screen.items);
    json_array_begin(&screen.list);
    bool good = ingest_run(&options, &report, &detail);
    clear_progress(&screen);
    if (good) {
        print_report(&report, &screen);
    }
    dynbuf_done(&screen.items);
    return good ? EXIT_DONE : command_failed(&COMMAND_INGEST, detail.text);
}

const struct command COMMAND_INGEST = {
    .name = "ingest",
    .arguments = "--store DIR PATH…",
    .summary = "read files and publish them as a new version of the store",
    .description = "Reads Markdown, HTML, plain text and JSON lines from folders or files, cuts "
                   "them into passages and\n"
                   "publishes them all or not at all. A run replaces every collection it brings "
                   "documents for; other\n"
                   "collections stay. A folder's manifest.jsonl is used where there is one; front "
                   "matter (title,\n"
                   "published or date, collection, doc_type, labels, source_url) works too. A "
                   "service that runs takes the\n"
                   "new version up within a second.\n\n"
                   "Exit code 0 does not say that every file went in: what cannot be read, or "
                   "leaves doubt about who may\n"
                   "read it, is skipped and listed on stderr, and the rest is published. --strict "
                   "refuses such a run.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_ingest,
};
