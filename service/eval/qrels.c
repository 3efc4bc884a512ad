/* SPDX-License-Identifier: Apache-2.0 */
/* trec_eval refuses a document that is judged twice for one query, and so does this: which of two
 * grades counts would be a guess. */
#include "service/eval/qrels.h"

#include "service/base/mem.h"
#include "service/eval/lines.h"

#include <stdlib.h>

enum { COLUMNS = 4 };

/* Splits the line; one column more than `want` is noticed, the rest is not looked at. */
static size_t split(struct slice line, size_t want, struct slice *columns)
{
    bool tabs = memchr(line.p, '\t', line.n) != NULL;
    size_t n = 0, at = 0;
    while (at <= line.n && n <= want) {
        size_t end = at;
        while (end < line.n && line.p[end] != (tabs ? '\t' : ' ')) {
            end++;
        }
        if (tabs || end > at) {
            columns[n++] = (struct slice){line.p + at, end - at};
        }
        at = end + 1;
    }
    return n;
}

static bool read_grade(struct slice text, int32_t *ret_grade)
{
    bool negative = text.n && text.p[0] == '-';
    int32_t value = 0;
    if (negative) {
        text = slice_skip(text, 1);
    }
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return false;
        }
        value = 10 * value + (text.p[i] - '0');
        if (value > GRADE_MAX) {
            return false;
        }
    }
    *ret_grade = negative ? -value : value;
    return text.n > 0;
}

static bool is_id(struct slice id)
{
    return id.n > 0 && id.n <= EVAL_ID_MAX_BYTES;
}

static const char *parse(struct slice line, struct slice *columns, int32_t *ret_grade)
{
    const char *fault = line_fault(line);
    if (fault) {
        return fault;
    }
    if (split(line, COLUMNS, columns) != COLUMNS) {
        return "four columns are needed: query id, 0, document id, grade";
    }
    if (!is_id(columns[0]) || !is_id(columns[2])) {
        return "an id has to be 1 to 512 bytes long";
    }
    return read_grade(columns[3], ret_grade) ? NULL
                                             : "the grade has to be a whole number from -1000 to "
                                               "1000";
}

static struct slice without_mark(struct slice bytes)
{
    return slice_starts(bytes, SLICE_LIT("\xEF\xBB\xBF")) ? slice_skip(bytes, 3) : bytes;
}

void qrels_each(struct slice bytes,
                void (*on_line)(void *arg, uint64_t line, struct slice query, struct slice doc,
                                int32_t grade, const char *reason),
                void *arg)
{
    bytes = without_mark(bytes);
    for (uint64_t n = 1; bytes.n; n++) {
        struct slice line = line_next(&bytes), columns[COLUMNS + 1] = {{0}};
        int32_t grade = 0;
        if (!slice_is_blank(line)) {
            const char *reason = parse(line, columns, &grade);
            on_line(arg, n, columns[0], columns[2], grade, reason);
        }
    }
}

struct reading {
    const char *path;
    struct qrels *qrels;
    struct err_detail *detail;
    bool bad;
};

static void on_line(void *arg, uint64_t line, struct slice query, struct slice doc, int32_t grade,
                    const char *reason)
{
    struct reading *r = arg;
    struct qrels *q = r->qrels;
    if (!reason && q->n == QRELS_MAX) {
        reason = "more than 5,000,000 judgements";
    }
    if (r->bad || reason) {
        r->bad = r->bad || !line_refuse(r->detail, r->path, line, reason);
        return;
    }
    if (q->n == q->cap) {
        q->cap = q->cap ? 2 * q->cap : 256;
        q->items = mem_realloc(q->items, q->cap * sizeof(*q->items));
    }
    q->items[q->n++] = (struct judgement){id_map_add(&q->queries, query, NULL),
                                          id_map_add(&q->docs, doc, NULL), grade, line};
}

static int by_query_and_doc(const void *left, const void *right)
{
    const struct judgement *a = left, *b = right;
    if (a->query != b->query) {
        return a->query < b->query ? -1 : 1;
    }
    if (a->doc != b->doc) {
        return a->doc < b->doc ? -1 : 1;
    }
    return a->line < b->line ? -1 : a->line > b->line;
}

