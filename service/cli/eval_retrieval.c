/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate eval retrieval: asks every query of a set and measures the rankings. Everything that can
 * be wrong with the files is found before the first query is asked. */
#include "service/cli/eval_common.h"
#include "service/cli/eval_report.h"
#include "service/cli/visible.h"
#include "service/eval/gate.h"
#include "service/eval/lines.h"
#include "service/eval/output.h"
#include "service/eval/records.h"

#include <stdio.h>
#include <stdlib.h>

enum { OUTPUT_MAX_BYTES = 1024 * 1024 * 1024, REFUSALS_SHOWN = 5, N_FILES = 9 };

struct values {
    struct eval_source source;
    const char *queries, *qrels, *exclude, *frozen, *against;
    const char *run, *json, *per_query, *gate;
    bool held_out, force;
};

static const struct cli_option OPTIONS[] = {
    {"store", "DIR", "measure a store as its owner sees it", OPTION_TEXT,
     offsetof(struct values, source.store), 0, 0},
    {"url", "URL", "measure a running service: its /mcp address; depth 20", OPTION_TEXT,
     offsetof(struct values, source.url), 0, 0},
    {"token", "T", "bearer token, for --url (default: KBGATE_TOKEN)", OPTION_TEXT,
     offsetof(struct values, source.token), 0, 0},
    {"collection", "C", "ask in this collection only", OPTION_TEXT,
     offsetof(struct values, source.collection), 0, 0},
    {"queries", "F", "JSON lines with id and text", OPTION_TEXT, offsetof(struct values, queries),
     0, 0},
    {"qrels", "F", "judgements: query id, 0, document id, grade", OPTION_TEXT,
     offsetof(struct values, qrels), 0, 0},
    {"exclude", "F", "pairs of query id and document id to drop from the rankings", OPTION_TEXT,
     offsetof(struct values, exclude), 0, 0},
    {"as-served", NULL, "with --store: abstaining, caps and 20 results, as a client gets them",
     OPTION_FLAG, offsetof(struct values, source.as_served), 0, 0},
    {"profile", "KEY=N", "with --store: another value of the answer profile; may be repeated",
     OPTION_TEXTS, offsetof(struct values, source.profile), 0, 0},
    {"run", "OUT", "write the rankings as a TREC run", OPTION_TEXT, offsetof(struct values, run), 0,
     0},
    {"per-query", "OUT", "write the measures of each query as JSON lines", OPTION_TEXT,
     offsetof(struct values, per_query), 0, 0},
    {"json", "OUT", "write the figures as JSON; - is standard output, without the table",
     OPTION_TEXT, offsetof(struct values, json), 0, 0},
    {"against", "F", "compare query by query with a --per-query file of another run", OPTION_TEXT,
     offsetof(struct values, against), 0, 0},
    {"gate", "BASELINE", "exit 1 when a measure is below this file's minus its tolerance",
     OPTION_TEXT, offsetof(struct values, gate), 0, 0},
    {"frozen", "FILE", "refuse files that differ from this frozen set (kbgate eval freeze)",
     OPTION_TEXT, offsetof(struct values, frozen), 0, 0},
    {"held-out", NULL, "mark the --json file as a held-out result, which is written once",
     OPTION_FLAG, offsetof(struct values, held_out), 0, 0},
    {"force", NULL, "overwrite a recorded held-out result", OPTION_FLAG,
     offsetof(struct values, force), 0, 0},
};

/* A set as it was read, and what is made of it. */
struct job {
    const struct values *values;
    struct test_set set;
    struct dynbuf query_bytes, qrels_bytes, exclude_bytes, against_bytes;
    struct records queries;
    struct qrels qrels;
    struct exclusions exclusions;
    json_t *baseline;
    struct evaluation evaluation;
    struct eval_figures figures;
    struct paired paired;
    struct dynbuf run, per_query;
};

static bool read_set(struct job *job, struct err_detail *detail)
{
    const struct values *v = job->values;
    return test_set_read(&job->set, "queries", v->queries, &job->query_bytes, detail) &&
           test_set_read(&job->set, "qrels", v->qrels, &job->qrels_bytes, detail) &&
           (!v->exclude ||
            test_set_read(&job->set, "exclude", v->exclude, &job->exclude_bytes, detail)) &&
           (!v->frozen || frozen_check(v->frozen, &job->set, detail));
}

