/* SPDX-License-Identifier: Apache-2.0 */
/* A heap gives the candidates in order without sorting those that nobody asks for. Equal texts are
 * found by their hash and then compared, so that two texts are never taken for one. */
#include "service/retrieval/candidates.h"

#include "service/base/mem.h"
#include "service/retrieval/hit_load.h"

#include <stdlib.h>

enum { POLL_EVERY = 256 };

/* A kept text and the other places where it stands. */
struct kept {
    uint64_t text_hash;
    struct candidate *also; /* by chunk id */
    uint32_t n_also;
};

struct selection {
    const struct lexical_query *q;
    struct candidates *heap;
    struct hits *hits;
    struct kept *kept;               /* beside hits->items */
    const struct doc_scope **scopes; /* of each segment, once a hit needed it */
};

void candidates_add(struct candidates *c, struct candidate candidate)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 1024;
        c->items = mem_realloc(c->items, c->cap * sizeof(*c->items));
    }
    c->items[c->n++] = candidate;
}

void candidates_done(struct candidates *c)
{
    free(c->items);
    *c = (struct candidates){0};
}

static int by_chunk_id(const struct lexical_query *q, const struct candidate *a,
                       const struct candidate *b)
{
    return segment_chunk_cmp(q->segments[a->segment], a->chunk, q->segments[b->segment], b->chunk);
}

static bool before(const struct selection *s, size_t a, size_t b)
{
    const struct candidate *x = &s->heap->items[a];
    const struct candidate *y = &s->heap->items[b];
    return x->score != y->score ? x->score > y->score : by_chunk_id(s->q, x, y) < 0;
}

static void sift_down(struct selection *s, size_t at)
{
    struct candidate *items = s->heap->items;
    for (;;) {
        size_t first = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < s->heap->n; child++) {
            first = before(s, child, first) ? child : first;
        }
        if (first == at) {
            return;
        }
        struct candidate swap = items[at];
        items[at] = items[first];
        items[first] = swap;
        at = first;
    }
}

static void make_heap(struct selection *s)
{
    for (size_t i = s->heap->n / 2; i-- > 0;) {
        sift_down(s, i);
    }
}

static struct candidate take_best(struct selection *s)
{
    struct candidate best = s->heap->items[0];
    s->heap->items[0] = s->heap->items[--s->heap->n];
    sift_down(s, 0);
    return best;
}

static const struct doc_scope *scope_of(struct selection *s, uint32_t segment)
{
    if (!s->scopes[segment]) {
        struct doc_scope *copy = arena_alloc(&s->hits->arena, sizeof(*copy));
        *copy = doc_scope_copy(&s->q->segments[segment]->partition.scope, &s->hits->arena);
        s->scopes[segment] = copy;
    }
    return s->scopes[segment];
}

/* The number of the kept text that the chunk repeats, or hits->n. */
static enum err find_equal(struct selection *s, const struct candidate *c, size_t *ret_at)
{
    struct segment_reader *r = s->q->segments[c->segment];
    size_t at = 0;
    enum err e = ERR_OK;
    for (; at < s->hits->n; at++) {
        if (s->kept[at].text_hash != segment_chunk_at(r, c->chunk).text_hash) {
            continue;
        }
        struct slice text;
        e = segment_text(r, s->q->slot, c->chunk, &text);
        if (e != ERR_OK || slice_eq(text, s->hits->items[at].text)) {
            break;
        }
    }
    *ret_at = at;
    return e;
}

/* Insertion into a short sorted list; what falls off its end is forgotten. */
static void add_also(struct selection *s, struct kept *k, struct candidate c)
{
    uint32_t max = s->q->profile->also_in_max;
    if (max && k->n_also == max && by_chunk_id(s->q, &c, &k->also[max - 1]) > 0) {
        return;
    }
    k->n_also += k->n_also < max;
    for (uint32_t i = k->n_also; i-- > 0;) {
        bool here = i == 0 || by_chunk_id(s->q, &c, &k->also[i - 1]) > 0;
        k->also[i] = here ? c : k->also[i - 1];
        if (here) {
            return;
        }
    }
}

static enum err keep(struct selection *s, const struct candidate *c)
{
    struct segment_reader *r = s->q->segments[c->segment];
    struct hits *h = s->hits;
    s->kept[h->n] = (struct kept){
        .text_hash = segment_chunk_at(r, c->chunk).text_hash,
        .also = arena_alloc(&h->arena, s->q->profile->also_in_max * sizeof(*c)),
    };
    enum err e =
        hit_load(r, s->q->slot, c->chunk, scope_of(s, c->segment), &h->arena, &h->items[h->n]);
    h->items[h->n].score = c->score;
    h->n += e == ERR_OK;
    return e;
}

static enum err take(struct selection *s, const struct candidate *c)
{
    size_t at = 0;
    enum err e = find_equal(s, c, &at);
    if (e != ERR_OK) {
        return e;
    }
    if (at < s->hits->n) {
        add_also(s, &s->kept[at], *c);
        return ERR_OK;
    }
    return at < s->q->profile->candidate_depth ? keep(s, c) : ERR_OK;
}

/* Candidates end below the score of the last text kept, once the depth is reached. */
static bool is_candidate(const struct selection *s)
{
    const struct hits *h = s->hits;
    return s->heap->n > 0 && (h->n < s->q->profile->candidate_depth ||
                              s->heap->items[0].score == h->items[h->n - 1].score);
}

static void write_also(struct selection *s, size_t at)
{
    const struct kept *k = &s->kept[at];
    struct arena *arena = &s->hits->arena;
    struct hit_place *places = arena_alloc(arena, k->n_also * sizeof(*places));
    for (size_t i = 0; i < k->n_also; i++) {
        const struct candidate *c = &k->also[i];
        places[i].chunk_id = segment_chunk_id(s->q->segments[c->segment], c->chunk, arena);
        places[i].scope = *scope_of(s, c->segment);
    }
    s->hits->items[at].also = places;
    s->hits->items[at].n_also = k->n_also;
}

static enum err select_all(struct selection *s)
{
    enum err e = ERR_OK;
    make_heap(s);
    for (size_t taken = 0; e == ERR_OK && is_candidate(s); taken++) {
        if (taken % POLL_EVERY == 0 && lexical_is_cancelled(s->q)) {
            return ERR_DEADLINE;
        }
        struct candidate best = take_best(s);
        e = take(s, &best);
    }
    for (size_t i = 0; e == ERR_OK && i < s->hits->n; i++) {
        write_also(s, i);
    }
    return e;
}

enum err candidates_to_hits(const struct lexical_query *q, struct candidates *c,
                            struct hits **ret_hits)
{
    struct selection s = {.q = q, .heap = c, .hits = mem_alloc(sizeof(struct hits))};
    uint32_t depth = q->profile->candidate_depth;
    s.hits->items = arena_alloc(&s.hits->arena, depth * sizeof(*s.hits->items));
    s.kept = mem_array(depth, sizeof(*s.kept));
    s.scopes = mem_array(q->n_segments, sizeof(struct doc_scope *));
    enum err e = select_all(&s);
    free(s.kept);
    free(s.scopes);
    if (e != ERR_OK) {
        hits_free(s.hits);
        return e;
    }
    *ret_hits = s.hits;
    return ERR_OK;
}
