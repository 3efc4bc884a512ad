/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate eval abstain: how many queries are answered `empty`. Asked with queries whose answer the
 * corpus lacks it is one point of a trade-off curve; eval retrieval --as-served gives the other
 * side. */
#include "service/base/json_write.h"
#include "service/cli/eval_common.h"
#include "service/cli/eval_report.h"
#include "service/eval/output.h"
#include "service/eval/records.h"

#include <stdio.h>
#include <stdlib.h>

enum { REPORT_MAX_BYTES = 1024 * 1024 };

struct values {
    struct eval_source source;
    const char *queries, *frozen, *json;
    bool force;
};

static const struct cli_option OPTIONS[] = {
    {"store", "DIR", "ask a store, as its owner sees it", OPTION_TEXT,
     offsetof(struct values, source.store), 0, 0},
    {"url", "URL", "ask a running service: its /mcp address", OPTION_TEXT,
     offsetof(struct values, source.url), 0, 0},
    {"token", "T", "bearer token, for --url (default: KBGATE_TOKEN)", OPTION_TEXT,
     offsetof(struct values, source.token), 0, 0},
    {"collection", "C", "ask in this collection only", OPTION_TEXT,
     offsetof(struct values, source.collection), 0, 0},
    {"queries", "F", "JSON lines with id and text", OPTION_TEXT, offsetof(struct values, queries),
     0, 0},
    {"profile", "KEY=N", "with --store: another value of the answer profile; may be repeated",
     OPTION_TEXTS, offsetof(struct values, source.profile), 0, 0},
    {"json", "OUT", "write the counts as JSON; - is standard output", OPTION_TEXT,
     offsetof(struct values, json), 0, 0},
    {"frozen", "FILE", "refuse a queries file that differs from this frozen set", OPTION_TEXT,
     offsetof(struct values, frozen), 0, 0},
    {"force", NULL, "overwrite a recorded held-out result", OPTION_FLAG,
     offsetof(struct values, force), 0, 0},
};

struct counts {
    uint64_t asked, by_outcome[3]; /* by enum eval_outcome */
    char index_version[64];
};

static bool ask_all(const struct values *v, const struct records *queries, struct counts *c,
                    struct err_detail *detail)
{
    struct eval_engine *engine =
        v->source.store ? eval_store_open(&v->source, detail) : eval_http_open(&v->source, detail);
    if (!engine) {
        return false;
    }
    struct eval_progress progress = eval_progress_new("asked");
    bool good = true;
    for (size_t i = 0; good && i < queries->n; i++) {
        struct ranking ranking = {0};
        enum eval_outcome outcome = EVAL_EMPTY;
        eval_progress_show(&progress, i, queries->n);
        good = engine->ops->ask(engine, queries->items[i].text, &ranking, &outcome, detail);
        c->asked += good;
        c->by_outcome[outcome] += good;
        ranking_done(&ranking);
    }
    eval_progress_clear(&progress);
    (void)snprintf(c->index_version, sizeof(c->index_version), "%s", engine->index_version);
    engine->ops->free(engine);
    return good;
}

static double empty_share(const struct counts *c)
{
    return (double)c->by_outcome[EVAL_EMPTY] / (double)c->asked;
}

static void write_json(struct dynbuf *out, const struct values *v, const struct counts *c,
                       const char *checksum)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text_z(&w, "format", "kbgate-eval-abstain/1");
    json_key(&w, "set");
    json_object_begin(&w);
    json_member_text_z(&w, "checksum", checksum);
    json_object_end(&w);
    json_member_text_z(&w, "source", eval_source_name(&v->source));
    json_member_text_z(&w, "index_version", c->index_version);
    json_member_int(&w, "asked", (int64_t)c->asked);
    json_member_int(&w, "answered", (int64_t)c->by_outcome[EVAL_ANSWERED]);
    json_member_int(&w, "empty", (int64_t)c->by_outcome[EVAL_EMPTY]);
    json_member_int(&w, "refused", (int64_t)c->by_outcome[EVAL_REFUSED]);
    json_member_fraction(&w, "empty_share", empty_share(c));
    json_object_end(&w);
    dynbuf_add_byte(out, '\n');
}