static bool parse_set(struct job *job, struct err_detail *detail)
{
    const struct values *v = job->values;
    return records_read(v->queries, dynbuf_get(&job->query_bytes), &job->queries, detail) &&
           qrels_read(v->qrels, dynbuf_get(&job->qrels_bytes), &job->qrels, detail) &&
           (!v->exclude ||
            exclusions_read(v->exclude, dynbuf_get(&job->exclude_bytes), &job->exclusions, detail));
}

/* The ranking without the documents that are excluded for this query. */
static void drop_excluded(struct job *job, struct slice query, struct ranking *ranking)
{
    struct ranking kept = {0};
    for (uint32_t i = 0; i < ranking->docs.n; i++) {
        if (exclusions_has(&job->exclusions, query, ranking->docs.ids[i])) {
            job->figures.n_excluded++;
        } else {
            ranking_add(&kept, ranking->docs.ids[i]);
        }
    }
    ranking_done(ranking);
    *ranking = kept;
}

static void take_ranking(struct job *job, const struct eval_record *query, struct ranking *ranking,
                         enum eval_outcome outcome)
{
    struct eval_figures *f = &job->figures;
    f->n_empty += outcome == EVAL_EMPTY;
    f->n_refused += outcome == EVAL_REFUSED;
    if (outcome == EVAL_REFUSED && f->n_refused <= REFUSALS_SHOWN) {
        eval_warn("%s:%llu: the service refuses query %s (empty, over 2,000 characters, without a "
                  "letter or digit, or with control characters); it counts as found nothing",
                  job->values->queries, (unsigned long long)query->line, query->id.p);
    }
    if (job->values->exclude) {
        drop_excluded(job, query->id, ranking);
    }
    const struct query_result *result = evaluation_take(&job->evaluation, query->id, ranking);
    f->n_unjudged += !result;
    if (job->values->run) {
        run_add(&job->run, query->id, ranking);
    }
    if (job->values->per_query) {
        eval_report_query(&job->per_query, query->id, result, outcome);
    }
}

static bool ask_all(struct job *job, struct eval_engine *engine, struct err_detail *detail)
{
    struct eval_progress progress = eval_progress_new("asked");
    bool good = true;
    for (size_t i = 0; good && i < job->queries.n; i++) {
        const struct eval_record *query = &job->queries.items[i];
        struct ranking ranking = {0};
        enum eval_outcome outcome = EVAL_EMPTY;
        eval_progress_show(&progress, i, job->queries.n);
        good = engine->ops->ask(engine, query->text, &ranking, &outcome, detail);
        if (good) {
            take_ranking(job, query, &ranking, outcome);
        }
        ranking_done(&ranking);
    }
    eval_progress_clear(&progress);
    return good;
}

static int64_t count_missing(const struct qrels *qrels, struct eval_engine *engine)
{
    int64_t missing = 0;
    if (!engine->ops->holds) {
        return -1;
    }
    for (uint32_t i = 0; i < qrels->docs.n; i++) {
        missing += !engine->ops->holds(engine, qrels->docs.ids[i]);
    }
    return missing;
}

static uint64_t count_unasked(const struct evaluation *e)
{
    uint64_t unasked = 0;
    for (size_t i = 0; i < e->n; i++) {
        unasked += !e->results[i].asked;
    }
    return unasked;
}

static void warn_of_gaps(const struct eval_figures *f)
{
    if (f->n_unjudged) {
        eval_warn("%llu queries have no judgement; they count nowhere, as in trec_eval",
                  (unsigned long long)f->n_unjudged);
    }
    if (f->n_unasked) {
        eval_warn("%llu judged queries are not in the queries file; they count 0, as in trec_eval "
                  "-c",
                  (unsigned long long)f->n_unasked);
    }
    if (f->n_missing > 0) {
        eval_warn("%lld judged documents are not in the store; the relevant ones count as not "
                  "found",
                  (long long)f->n_missing);
    }
}

static bool measure(struct job *job, struct err_detail *detail)
{
    const struct eval_source *source = &job->values->source;
    struct eval_engine *engine =
        source->store ? eval_store_open(source, detail) : eval_http_open(source, detail);
    if (!engine) {
        return false;
    }
    struct eval_figures *f = &job->figures;
    evaluation_init(&job->evaluation, &job->qrels);
    bool good = ask_all(job, engine, detail);
    if (good) {
        evaluation_finish(&job->evaluation);
        f->evaluation = &job->evaluation;
        f->n_missing = count_missing(&job->qrels, engine);
        f->n_documents = engine->n_documents;
        f->n_unasked = count_unasked(&job->evaluation);
        (void)snprintf(f->index_version, sizeof(f->index_version), "%s", engine->index_version);
        warn_of_gaps(f);
    }
    engine->ops->free(engine);
    return good;
}

