/* SPDX-License-Identifier: Apache-2.0 */
/* Documents are sorted by what they are, not by where they were found, so that neither the
 * machine's folder order nor that of the arguments reaches a digest. */
#include "service/ingest/collect.h"

#include <stdio.h>
#include <stdlib.h>

static int compare_places(const struct document *x, const struct document *y)
{
    int order = slice_cmp(x->head.scope.collection, y->head.scope.collection);
    order = order ? order : slice_cmp(x->head.doc_id, y->head.doc_id);
    order = order ? order : strcmp(x->path, y->path);
    return order ? order : x->line < y->line ? -1 : x->line > y->line;
}

/* Two folders may hold the same path: then the content decides, not the order of the arguments. */
static int compare_contents(const struct document *x, const struct document *y)
{
    int order = doc_scope_cmp(&x->head.scope, &y->head.scope);
    order = order ? order : slice_cmp(x->head.title, y->head.title);
    order = order ? order : slice_cmp(x->head.source_url, y->head.source_url);
    order = order
                ? order
                : (x->head.published > y->head.published) - (x->head.published < y->head.published);
    for (size_t i = 0; order == 0 && i < x->n_chunks && i < y->n_chunks; i++) {
        order = slice_cmp(x->chunks[i].text, y->chunks[i].text);
        order = order ? order : slice_cmp(x->chunks[i].context, y->chunks[i].context);
    }
    return order ? order : (x->n_chunks > y->n_chunks) - (x->n_chunks < y->n_chunks);
}

static int compare_for_duplicates(const void *a, const void *b)
{
    int order = compare_places(a, b);
    return order ? order : compare_contents(a, b);
}

static int compare_for_partitions(const void *a, const void *b)
{
    const struct document *x = a, *y = b;
    int order = doc_scope_cmp(&x->head.scope, &y->head.scope);
    return order ? order : slice_cmp(x->head.doc_id, y->head.doc_id);
}

static bool is_duplicate(const struct document *before, const struct document *d)
{
    return slice_eq(before->head.scope.collection, d->head.scope.collection) &&
           slice_eq(before->head.doc_id, d->head.doc_id);
}

/* Whichever of two audiences the one document would get, the other one's document would be gone,
 * and by the hand of an author whom those readers may not see. */
static bool refuse_two_partitions(const struct document *a, const struct document *b,
                                  struct err_detail *detail)
{
    err_detail_set(detail,
                   "%.200s:%llu and %.200s:%llu: two documents of one collection have the id %.*s, "
                   "but not the "
                   "same doc_type and labels; give one of them another id",
                   a->path, (unsigned long long)a->line, b->path, (unsigned long long)b->line,
                   (int)(a->head.doc_id.n < 200 ? a->head.doc_id.n : 200), a->head.doc_id.p);
    return false;
}

static bool drop_duplicates(struct collect *c, struct err_detail *detail)
{
    size_t n = 0;
    qsort(c->docs, c->n, sizeof(*c->docs), compare_for_duplicates);
    for (size_t i = 0; i < c->n; i++) {
        const struct document *d = &c->docs[i];
        bool is_second = n && is_duplicate(&c->docs[n - 1], d);
        if (is_second && doc_scope_cmp(&c->docs[n - 1].head.scope, &d->head.scope) != 0) {
            return refuse_two_partitions(&c->docs[n - 1], d, detail);
        }
        if (is_second) {
            char reason[FIELD_REASON_BYTES];
            snprintf(reason, sizeof(reason), "its id is taken in the collection, by %.160s",
                     c->docs[n - 1].path);
            collect_skip(c, d->path, d->line, reason);
        } else {
            c->docs[n++] = *d;
        }
    }
    c->n = n;
    return true;
}

bool collect_sort(struct collect *c, struct err_detail *detail)
{
    if (c->n == 0) {
        return true;
    }
    bool ok = drop_duplicates(c, detail);
    if (ok) {
        qsort(c->docs, c->n, sizeof(*c->docs), compare_for_partitions);
    }
    return ok;
}