static void print_counts(const struct counts *c)
{
    struct dynbuf share;
    dynbuf_init(&share, 32);
    fraction_add(&share, millionths(empty_share(c)), 4);
    printf("asked %llu queries: %llu empty (%s), %llu answered, %llu refused\nindex_version %s\n",
           (unsigned long long)c->asked, (unsigned long long)c->by_outcome[EVAL_EMPTY],
           dynbuf_text(&share), (unsigned long long)c->by_outcome[EVAL_ANSWERED],
           (unsigned long long)c->by_outcome[EVAL_REFUSED], c->index_version);
    dynbuf_done(&share);
}

static bool report(const struct values *v, const struct counts *c, const struct test_set *set,
                   struct err_detail *detail)
{
    char checksum[CHECKSUM_CHARS + 1];
    struct dynbuf out;
    dynbuf_init(&out, REPORT_MAX_BYTES);
    test_set_checksum(set, checksum);
    write_json(&out, v, c, checksum);
    if (eval_shows_text(v->json)) {
        print_counts(c);
    }
    bool good = eval_write(v->json, &out, detail);
    dynbuf_done(&out);
    return good;
}

static bool count(const struct values *v, struct err_detail *detail)
{
    struct test_set set = {.n = 0};
    struct dynbuf bytes;
    struct records queries = {.n = 0};
    struct counts counts = {0};
    dynbuf_init(&bytes, 0);
    bool good = test_set_read(&set, "queries", v->queries, &bytes, detail) &&
                (!v->frozen || frozen_check(v->frozen, &set, detail)) &&
                records_read(v->queries, dynbuf_get(&bytes), &queries, detail) &&
                ask_all(v, &queries, &counts, detail) && report(v, &counts, &set, detail);
    records_done(&queries);
    dynbuf_done(&bytes);
    return good;
}

static int run_abstain(int argc, char **argv)
{
    struct values v = {.source.token = getenv("KBGATE_TOKEN"), .source.as_served = true};
    int first;
    int result = options_parse(&EVAL_ABSTAIN, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    const char *fault = first != argc ? "it takes no argument beside its options"
                        : !!v.source.store + !!v.source.url != 1
                            ? "one of --store and --url is needed"
                        : !v.queries ? "--queries is needed"
                        : v.source.url && v.source.profile.n
                            ? "--profile goes with --store: a service answers as it is configured"
                            : NULL;
    if (fault) {
        return options_usage_error(&EVAL_ABSTAIN, "%s", fault);
    }
    const struct eval_file files[] = {
        {"--queries", v.queries, EVAL_FILE_READ},
        {"--frozen", v.frozen, EVAL_FILE_READ},
        {"--json", v.json, EVAL_FILE_WRITTEN},
    };
    const size_t n = sizeof(files) / sizeof(files[0]);
    struct err_detail detail = {""};
    if (!eval_source_check(&v.source, &detail)) {
        return options_usage_error(&EVAL_ABSTAIN, "%s", detail.text);
    }
    result = eval_files_check(&EVAL_ABSTAIN, files, n, v.force);
    if (result >= 0) {
        return result;
    }
    return count(&v, &detail) ? EXIT_DONE : command_failed(&EVAL_ABSTAIN, detail.text);
}

const struct command EVAL_ABSTAIN = {
    .name = "eval abstain",
    .arguments = "--store DIR | --url URL [--token T] --queries F [OPTION…]",
    .summary = "how many queries are answered `empty`",
    .description =
        "Asks each query as a client would and counts the outcomes. With queries whose answer the "
        "corpus does not\n"
        "hold, the share of empty answers should be high; with the corpus's own queries it should "
        "be low, and what\n"
        "abstaining costs there is the difference of eval retrieval --as-served with and without "
        "it (--profile).",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_abstain,
};