static bool compare(struct job *job, struct err_detail *detail)
{
    if (!job->values->against) {
        return true;
    }
    job->figures.paired = &job->paired;
    return paired_compare(&job->evaluation, job->values->against, dynbuf_get(&job->against_bytes),
                          &job->paired, detail);
}

static bool write_outputs(struct job *job, struct err_detail *detail)
{
    const struct values *v = job->values;
    struct dynbuf json, text;
    dynbuf_init(&json, OUTPUT_MAX_BYTES);
    dynbuf_init(&text, OUTPUT_MAX_BYTES);
    eval_report_json(&json, &job->figures);
    eval_report_text(&text, &job->figures);
    if (eval_shows_text(v->json)) {
        (void)fwrite(text.p, 1, text.n, stdout);
    }
    bool good = eval_write(v->run, &job->run, detail) &&
                eval_write(v->per_query, &job->per_query, detail) &&
                eval_write(v->json, &json, detail);
    dynbuf_done(&json);
    dynbuf_done(&text);
    return good;
}

static void on_check(void *arg, enum measure m, int64_t wanted, int64_t tolerance, int64_t found)
{
    (void)arg;
    struct dynbuf line;
    dynbuf_init(&line, 256);
    dynbuf_add_text(&line, found < wanted - tolerance ? "gate FAILED: " : "gate ok: ");
    dynbuf_add_text(&line, measure_name(m));
    dynbuf_add_text(&line, " is ");
    fraction_add(&line, found, 6);
    dynbuf_add_text(&line, ", baseline ");
    fraction_add(&line, wanted, 6);
    dynbuf_add_text(&line, ", tolerance ");
    fraction_add(&line, tolerance, 6);
    fprintf(stderr, "%s\n", dynbuf_text(&line));
    dynbuf_done(&line);
}

static bool pass_gate(const struct job *job, struct err_detail *detail)
{
    if (!job->baseline) {
        return true;
    }
    const struct gate_figures found = {
        .measures = &job->evaluation.mean,
        .checksum = job->figures.checksum,
        .source = eval_source_name(&job->values->source),
        .as_served = job->values->source.as_served,
        .depth = eval_source_depth(&job->values->source),
        .n_documents = job->figures.n_documents,
    };
    struct gate_result result;
    struct err_detail why;
    if (!gate_check(job->baseline, &found, on_check, NULL, &result, &why)) {
        err_detail_set(detail, "%s: %.400s", job->values->gate, why.text);
        return false;
    }
    if (result.n_failed) {
        err_detail_set(detail, "%zu of %zu measures are below %s", result.n_failed,
                       result.n_checked, job->values->gate);
    }
    return result.n_failed == 0;
}

static bool run_job(struct job *job, struct err_detail *detail)
{
    const struct values *v = job->values;
    if (!read_set(job, detail) || !parse_set(job, detail)) {
        return false;
    }
    if (v->against && !eval_file_read(v->against, &job->against_bytes, detail)) {
        return false;
    }
    if (v->gate && !(job->baseline = json_file_read(v->gate, detail))) {
        return false;
    }
    job->figures = (struct eval_figures){.source = &v->source,
                                         .n_queries = job->queries.n,
                                         .n_judgements = job->qrels.n,
                                         .held_out = v->held_out};
    test_set_checksum(&job->set, job->figures.checksum);
    dynbuf_init(&job->run, OUTPUT_MAX_BYTES);
    dynbuf_init(&job->per_query, OUTPUT_MAX_BYTES);
    return measure(job, detail) && compare(job, detail) && write_outputs(job, detail) &&
           pass_gate(job, detail);
}

static void free_job(struct job *job)
{
    records_done(&job->queries);
    qrels_done(&job->qrels);
    exclusions_done(&job->exclusions);
    evaluation_done(&job->evaluation);
    json_decref(job->baseline);
    dynbuf_done(&job->query_bytes);
    dynbuf_done(&job->qrels_bytes);
    dynbuf_done(&job->exclude_bytes);
    dynbuf_done(&job->against_bytes);
    dynbuf_done(&job->run);
    dynbuf_done(&job->per_query);
}

