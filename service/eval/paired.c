/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/paired.h"

#include "service/base/mem.h"
#include "service/eval/lines.h"

#include <jansson.h>
#include <stdlib.h>

struct pairing {
    const struct evaluation *e;
    struct query_result *differences; /* by number of the query; asked: it has its pair */
    const char *path;
    struct err_detail *detail;
};

/* The other's values taken from ours; false where a measure is missing. */
static bool subtract(struct query_result *ret_difference, const struct query_result *mine,
                     const json_t *other)
{
    for (enum measure m = 0; m < N_MEASURES; m++) {
        const json_t *value = json_object_get(other, measure_name(m));
        if (!json_is_number(value)) {
            return false;
        }
        ret_difference->measures.value[m] = mine->measures.value[m] - json_number_value(value);
    }
    ret_difference->asked = true;
    return true;
}

static bool take(struct pairing *p, uint64_t line, const json_t *other)
{
    const json_t *id = json_object_get(other, "id");
    if (!json_is_string(id)) {
        return line_refuse(p->detail, p->path, line, "no JSON object with the id of a query");
    }
    uint32_t q = id_map_find(&p->e->qrels->queries,
                             (struct slice){json_string_value(id), json_string_length(id)});
    if (q == ID_NONE) {
        return true; /* not judged: it counts nowhere */
    }
    if (p->differences[q].asked) {
        return line_refuse(p->detail, p->path, line, "the query stands on an earlier line already");
    }
    return subtract(&p->differences[q], &p->e->results[q], other) ||
           line_refuse(p->detail, p->path, line,
                       "a measure is missing; write the file with "
                       "--per-query");
}

static bool take_all(struct pairing *p, struct slice bytes)
{
    for (uint64_t n = 1; bytes.n; n++) {
        struct slice line = line_next(&bytes);
        if (slice_is_blank(line)) {
            continue;
        }
        const char *fault = line_fault(line);
        if (fault) {
            return line_refuse(p->detail, p->path, n, fault);
        }
        json_t *other = json_loadb(line.p, line.n, JSON_REJECT_DUPLICATES, NULL);
        bool good = take(p, n, other);
        json_decref(other);
        if (!good) {
            return false;
        }
    }
    return true;
}

/* A query that only one of the two was asked has no difference. */
static bool all_have_pairs(const struct pairing *p)
{
    for (uint32_t q = 0; q < p->e->n; q++) {
        if (p->e->results[q].asked != p->differences[q].asked) {
            struct slice id = p->e->qrels->queries.ids[q];
            err_detail_set(p->detail, "%s: query %.*s was asked in one of the two runs only",
                           p->path, (int)id.n, id.p);
            return false;
        }
    }
    return true;
}

static bool finish(const struct pairing *p, struct paired *ret_paired)
{
    struct query_result *asked = mem_array(p->e->n, sizeof(*asked));
    for (size_t q = 0; q < p->e->n; q++) {
        if (p->differences[q].asked) {
            asked[ret_paired->n++] = p->differences[q];
        }
    }
    for (size_t m = 0; m < N_MEASURES && ret_paired->n; m++) {
        double sum = 0;
        for (size_t i = 0; i < ret_paired->n; i++) {
            sum += asked[i].measures.value[m];
        }
        ret_paired->difference.value[m] = sum / (double)ret_paired->n;
    }
    if (ret_paired->n) {
        bootstrap(asked, ret_paired->n, ret_paired->intervals);
    } else {
        err_detail_set(p->detail, "%s: no judged query in common", p->path);
    }
    free(asked);
    return ret_paired->n > 0;
}

bool paired_compare(const struct evaluation *e, const char *path, struct slice bytes,
                    struct paired *ret_paired, struct err_detail *detail)
{
    *ret_paired = (struct paired){0};
    struct pairing p = {e, mem_array(e->n, sizeof(struct query_result)), path, detail};
    bool good = take_all(&p, bytes) && all_have_pairs(&p) && finish(&p, ret_paired);
    free(p.differences);
    return good;
}
