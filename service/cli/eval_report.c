/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cli/eval_report.h"

#include "service/eval/output.h"

const char *eval_source_name(const struct eval_source *s)
{
    return s->store ? "store" : "url";
}

int64_t eval_source_depth(const struct eval_source *s)
{
    return s->as_served ? EVAL_SERVED_TOP_K : EVAL_DEPTH;
}

static void add_measures(struct json_writer *w, const struct measures *m)
{
    for (enum measure i = 0; i < N_MEASURES; i++) {
        json_member_fraction(w, measure_name(i), m->value[i]);
    }
}

static void add_set(struct json_writer *w, const struct eval_figures *f)
{
    json_key(w, "set");
    json_object_begin(w);
    json_member_text_z(w, "checksum", f->checksum);
    json_member_int(w, "queries", (int64_t)f->n_queries);
    json_member_int(w, "judgements", (int64_t)f->n_judgements);
    json_member_int(w, "unjudged_queries", (int64_t)f->n_unjudged);
    json_member_int(w, "unasked_queries", (int64_t)f->n_unasked);
    if (f->n_documents >= 0) {
        json_member_int(w, "documents", f->n_documents);
    }
    if (f->n_missing >= 0) {
        json_member_int(w, "missing_documents", f->n_missing);
    }
    json_object_end(w);
}

static void add_profile(struct json_writer *w, const struct option_texts *settings)
{
    if (settings->n == 0) {
        return;
    }
    json_key(w, "profile");
    json_array_begin(w);
    for (size_t i = 0; i < settings->n; i++) {
        json_text_z(w, settings->items[i]);
    }
    json_array_end(w);
}

static void add_interval(struct json_writer *w, const char *key, const struct interval *i)
{
    char room[64];
    struct dynbuf pair;
    dynbuf_init(&pair, sizeof(room));
    dynbuf_add_byte(&pair, '[');
    fraction_add(&pair, millionths(i->low), 6);
    dynbuf_add_byte(&pair, ',');
    fraction_add(&pair, millionths(i->high), 6);
    dynbuf_add_byte(&pair, ']');
    json_member_raw(w, key, dynbuf_get(&pair));
    dynbuf_done(&pair);
}

static void add_intervals(struct json_writer *w, const struct interval *intervals)
{
    json_key(w, "interval");
    json_object_begin(w);
    for (enum measure m = 0; m < N_MEASURES; m++) {
        add_interval(w, measure_name(m), &intervals[m]);
    }
    json_object_end(w);
}

static void add_paired(struct json_writer *w, const struct paired *p)
{
    if (!p) {
        return;
    }
    json_key(w, "against");
    json_object_begin(w);
    json_member_int(w, "num_q", (int64_t)p->n);
    add_measures(w, &p->difference);
    add_intervals(w, p->intervals);
    json_object_end(w);
}

static void add_totals(struct json_writer *w, const struct evaluation *e)
{
    int64_t n_ret = 0, n_rel = 0, n_rel_ret = 0;
    for (size_t i = 0; i < e->n; i++) {
        n_ret += e->results[i].n_ret;
        n_rel += e->results[i].n_rel;
        n_rel_ret += e->results[i].n_rel_ret;
    }
    json_member_int(w, "num_q", (int64_t)e->n);
    json_member_int(w, "num_ret", n_ret);
    json_member_int(w, "num_rel", n_rel);
    json_member_int(w, "num_rel_ret", n_rel_ret);
}

void eval_report_json(struct dynbuf *out, const struct eval_figures *f)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text_z(&w, "format", "kbgate-eval-retrieval/1");
    add_set(&w, f);
    json_member_text_z(&w, "source", eval_source_name(f->source));
    json_member_bool(&w, "as_served", f->source->as_served);
    json_member_int(&w, "depth", eval_source_depth(f->source));
    add_profile(&w, &f->source->profile);
    json_member_text_z(&w, "index_version", f->index_version);
    add_totals(&w, f->evaluation);
    json_member_int(&w, "empty", (int64_t)f->n_empty);
    json_member_int(&w, "refused", (int64_t)f->n_refused);
    json_member_int(&w, "excluded", (int64_t)f->n_excluded);
    add_measures(&w, &f->evaluation->mean);
    add_intervals(&w, f->evaluation->intervals);
    add_paired(&w, f->paired);
    if (f->held_out) {
        json_member_bool(&w, "held_out", true);
    }
    json_object_end(&w);
    dynbuf_add_byte(out, '\n');
}

static void add_count(struct dynbuf *out, const char *name, uint64_t value)
{
    dynbuf_add_text(out, name);
    dynbuf_add_int(out, (int64_t)value);
}

static void add_row(struct dynbuf *out, enum measure m, const struct measures *values,
                    const struct interval *intervals)
{
    char name[32];
    (void)snprintf(name, sizeof(name), "%-12s ", measure_name(m));
    dynbuf_add_text(out, name);
    fraction_add(out, millionths(values->value[m]), 4);
    dynbuf_add_text(out, "  ");
    fraction_add(out, millionths(intervals[m].low), 4);
    dynbuf_add_byte(out, ' ');
    fraction_add(out, millionths(intervals[m].high), 4);
    dynbuf_add_byte(out, '\n');
}

static void add_rows(struct dynbuf *out, const char *title, const struct measures *values,
                     const struct interval *intervals)
{
    dynbuf_add_text(out, title);
    for (enum measure m = 0; m < N_MEASURES; m++) {
        add_row(out, m, values, intervals);
    }
}

static const char *how(const struct eval_source *s)
{
    return s->url         ? "as served over HTTP: depth 20, so MRR, MAP and recall_100 end there"
           : s->as_served ? "as served: profile defaults, depth 20, so MRR, MAP and recall_100 end "
                            "there"
                          : "candidates to depth 1000, abstaining and caps off";
}

void eval_report_text(struct dynbuf *out, const struct eval_figures *f)
{
    add_count(out, "asked ", f->n_queries);
    add_count(out, " queries: ", f->n_empty);
    add_count(out, " empty, ", f->n_refused);
    add_count(out, " refused; averaged over ", f->evaluation->n);
    dynbuf_add_text(out, " judged ones\n");
    dynbuf_add_text(out, how(f->source));
    dynbuf_add_text(out, "\nindex_version ");
    dynbuf_add_text(out, f->index_version);
    add_rows(out, "\n\nmeasure      value   95 % interval\n", &f->evaluation->mean,
             f->evaluation->intervals);
    if (f->paired) {
        add_rows(out, "\nmeasure      paired difference and its 95 % interval\n",
                 &f->paired->difference, f->paired->intervals);
    }
}

void eval_report_query(struct dynbuf *out, struct slice query, const struct query_result *result,
                       enum eval_outcome outcome)
{
    static const char *const OUTCOMES[] = {"answered", "empty", "refused"};
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_text(&w, "id", query);
    json_member_text_z(&w, "outcome", OUTCOMES[outcome]);
    json_member_bool(&w, "judged", result != NULL);
    if (result) {
        json_member_int(&w, "num_ret", result->n_ret);
        json_member_int(&w, "num_rel", result->n_rel);
        json_member_int(&w, "num_rel_ret", result->n_rel_ret);
        add_measures(&w, &result->measures);
    }
    json_object_end(&w);
    dynbuf_add_byte(out, '\n');
}
