/* SPDX-License-Identifier: Apache-2.0 */
/* The readers of the other commands stop at the first mistake; here a broken line costs itself and
 * the rest is looked at as if it were not there. */
#include "service/eval/lint.h"

#include "service/base/mem.h"
#include "service/eval/lines.h"
#include "service/eval/qrels.h"
#include "service/eval/records.h"
#include "service/eval/title_quote.h"

#include <stdlib.h>

const char *lint_name(enum lint_kind k)
{
    static const char *const NAMES[] = {
#define X(name, fatal, what) #name,
        LINT_TABLE(X)
#undef X
    };
    return NAMES[k];
}

const char *lint_what(enum lint_kind k)
{
    static const char *const TEXTS[] = {
#define X(name, fatal, what) what,
        LINT_TABLE(X)
#undef X
    };
    return TEXTS[k];
}

bool lint_is_fatal(enum lint_kind k)
{
    static const bool FATAL[] = {
#define X(name, fatal, what) fatal,
        LINT_TABLE(X)
#undef X
    };
    return FATAL[k];
}

/* Records by id; of two with one id the first. */
struct shelf {
    struct id_map ids;
    struct eval_record *items;
    size_t cap;
};

struct linting {
    void (*on_finding)(void *arg, const struct lint_finding *finding);
    void *arg;
    struct lint_counts *counts;
    struct arena arena;
    struct shelf queries, documents;
    const char *path; /* of the file that is read */
    struct shelf *shelf;
    struct id_map pairs;
    bool *judged, *relevant; /* by number of the query */
    struct text_analyser *analyser;
};

static void report(struct linting *l, enum lint_kind kind, uint64_t line, struct slice id,
                   struct slice more)
{
    const struct lint_finding finding = {kind, l->path, line, id, more};
    l->counts->findings[kind]++;
    l->counts->n_fatal += lint_is_fatal(kind);
    l->on_finding(l->arg, &finding);
}

static void check_text(struct linting *l, const struct eval_record *r)
{
    if (slice_is_blank(r->text)) {
        report(l, l->shelf == &l->queries ? LINT_empty_query : LINT_empty_document, r->line, r->id,
               SLICE_NONE);
    }
}

static void on_record(void *arg, uint64_t line, const struct eval_record *record,
                      const char *reason)
{
    struct linting *l = arg;
    if (!record) {
        report(l, LINT_malformed, line, SLICE_NONE, slice_of(reason));
        return;
    }
    bool is_new;
    uint32_t at = id_map_add(&l->shelf->ids, record->id, &is_new);
    if (!is_new) {
        report(l, LINT_duplicate_id, line, record->id, SLICE_NONE);
        return;
    }
    if (at >= l->shelf->cap) {
        l->shelf->cap = l->shelf->cap ? 2 * l->shelf->cap : 256;
        l->shelf->items = mem_realloc(l->shelf->items, l->shelf->cap * sizeof(*l->shelf->items));
    }
    l->shelf->items[at] = *record;
    check_text(l, record);
}

/* Of a query and a document that both are there. */
static void check_pair(struct linting *l, uint64_t line, uint32_t query, uint32_t doc)
{
    const struct eval_record *q = &l->queries.items[query], *d = &l->documents.items[doc];
    if (d->title.p && title_is_quoted(l->analyser, d->title, q->text)) {
        report(l, LINT_quotes_title, line, q->id, d->id);
    }
}

/* A pair of ids as one: no id holds a NUL. */
static struct slice pair_of(struct linting *l, struct slice query, struct slice doc)
{
    char *both = arena_alloc(&l->arena, query.n + doc.n + 1);
    memcpy(both, query.p, query.n);
    memcpy(both + query.n + 1, doc.p, doc.n);
    return (struct slice){both, query.n + doc.n + 1};
}

static void on_judgement(void *arg, uint64_t line, struct slice query, struct slice doc,
                         int32_t grade, const char *reason)
{
    struct linting *l = arg;
    if (reason) {
        report(l, LINT_malformed, line, SLICE_NONE, slice_of(reason));
        return;
    }
    bool is_new;
    l->counts->n_judgements++;
    (void)id_map_add(&l->pairs, pair_of(l, query, doc), &is_new);
    if (!is_new) {
        report(l, LINT_duplicate_judgement, line, query, doc);
        return;
    }
    uint32_t q = id_map_find(&l->queries.ids, query), d = id_map_find(&l->documents.ids, doc);
    if (q == ID_NONE) {
        report(l, LINT_missing_query, line, query, doc);
    } else {
        l->judged[q] = true;
        l->relevant[q] = l->relevant[q] || grade > 0;
    }
    if (d == ID_NONE) {
        report(l, LINT_missing_document, line, query, doc);
    }
    if (q != ID_NONE && d != ID_NONE && grade > 0) {
        check_pair(l, line, q, d);
    }
}

static void read_records(struct linting *l, const struct lint_file *file, struct shelf *shelf,
                         uint64_t *ret_n)
{
    l->path = file->path;
    l->shelf = shelf;
    records_each(file->bytes, &l->arena, on_record, l);
    *ret_n = shelf->ids.n;
}

static void check_queries(struct linting *l, const char *path)
{
    l->path = path;
    for (uint32_t q = 0; q < l->queries.ids.n; q++) {
        const struct eval_record *r = &l->queries.items[q];
        if (!l->judged[q]) {
            report(l, LINT_unjudged_query, r->line, r->id, SLICE_NONE);
        } else if (!l->relevant[q]) {
            report(l, LINT_no_relevant, r->line, r->id, SLICE_NONE);
        }
    }
}

static void check_judgements(struct linting *l, const struct lint_file *queries,
                             const struct lint_file *qrels)
{
    l->judged = mem_array((size_t)l->queries.ids.n + 1, sizeof(*l->judged));
    l->relevant = mem_array((size_t)l->queries.ids.n + 1, sizeof(*l->relevant));
    l->analyser = text_analyser_new();
    l->path = qrels->path;
    qrels_each(qrels->bytes, on_judgement, l);
    check_queries(l, queries->path);
    text_analyser_free(l->analyser);
    free(l->judged);
    free(l->relevant);
}

static void shelf_done(struct shelf *s)
{
    id_map_done(&s->ids);
    free(s->items);
}

void lint_set(const struct lint_file *queries, const struct lint_file *corpus,
              const struct lint_file *qrels,
              void (*on_finding)(void *arg, const struct lint_finding *finding), void *arg,
              struct lint_counts *ret_counts)
{
    *ret_counts = (struct lint_counts){0};
    struct linting l = {.on_finding = on_finding, .arg = arg, .counts = ret_counts};
    read_records(&l, queries, &l.queries, &ret_counts->n_queries);
    read_records(&l, corpus, &l.documents, &ret_counts->n_documents);
    if (qrels->path) {
        check_judgements(&l, queries, qrels);
    }
    shelf_done(&l.queries);
    shelf_done(&l.documents);
    id_map_done(&l.pairs);
    arena_done(&l.arena);
}
