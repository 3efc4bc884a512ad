/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate ingest: progress on a terminal, a report of what was left out, all or nothing. */
#include "service/ingest/ingest.h"

#include "service/base/json_write.h"
#include "service/cli/options.h"

#include <stdio.h>
#include <unistd.h>

enum { REPORT_MAX_BYTES = 64 * 1024, SKIPS_SHOWN = 50 };

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
     "JSON lines with path, collection, doc_type, labels, published, title, source_url",
     OPTION_TEXT, offsetof(struct values, manifest), 0, 0},
    {"strict", NULL, "refuse the whole run if anything would be left out", OPTION_FLAG,
     offsetof(struct values, strict), 0, 0},
    {"json", NULL, "print the report as JSON", OPTION_FLAG, offsetof(struct values, json), 0, 0},
    {"quiet", NULL, "no progress and no list of what was left out", OPTION_FLAG,
     offsetof(struct values, quiet), 0, 0},
};

struct screen {
    const struct values *values;
    bool terminal;
    uint64_t skips;
    const char *phase;
    uint64_t percent;
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

static void on_skip(void *arg, const struct ingest_skip *skip)
{
    struct screen *s = arg;
    s->skips++;
    if (s->values->quiet || (s->skips > SKIPS_SHOWN && s->terminal)) {
        return;
    }
    fprintf(stderr, s->terminal ? "\r\033[K" : "");
    if (skip->line) {
        fprintf(stderr, "skipped %s:%llu: %s\n", skip->path, (unsigned long long)skip->line,
                skip->reason);
    } else {
        fprintf(stderr, "skipped %s: %s\n", skip->path, skip->reason);
    }
}

static void print_report(const struct ingest_report *r, bool json)
{
    if (!json) {
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
    json_object_end(&w);
    printf("%.*s\n", (int)out.n, out.p);
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
        .arg = &screen,
    };
    struct ingest_report report;
    struct err_detail detail = {""};
    bool good = ingest_run(&options, &report, &detail);
    if (screen.terminal) {
        fputs("\r\033[K", stderr);
    }
    if (!good) {
        return command_failed(&COMMAND_INGEST, detail.text);
    }
    print_report(&report, v.json);
    return EXIT_DONE;
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
                   "matter (title, date,\n"
                   "collection, doc_type, labels, source_url) works too. A service that runs takes "
                   "the new version up\n"
                   "within a second.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_ingest,
};