static void index_queries(struct qrels *q)
{
    q->first = mem_array((size_t)q->queries.n + 1, sizeof(*q->first));
    for (size_t i = 0; i < q->n; i++) {
        q->first[q->items[i].query + 1]++;
    }
    for (size_t i = 0; i < q->queries.n; i++) {
        q->first[i + 1] += q->first[i];
    }
}

static bool refuse_twice(const struct reading *r)
{
    const struct qrels *q = r->qrels;
    for (size_t i = 1; i < q->n; i++) {
        const struct judgement *a = &q->items[i - 1], *b = &q->items[i];
        if (a->query == b->query && a->doc == b->doc) {
            return line_refuse(r->detail, r->path, b->line,
                               "this document is judged for this query on an earlier line already");
        }
    }
    return true;
}

bool qrels_read(const char *path, struct slice bytes, struct qrels *ret_qrels,
                struct err_detail *detail)
{
    *ret_qrels = (struct qrels){0};
    struct reading r = {path, ret_qrels, detail, false};
    qrels_each(bytes, on_line, &r);
    if (r.bad) {
        return false;
    }
    if (ret_qrels->n == 0) {
        err_detail_set(detail, "%s: no judgement in it", path);
        return false;
    }
    qsort(ret_qrels->items, ret_qrels->n, sizeof(*ret_qrels->items), by_query_and_doc);
    index_queries(ret_qrels);
    return refuse_twice(&r);
}

void qrels_done(struct qrels *q)
{
    id_map_done(&q->queries);
    id_map_done(&q->docs);
    free(q->items);
    free(q->first);
    *q = (struct qrels){0};
}

static int by_pair(const void *left, const void *right)
{
    const struct exclusion *a = left, *b = right;
    if (a->query != b->query) {
        return a->query < b->query ? -1 : 1;
    }
    return a->doc < b->doc ? -1 : a->doc > b->doc;
}

static void add_exclusion(struct exclusions *x, const struct slice *columns)
{
    if (x->n == x->cap) {
        x->cap = x->cap ? 2 * x->cap : 64;
        x->items = mem_realloc(x->items, x->cap * sizeof(*x->items));
    }
    x->items[x->n++] = (struct exclusion){id_map_add(&x->queries, columns[0], NULL),
                                          id_map_add(&x->docs, columns[1], NULL)};
}

bool exclusions_read(const char *path, struct slice bytes, struct exclusions *ret_exclusions,
                     struct err_detail *detail)
{
    *ret_exclusions = (struct exclusions){0};
    bytes = without_mark(bytes);
    for (uint64_t n = 1; bytes.n; n++) {
        struct slice line = line_next(&bytes), columns[3] = {{0}};
        if (slice_is_blank(line)) {
            continue;
        }
        const char *reason = line_fault(line);
        if (!reason && (split(line, 2, columns) != 2 || !is_id(columns[0]) || !is_id(columns[1]))) {
            reason = "two columns are needed: query id, document id";
        }
        if (!reason && ret_exclusions->n == EXCLUDE_MAX) {
            reason = "more than 1,000,000 pairs";
        }
        if (reason) {
            return line_refuse(detail, path, n, reason);
        }
        add_exclusion(ret_exclusions, columns);
    }
    if (ret_exclusions->n == 0) {
        err_detail_set(detail, "%s: no pair in it", path);
        return false;
    }
    qsort(ret_exclusions->items, ret_exclusions->n, sizeof(*ret_exclusions->items), by_pair);
    return true;
}

bool exclusions_has(const struct exclusions *x, struct slice query, struct slice doc)
{
    const struct exclusion key = {id_map_find(&x->queries, query), id_map_find(&x->docs, doc)};
    return key.query != ID_NONE && key.doc != ID_NONE &&
           bsearch(&key, x->items, x->n, sizeof(key), by_pair);
}

void exclusions_done(struct exclusions *x)
{
    id_map_done(&x->queries);
    id_map_done(&x->docs);
    free(x->items);
    *x = (struct exclusions){0};
}
