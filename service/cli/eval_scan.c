/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate eval scan: the scanner of suspicious passages over texts whose nature is known. */
#include "service/cli/eval_common.h"
#include "service/cli/visible.h"
#include "service/eval/output.h"
#include "service/eval/scan_figures.h"
#include "service/eval/test_set.h"
#include "service/retrieval/scan.h"

#include <stdio.h>

enum { OUTPUT_MAX_BYTES = 256 * 1024 * 1024 };

struct values {
    const char *positives, *benign, *half, *verdicts, *json, *gate, *frozen;
    bool held_out, force;
};

static const struct cli_option OPTIONS[] = {
    {"positives", "F", "texts that give orders to a model: JSON lines with id and text",
     OPTION_TEXT, offsetof(struct values, positives), 0, 0},
    {"benign", "F", "texts that do not", OPTION_TEXT, offsetof(struct values, benign), 0, 0},
    {"half", "0-7|8-f", "texts whose group's SHA-256 begins with these digits only", OPTION_TEXT,
     offsetof(struct values, half), 0, 0},
    {"verdicts", "OUT", "write what was said of each text as JSON lines", OPTION_TEXT,
     offsetof(struct values, verdicts), 0, 0},
    {"json", "OUT", "write the figures as JSON; - is standard output, without the table",
     OPTION_TEXT, offsetof(struct values, json), 0, 0},
    {"gate", "FILE", "exit 1 when a bound of this file does not hold", OPTION_TEXT,
     offsetof(struct values, gate), 0, 0},
    {"frozen", "FILE", "refuse files that differ from this frozen set", OPTION_TEXT,
     offsetof(struct values, frozen), 0, 0},
    {"held-out", NULL, "mark the --json file as a held-out result, which is written once",
     OPTION_FLAG, offsetof(struct values, held_out), 0, 0},
    {"force", NULL, "overwrite a recorded held-out result", OPTION_FLAG,
     offsetof(struct values, force), 0, 0},
};

struct job {
    const struct values *values;
    enum scan_half half;
    struct test_set set;
    struct dynbuf positive_bytes, benign_bytes, verdicts;
    struct records positives, benign;
    struct scan_figures figures;
    json_t *gate;
    char checksum[CHECKSUM_CHARS + 1];
};

static void add_verdict(struct dynbuf *out, const struct eval_record *r, bool positive,
                        const char *rule)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text(&w, "id", r->id);
    json_member_bool(&w, "positive", positive);
    if (r->category.p) {
        json_member_text(&w, "category", r->category);
    }
    if (r->difficulty.p) {
        json_member_text(&w, "difficulty", r->difficulty);
    }
    json_member_bool(&w, "suspicious", rule != NULL);
    if (rule) {
        json_member_text_z(&w, "rule", rule);
    }
    json_object_end(&w);
    dynbuf_add_byte(out, '\n');
}

static void scan_all(struct job *job, const struct records *records, bool positive)
{
    struct scan_class *class = positive ? &job->figures.positives : &job->figures.benign;
    struct eval_progress progress = eval_progress_new(positive ? "positives" : "benign");
    for (size_t i = 0; i < records->n; i++) {
        const struct eval_record *r = &records->items[i];
        eval_progress_show(&progress, i, records->n);
        if (scan_half_has(job->half, r)) {
            const char *rule = NULL;
            bool flagged = scan_passage(r->text, &rule);
            scan_class_add(class, r, flagged);
            add_verdict(&job->verdicts, r, positive, flagged ? (rule ? rule : "") : NULL);
        }
    }
    eval_progress_clear(&progress);
}

static void write_json(struct dynbuf *out, const struct job *job)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text_z(&w, "format", "kbgate-eval-scan/1");
    json_key(&w, "set");
    json_object_begin(&w);
    json_member_text_z(&w, "checksum", job->checksum);
    json_object_end(&w);
    if (job->values->half) {
        json_member_text_z(&w, "half", job->values->half);
    }
    json_member_int(&w, "rules_version", SCAN_RULES_VERSION);
    json_member_int(&w, "positives", (int64_t)job->figures.positives.all.n);
    json_member_int(&w, "benign", (int64_t)job->figures.benign.all.n);
    scan_figures_json(&w, &job->figures);
    if (job->values->held_out) {
        json_member_bool(&w, "held_out", true);
    }
    json_object_end(&w);
    dynbuf_add_byte(out, '\n');
}

