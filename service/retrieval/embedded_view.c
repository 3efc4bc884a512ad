/* SPDX-License-Identifier: Apache-2.0 */
/* The arguments of a query narrow the view's own segments: there is no way from here to any
 * other. */
#include "service/retrieval/embedded_view.h"

#include "service/base/mem.h"
#include "service/retrieval/hit_load.h"
#include "service/retrieval/lexical.h"

#include <stdlib.h>

struct embedded_view {
    struct view view; /* first: the two are one */
    struct snapshot *snapshot;
    struct segment_reader **segments; /* beside view.partitions; the snapshot's */
    struct partition *partitions;
    atomic_uint refs;
};

static struct view *ref(struct view *v)
{
    atomic_fetch_add(&((struct embedded_view *)v)->refs, 1);
    return v;
}

static void unref(struct view *v)
{
    struct embedded_view *e = (struct embedded_view *)v;
    if (atomic_fetch_sub(&e->refs, 1) > 1) {
        return;
    }
    filter_unref(v->filter);
    snapshot_unref(e->snapshot);
    free(e->segments);
    free(e->partitions);
    free(e);
}

static const struct view_ops OPS = {.ref = ref, .unref = unref};

struct view *embedded_view_new(struct snapshot *s, struct filter *f,
                               const struct answer_profile *profile)
{
    struct embedded_view *e = mem_alloc(sizeof(*e));
    e->snapshot = snapshot_ref(s);
    e->segments = mem_array(s->n, sizeof(struct segment_reader *));
    e->partitions = mem_array(s->n, sizeof(*e->partitions));
    size_t n = 0;
    for (size_t i = 0; i < s->n; i++) {
        if (filter_permits(f, &s->segments[i]->partition.scope)) {
            e->segments[n] = s->segments[i];
            e->partitions[n++] = s->segments[i]->partition;
        }
    }
    atomic_init(&e->refs, 1);
    e->view.partitions = e->partitions;
    e->view.n_partitions = n;
    e->view.filter = filter_ref(f);
    e->view.ops = &OPS;
    index_version_write(e->partitions, n, profile, e->view.index_version);
    return &e->view;
}

static bool is_named(const struct partition *p, const struct search_query *q)
{
    return (!q->collection.p || slice_eq(p->scope.collection, q->collection)) &&
           (!q->doc_type.p || slice_eq(p->scope.doc_type, q->doc_type));
}

/* The segments that the query names, in `arena`. */
static struct segment_reader **narrow(const struct embedded_view *e, const struct search_query *q,
                                      struct arena *arena, size_t *ret_n)
{
    struct segment_reader **named =
        arena_alloc(arena, e->view.n_partitions * sizeof(struct segment_reader *));
    *ret_n = 0;
    for (size_t i = 0; i < e->view.n_partitions; i++) {
        if (is_named(&e->view.partitions[i], q)) {
            named[(*ret_n)++] = e->segments[i];
        }
    }
    return named;
}

enum err embedded_view_search(struct view *v, const struct embedded_reader *reader,
                              const struct search_query *q, struct hits **ret_hits)
{
    struct arena arena = {0};
    struct text_query analysed;
    struct lexical_query lexical = {
        .slot = reader->slot,
        .published_from = q->published_from,
        .published_to = q->published_to,
        .profile = reader->profile,
        .cancelled = reader->cancelled,
    };
    lexical.segments = narrow((struct embedded_view *)v, q, &arena, &lexical.n_segments);
    text_query_terms(reader->analyser, q->text, &arena, &analysed);
    lexical.terms = analysed.terms;
    lexical.term_weights = analysed.weights;
    lexical.n_terms = analysed.n;
    enum err e = lexical_search(&lexical, ret_hits);
    arena_done(&arena);
    return e;
}

/* The segment that holds the document; NULL where the view has none. */
static struct segment_reader *find_doc(const struct embedded_view *e, const struct fetch_query *q,
                                       uint32_t *ret_doc)
{
    for (size_t i = 0; i < e->view.n_partitions; i++) {
        if (slice_eq(e->view.partitions[i].scope.collection, q->collection) &&
            segment_find_doc(e->segments[i], q->doc_id, ret_doc)) {
            return e->segments[i];
        }
    }
    return NULL;
}

static enum err load(struct segment_reader *r, const struct embedded_reader *reader, uint32_t chunk,
                     const struct doc_scope *scope, struct hits *h)
{
    if (reader->cancelled && atomic_load_explicit(reader->cancelled, memory_order_relaxed)) {
        return ERR_DEADLINE;
    }
    enum err e = hit_load(r, reader->slot, chunk, scope, &h->arena, &h->items[h->n]);
    h->n += e == ERR_OK;
    return e;
}

static enum err load_chunks(struct segment_reader *r, const struct embedded_reader *reader,
                            struct segment_doc d, const struct fetch_query *q, struct hits *h)
{
    struct doc_scope scope = doc_scope_copy(&r->partition.scope, &h->arena);
    uint32_t max = q->one_chunk ? 1 : FETCH_MAX_CHUNKS;
    uint32_t n = d.n_chunks < max ? d.n_chunks : max;
    enum err e = ERR_OK;
    h->items = arena_alloc(&h->arena, n * sizeof(*h->items));
    h->more = !q->one_chunk && d.n_chunks > n;
    for (uint32_t i = 0; e == ERR_OK && i < d.n_chunks && h->n < n; i++) {
        uint32_t chunk = d.first_chunk + i;
        if (!q->one_chunk || segment_chunk_at(r, chunk).position == q->position) {
            e = load(r, reader, chunk, &scope, h);
        }
    }
    return e;
}

enum err embedded_view_fetch(struct view *v, const struct embedded_reader *reader,
                             const struct fetch_query *q, struct hits **ret_hits)
{
    uint32_t doc = 0;
    struct hits *h = mem_alloc(sizeof(*h));
    struct segment_reader *r = find_doc((struct embedded_view *)v, q, &doc);
    enum err e = r ? load_chunks(r, reader, segment_doc_at(r, doc), q, h) : ERR_OK;
    if (e != ERR_OK) {
        hits_free(h);
        return e;
    }
    *ret_hits = h;
    return ERR_OK;
}
