/* SPDX-License-Identifier: Apache-2.0 */
/* An answer names a document once for each of its passages, and under also_in those that hold the
 * same text: all of them are found, in this order. */
#include "service/cli/eval_engine.h"

#include <jansson.h>
#include <stdio.h>

struct slice chunk_id_doc(struct slice chunk_id)
{
    const char *first = memchr(chunk_id.p, '/', chunk_id.n);
    const char *last = memrchr(chunk_id.p, '/', chunk_id.n);
    return first && last > first ? (struct slice){first + 1, (size_t)(last - first) - 1} : chunk_id;
}

static struct slice text_of(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}

static bool take_result(const json_t *result, struct ranking *ranking)
{
    struct slice doc = text_of(json_object_get(result, "doc_id"));
    if (!doc.p) {
        return false;
    }
    ranking_add(ranking, doc);
    size_t i;
    json_t *also;
    json_array_foreach(json_object_get(result, "also_in"), i, also)
    {
        struct slice chunk = text_of(also);
        if (!chunk.p) {
            return false;
        }
        ranking_add(ranking, chunk_id_doc(chunk));
    }
    return true;
}

/* Figures over two versions of the corpus would be figures of neither. */
static bool same_version(struct eval_engine *e, const char *version, struct err_detail *detail)
{
    if (!*e->index_version) {
        (void)snprintf(e->index_version, sizeof(e->index_version), "%s", version);
    }
    if (strcmp(e->index_version, version) != 0) {
        err_detail_set(detail,
                       "index_version changed from %s to %s while measuring; run again when "
                       "nothing is published",
                       e->index_version, version);
        return false;
    }
    return true;
}

static bool take(struct eval_engine *e, const json_t *outcome, struct ranking *ranking,
                 enum eval_outcome *ret_outcome, struct err_detail *detail)
{
    const char *version = json_string_value(json_object_get(outcome, "index_version"));
    const json_t *results = json_object_get(outcome, "results");
    bool good = version && json_is_array(results);
    for (size_t i = 0; good && i < json_array_size(results); i++) {
        good = take_result(json_array_get(results, i), ranking);
    }
    if (!good) {
        err_detail_set(detail, "the answer is no outcome of kbgate's");
        return false;
    }
    *ret_outcome = ranking->docs.n ? EVAL_ANSWERED : EVAL_EMPTY;
    return same_version(e, version, detail);
}

bool eval_take_results(struct eval_engine *e, struct slice outcome, struct ranking *ranking,
                       enum eval_outcome *ret_outcome, struct err_detail *detail)
{
    json_t *parsed = json_loadb(outcome.p, outcome.n, JSON_ALLOW_NUL, NULL);
    bool good = take(e, parsed, ranking, ret_outcome, detail);
    json_decref(parsed);
    return good;
}
