/* SPDX-License-Identifier: Apache-2.0 */
/* Figures are compared as the millionths that a file holds, so that a report is always good enough
 * for itself. */
#include "service/eval/gate.h"

#include "service/eval/output.h"

/* What else a report holds; see the report of eval retrieval. */
static const char *const FOREIGN[] = {
    "format",    "set",     "source",  "as_served", "depth",    "profile",     "index_version",
    "tolerance", "num_q",   "num_ret", "num_rel",   "measures", "num_rel_ret", "interval",
    "empty",     "against", "note",    "refused",   "excluded", "held_out",
};

static bool is_measure(const char *key)
{
    for (enum measure m = 0; m < N_MEASURES; m++) {
        if (strcmp(key, measure_name(m)) == 0) {
            return true;
        }
    }
    return false;
}

static bool is_known(const char *key)
{
    for (size_t i = 0; i < sizeof(FOREIGN) / sizeof(FOREIGN[0]); i++) {
        if (strcmp(key, FOREIGN[i]) == 0) {
            return true;
        }
    }
    return is_measure(key);
}

static bool check_keys(const json_t *baseline, struct err_detail *detail)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)baseline, key, value)
    {
        if (!is_known(key)) {
            err_detail_set(detail,
                           "%.64s: no member of a baseline; see kbgate eval retrieval "
                           "--help",
                           key);
            return false;
        }
    }
    json_object_foreach(json_object_get(baseline, "measures"), key, value)
    {
        if (!is_measure(key)) {
            err_detail_set(detail, "measures.%.64s: no measure; see kbgate eval retrieval --help",
                           key);
            return false;
        }
    }
    return true;
}

/* A number from 0 to 1 as millionths; absent is good and leaves *ret_value. */
static bool read_fraction(const json_t *value, const char *key, int64_t *ret_value,
                          struct err_detail *detail)
{
    if (!value) {
        return true;
    }
    double number = json_number_value(value);
    if (!json_is_number(value) || !(number >= 0 && number <= 1)) {
        err_detail_set(detail, "%s: write a number from 0 to 1", key);
        return false;
    }
    *ret_value = millionths(number);
    return true;
}

static bool same_text(const json_t *baseline, const char *key, const char *found,
                      struct err_detail *detail)
{
    const json_t *value = json_object_get(baseline, key);
    const char *text = json_string_value(value);
    if (value && (!text || strcmp(text, found) != 0)) {
        err_detail_set(detail, "%s: the baseline is of %s, these figures are of %s", key,
                       text ? text : "something else", found);
        return false;
    }
    return true;
}

static bool same_files(const json_t *set, const char *checksum, struct err_detail *detail)
{
    const json_t *value = json_object_get(set, "checksum");
    const char *text = json_string_value(value);
    if (value && (!text || strcmp(text, checksum) != 0)) {
        err_detail_set(detail,
                       "set.checksum: the baseline is of other files than these: --queries, "
                       "--qrels or --exclude differ (%.64s there, %s here)",
                       text ? text : "no text", checksum);
        return false;
    }
    return true;
}

/* Their number, since it stands however texts are analysed or ranked. */
static bool same_corpus(const json_t *set, int64_t n_documents, struct err_detail *detail)
{
    const json_t *value = json_object_get(set, "documents");
    if (!value || n_documents < 0) {
        return true;
    }
    if (!json_is_integer(value) || json_integer_value(value) != n_documents) {
        err_detail_set(detail,
                       "set.documents: the store holds another corpus than the baseline's: %lld "
                       "documents, not %lld",
                       (long long)n_documents, (long long)json_integer_value(value));
        return false;
    }
    return true;
}

/* Whether the baseline is of the same files, measured in the same way, as far as it tells. */
static bool same_subject(const json_t *baseline, const struct gate_figures *f,
                         struct err_detail *detail)
{
    const json_t *served = json_object_get(baseline, "as_served");
    const json_t *depth = json_object_get(baseline, "depth");
    if (served && json_is_true(served) != f->as_served) {
        err_detail_set(detail, "as_served: the baseline was measured %s --as-served",
                       json_is_true(served) ? "with" : "without");
        return false;
    }
    if (depth && json_integer_value(depth) != f->depth) {
        err_detail_set(detail, "depth: the baseline is of depth %lld, these figures are of %lld",
                       (long long)json_integer_value(depth), (long long)f->depth);
        return false;
    }
    const json_t *set = json_object_get(baseline, "set");
    return same_text(baseline, "source", f->source, detail) &&
           same_files(set, f->checksum, detail) && same_corpus(set, f->n_documents, detail);
}

static bool tolerance_of(const json_t *baseline, enum measure m, int64_t *ret_tolerance,
                         struct err_detail *detail)
{
    const json_t *value = json_object_get(baseline, "tolerance");
    *ret_tolerance = millionths(GATE_TOLERANCE_DEFAULT);
    if (json_is_object(value)) {
        value = json_object_get(value, measure_name(m));
    }
    return read_fraction(value, "tolerance", ret_tolerance, detail);
}

bool gate_check(const json_t *baseline, const struct gate_figures *figures,
                void (*on_check)(void *arg, enum measure m, int64_t wanted, int64_t tolerance,
                                 int64_t found),
                void *arg, struct gate_result *ret_result, struct err_detail *detail)
{
    *ret_result = (struct gate_result){0};
    if (!check_keys(baseline, detail) || !same_subject(baseline, figures, detail)) {
        return false;
    }
    const json_t *nested = json_object_get(baseline, "measures");
    for (enum measure m = 0; m < N_MEASURES; m++) {
        int64_t wanted = -1, tolerance = 0;
        const json_t *value = json_object_get(nested ? nested : baseline, measure_name(m));
        if (!read_fraction(value, measure_name(m), &wanted, detail) ||
            !tolerance_of(baseline, m, &tolerance, detail)) {
            return false;
        }
        if (wanted >= 0) {
            int64_t found = millionths(figures->measures->value[m]);
            ret_result->n_checked++;
            ret_result->n_failed += found < wanted - tolerance;
            on_check(arg, m, wanted, tolerance, found);
        }
    }
    if (ret_result->n_checked == 0) {
        err_detail_set(detail, "no measure in it, so it would hold for anything");
    }
    return ret_result->n_checked > 0;
}