static const char *usage_fault(const struct values *v)
{
    if (!!v->source.store + !!v->source.url != 1) {
        return "one of --store and --url is needed";
    }
    if (!v->queries || !v->qrels) {
        return "--queries and --qrels are needed";
    }
    if (v->source.url && (v->source.profile.n || v->source.as_served)) {
        return "--profile and --as-served go with --store: a service answers as it is configured";
    }
    if (v->held_out && !v->frozen) {
        return "--held-out needs --frozen";
    }
    return v->held_out && (!v->json || strcmp(v->json, "-") == 0)
               ? "--held-out needs --json FILE: the result is to be recorded"
               : NULL;
}

static void list_files(const struct values *v, struct eval_file ret_files[N_FILES])
{
    const struct eval_file files[N_FILES] = {
        {"--queries", v->queries, EVAL_FILE_READ},
        {"--qrels", v->qrels, EVAL_FILE_READ},
        {"--exclude", v->exclude, EVAL_FILE_READ},
        {"--frozen", v->frozen, EVAL_FILE_READ},
        {"--against", v->against, EVAL_FILE_READ},
        {"--gate", v->gate, EVAL_FILE_READ},
        {"--run", v->run, EVAL_FILE_WRITTEN},
        {"--per-query", v->per_query, EVAL_FILE_WRITTEN},
        {"--json", v->json, v->held_out ? EVAL_FILE_RECORDED : EVAL_FILE_WRITTEN},
    };
    memcpy(ret_files, files, sizeof(files));
}

static int run_retrieval(int argc, char **argv)
{
    struct values v = {.source.token = getenv("KBGATE_TOKEN")};
    int first;
    int result = options_parse(&EVAL_RETRIEVAL, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    const char *fault = first != argc ? "it takes no argument beside its options" : usage_fault(&v);
    if (fault) {
        return options_usage_error(&EVAL_RETRIEVAL, "%s", fault);
    }
    struct eval_file files[N_FILES];
    struct err_detail detail = {""};
    list_files(&v, files);
    if (!eval_source_check(&v.source, &detail)) {
        return options_usage_error(&EVAL_RETRIEVAL, "%s", detail.text);
    }
    result = eval_files_check(&EVAL_RETRIEVAL, files, N_FILES, v.force);
    if (result >= 0) {
        return result;
    }
    v.source.as_served = v.source.as_served || v.source.url;
    struct job job = {.values = &v};
    bool good = run_job(&job, &detail);
    free_job(&job);
    return good ? EXIT_DONE : command_failed(&EVAL_RETRIEVAL, detail.text);
}

const struct command EVAL_RETRIEVAL = {
    .name = "eval retrieval",
    .arguments = "--store DIR | --url URL [--token T] --queries F --qrels F [OPTION…]",
    .summary = "nDCG@10, Recall, MRR and MAP of a store or a service",
    .description =
        "Asks each query and compares the documents found with the judgements, as trec_eval -c "
        "defines the measures\n"
        "(ndcg_cut_10, recall_1 … recall_100, recip_rank, map): averaged over the judged queries, "
        "where one that found\n"
        "nothing counts 0; grades above 0 are relevant and the gain of nDCG; documents that are "
        "not judged are not\n"
        "relevant. A document is its doc_id, at the place of its first passage; the documents that "
        "hold the very same\n"
        "text (also_in) come directly behind it. Intervals are 95 % bootstrap intervals over the "
        "queries, seeded.\n"
        "--against takes two runs query by query and gives the mean difference (this minus "
        "the other) with its interval:\n"
        "where that holds 0, the set does not tell them apart.\n\n"
        "With --store the candidate list is taken to depth 1,000, with abstaining and caps off "
        "unless --as-served;\n"
        "with --url, /v1/search is asked with top_k 20, retryable answers are waited for. A corpus "
        "of JSON lines with\n"
        "id, title and text goes in with kbgate ingest --store DIR --collection C --doc-type T "
        "--label L FILE.\n\n"
        "A baseline is a file that --json wrote, or a JSON object with some of its measures, and "
        "perhaps \"tolerance\"\n"
        "(default 0.005; a number, or an object by measure). Where it has them, its "
        "set.checksum (of --queries, --qrels\n"
        "and --exclude), set.documents (how many the store holds, so that it is the same corpus), "
        "source, as_served and\n"
        "depth have to be those of this run.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_retrieval,
};