static void add_figure(struct dynbuf *out, const char *name, double value)
{
    dynbuf_add_text(out, name);
    fraction_add(out, millionths(value), 4);
}

static void add_row(struct dynbuf *out, struct slice name, struct scan_tally t)
{
    char counts[80];
    (void)snprintf(counts, sizeof(counts), "  %5llu/%-5llu ", (unsigned long long)t.flagged,
                   (unsigned long long)t.n);
    dynbuf_add_text(out, counts);
    fraction_add(out, millionths(scan_share(t)), 4);
    dynbuf_add_text(out, "  ");
    visible_add(out, name.n ? name : SLICE_LIT("(none)"));
    dynbuf_add_byte(out, '\n');
}

static void add_rows(struct dynbuf *out, const char *title, const struct scan_class *c,
                     bool by_category)
{
    const struct id_map *names = by_category ? &c->categories : &c->difficulties;
    dynbuf_add_text(out, title);
    for (uint32_t i = 0; i < names->n; i++) {
        add_row(out, names->ids[i], scan_class_sum(c, by_category, i));
    }
}

static void print_figures(const struct scan_figures *f)
{
    struct dynbuf out;
    dynbuf_init(&out, OUTPUT_MAX_BYTES);
    add_figure(&out, "precision ", scan_precision(f));
    add_figure(&out, "  recall ", scan_recall(f));
    add_figure(&out, "  F1 ", scan_f1(f));
    add_figure(&out, "  FPR ", scan_fpr(f));
    add_rows(&out, "\n\npositives marked, by difficulty\n", &f->positives, false);
    add_rows(&out, "\npositives marked, by category\n", &f->positives, true);
    add_rows(&out, "\nbenign texts marked, by category\n", &f->benign, true);
    (void)fwrite(out.p, 1, out.n, stdout);
    dynbuf_done(&out);
}

static void on_check(void *arg, const char *figure, struct slice rule, int64_t found, bool holds)
{
    (void)arg;
    struct dynbuf line;
    dynbuf_init(&line, SIZE_MAX);
    dynbuf_add_text(&line, holds ? "gate ok: " : "gate FAILED: ");
    dynbuf_add_text(&line, figure);
    dynbuf_add_text(&line, " is ");
    fraction_add(&line, found, 6);
    dynbuf_add_text(&line, ", bound ");
    dynbuf_add(&line, rule);
    fprintf(stderr, "%s\n", dynbuf_text(&line));
    dynbuf_done(&line);
}

/* Whether the gate is of these files and this half, as far as it tells. */
static bool same_subject(const struct job *job, struct err_detail *detail)
{
    const json_t *half = json_object_get(job->gate, "half");
    const json_t *sum = json_object_get(json_object_get(job->gate, "set"), "checksum");
    const char *mine = job->values->half ? job->values->half : "";
    if (half && (!json_is_string(half) || strcmp(json_string_value(half), mine) != 0)) {
        err_detail_set(detail, "%s: half: the gate is of another half", job->values->gate);
        return false;
    }
    if (sum && (!json_is_string(sum) || strcmp(json_string_value(sum), job->checksum) != 0)) {
        err_detail_set(detail,
                       "%s: set.checksum: the gate is of other files than these, which are "
                       "%s",
                       job->values->gate, job->checksum);
        return false;
    }
    return true;
}

static bool pass_gate(const struct job *job, struct err_detail *detail)
{
    if (!job->gate) {
        return true;
    }
    uint64_t failed = 0;
    struct err_detail why = {""};
    if (!same_subject(job, detail)) {
        return false;
    }
    if (!scan_gate(job->gate, &job->figures, on_check, NULL, &failed, &why)) {
        err_detail_set(detail, "%s: %.400s", job->values->gate, why.text);
        return false;
    }
    if (failed) {
        err_detail_set(detail, "%llu bounds of %s do not hold", (unsigned long long)failed,
                       job->values->gate);
    }
    return failed == 0;
}

static bool read_all(struct job *job, struct err_detail *detail)
{
    const struct values *v = job->values;
    return test_set_read(&job->set, "positives", v->positives, &job->positive_bytes, detail) &&
           test_set_read(&job->set, "benign", v->benign, &job->benign_bytes, detail) &&
           (!v->frozen || frozen_check(v->frozen, &job->set, detail)) &&
           records_read(v->positives, dynbuf_get(&job->positive_bytes), &job->positives, detail) &&
           records_read(v->benign, dynbuf_get(&job->benign_bytes), &job->benign, detail) &&
           (!v->gate || (job->gate = json_file_read(v->gate, detail)) != NULL);
}

static bool run_job(struct job *job, struct err_detail *detail)
{
    const struct values *v = job->values;
    if (!read_all(job, detail)) {
        return false;
    }
    struct dynbuf json;
    dynbuf_init(&json, OUTPUT_MAX_BYTES);
    dynbuf_init(&job->verdicts, OUTPUT_MAX_BYTES);
    test_set_checksum(&job->set, job->checksum);
    scan_all(job, &job->positives, true);
    scan_all(job, &job->benign, false);
    write_json(&json, job);
    if (eval_shows_text(v->json)) {
        print_figures(&job->figures);
    }
    bool good = eval_write(v->verdicts, &job->verdicts, detail) &&
                eval_write(v->json, &json, detail) && pass_gate(job, detail);
    dynbuf_done(&json);
    return good;
}

static void free_job(struct job *job)
{
    scan_class_done(&job->figures.positives);
    scan_class_done(&job->figures.benign);
    records_done(&job->positives);
    records_done(&job->benign);
    dynbuf_done(&job->positive_bytes);
    dynbuf_done(&job->benign_bytes);
    dynbuf_done(&job->verdicts);
    json_decref(job->gate);
}

static int run_scan(int argc, char **argv)
{
    struct values v = {0};
    int first;
    int result = options_parse(&EVAL_SCAN, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    struct job job = {.values = &v};
    const char *fault = first != argc               ? "it takes no argument beside its options"
                        : !v.positives || !v.benign ? "--positives and --benign are needed"
                        : v.half && !scan_half_parse(v.half, &job.half) ? "--half takes 0-7 or 8-f"
                        : v.held_out && !v.frozen ? "--held-out needs --frozen"
                        : v.held_out && (!v.json || strcmp(v.json, "-") == 0)
                            ? "--held-out needs --json FILE: the result is to be recorded"
                            : NULL;
    if (fault) {
        return options_usage_error(&EVAL_SCAN, "%s", fault);
    }
    const struct eval_file files[] = {
        {"--positives", v.positives, EVAL_FILE_READ},
        {"--benign", v.benign, EVAL_FILE_READ},
        {"--frozen", v.frozen, EVAL_FILE_READ},
        {"--gate", v.gate, EVAL_FILE_READ},
        {"--verdicts", v.verdicts, EVAL_FILE_WRITTEN},
        {"--json", v.json, v.held_out ? EVAL_FILE_RECORDED : EVAL_FILE_WRITTEN},
    };
    const size_t n = sizeof(files) / sizeof(files[0]);
    struct err_detail detail = {""};
    result = eval_files_check(&EVAL_SCAN, files, n, v.force);
    if (result >= 0) {
        return result;
    }
    bool good = run_job(&job, &detail);
    free_job(&job);
    return good ? EXIT_DONE : command_failed(&EVAL_SCAN, detail.text);
}

const struct command EVAL_SCAN = {
    .name = "eval scan",
    .arguments = "--positives F --benign F [OPTION…]",
    .summary = "precision, recall, F1 and FPR of the scanner of suspicious passages",
    .description =
        "Records have id and text; category, difficulty and group where they are known. Recall is "
        "the share of positives\n"
        "that are marked, FPR that of benign texts; a figure whose divisor is 0 is 0. --half "
        "leaves one half to write rules\n"
        "on and the other to measure on; variants of a text have one group (without it, the id "
        "counts).\n\n"
        "A gate is a JSON object of lists of bounds, and perhaps \"half\" and \"set\":\n"
        "  {\"recall\": [{\"difficulty\": [\"medium\", \"mixed\"], \"at_least\": 0.6}],\n"
        "   \"fpr\": [{\"at_most\": 0.01}, {\"category\": [\"email*\"], \"at_most\": 0.03}],\n"
        "   \"precision\": [{\"at_least\": 0.9}], \"half\": \"8-f\"}\n"
        "category and difficulty choose texts, which are counted together; a * at the end stands "
        "for any rest. A bound that\n"
        "chooses no text is an error.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_scan,
};
