/* SPDX-License-Identifier: Apache-2.0 */
/* Candidates are grouped by the hash of their text; a heap gives the groups in the order of their
 * best chunks. A group's texts are read and compared before they are called equal: an author can
 * make two texts of his own share a hash. Only in a group so large that nobody could list its
 * places are the rest taken to be what the first ones were found to be; so 10,000 copies of a page
 * cost a few reads. */
#include "service/retrieval/select_hits.h"

#include "service/base/mem.h"
#include "service/retrieval/hit_load.h"

#include <stdlib.h>

enum {
    POLL_EVERY = 64,
    GROUP_SAMPLE = 16, /* compared of a larger group, the first ones by chunk id */
};

/* Candidates with one text hash, beside each other; the best comes first. */
struct group {
    size_t first, n;
};

/* The first ones by chunk id. */
struct places {
    struct candidate items[GROUP_SAMPLE];
    uint32_t n, max;
};

struct selection {
    const struct lexical_query *q;
    struct candidates *found;
    struct group *heap;
    size_t n_heap;
    struct hits *hits;
    const struct doc_scope **scopes; /* of each segment, once a hit needed it */
};

static int by_chunk_id(const struct lexical_query *q, const struct candidate *a,
                       const struct candidate *b)
{
    return segment_chunk_cmp(q->segments[a->segment], a->chunk, q->segments[b->segment], b->chunk);
}

static bool is_before(const struct lexical_query *q, const struct candidate *a,
                      const struct candidate *b)
{
    return a->score != b->score ? a->score > b->score : by_chunk_id(q, a, b) < 0;
}

static void swap(struct candidate *a, struct candidate *b)
{
    struct candidate kept = *a;
    *a = *b;
    *b = kept;
}

/* Groups */

static bool group_is_before(const struct selection *s, size_t a, size_t b)
{
    const struct candidate *items = s->found->items;
    return is_before(s->q, &items[s->heap[a].first], &items[s->heap[b].first]);
}

static void sift_down(struct selection *s, size_t at)
{
    for (;;) {
        size_t first = at;
        for (size_t child = 2 * at + 1; child <= 2 * at + 2 && child < s->n_heap; child++) {
            first = group_is_before(s, child, first) ? child : first;
        }
        if (first == at) {
            return;
        }
        struct group kept = s->heap[at];
        s->heap[at] = s->heap[first];
        s->heap[first] = kept;
        at = first;
    }
}

static void best_to_front(const struct selection *s, struct group g)
{
    struct candidate *items = s->found->items + g.first;
    for (size_t i = 1; i < g.n; i++) {
        if (is_before(s->q, &items[i], &items[0])) {
            swap(&items[i], &items[0]);
        }
    }
}

static int by_text_hash(const void *a, const void *b)
{
    uint64_t x = ((const struct candidate *)a)->text_hash;
    uint64_t y = ((const struct candidate *)b)->text_hash;
    return (x > y) - (x < y);
}

static void make_groups(struct selection *s)
{
    struct candidates *c = s->found;
    qsort(c->items, c->n, sizeof(*c->items), by_text_hash);
    s->n_heap = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (i == 0 || c->items[i].text_hash != c->items[i - 1].text_hash) {
            s->heap[s->n_heap++] = (struct group){i, 0};
        }
        s->heap[s->n_heap - 1].n++;
    }
    for (size_t i = 0; i < s->n_heap; i++) {
        best_to_front(s, s->heap[i]);
    }
    for (size_t i = s->n_heap / 2; i-- > 0;) {
        sift_down(s, i);
    }
}

/* Hits */

static const struct doc_scope *scope_of(struct selection *s, uint32_t segment)
{
    if (!s->scopes[segment]) {
        struct doc_scope *copy = arena_alloc(&s->hits->arena, sizeof(*copy));
        *copy = doc_scope_copy(&s->q->segments[segment]->partition.scope, &s->hits->arena);
        s->scopes[segment] = copy;
    }
    return s->scopes[segment];
}

static enum err add_hit(struct selection *s, const struct candidate *c)
{
    struct hits *h = s->hits;
    struct hit *hit = &h->items[h->n];
    enum err e = hit_load(s->q->segments[c->segment], s->q->slot, c->chunk, scope_of(s, c->segment),
                          &h->arena, hit);
    hit->score = c->score;
    memcpy(hit->matched, candidates_mask(s->found, c),
           s->found->mask_words * sizeof(*hit->matched));
    h->n += e == ERR_OK;
    return e;
}

static void list_also(struct selection *s, struct hit *hit, const struct places *p)
{
    struct arena *arena = &s->hits->arena;
    struct hit_place *also = arena_alloc(arena, p->n * sizeof(*also));
    for (size_t i = 0; i < p->n; i++) {
        const struct candidate *c = &p->items[i];
        also[i].chunk_id = segment_chunk_id(s->q->segments[c->segment], c->chunk, arena);
        also[i].scope = *scope_of(s, c->segment);
    }
    hit->also = also;
    hit->n_also = p->n;
}

/* Insertion into a short sorted list; what falls off its end is forgotten. */
static void add_place(const struct lexical_query *q, struct places *p, const struct candidate *c)
{
    if (p->max == 0 || (p->n == p->max && by_chunk_id(q, c, &p->items[p->n - 1]) > 0)) {
        return;
    }
    uint32_t at = p->n < p->max ? p->n++ : p->n - 1;
    for (; at > 0 && by_chunk_id(q, c, &p->items[at - 1]) < 0; at--) {
        p->items[at] = p->items[at - 1];
    }
    p->items[at] = *c;
}

static enum err compare(const struct selection *s, const struct candidate *c, struct slice text,
                        bool *ret_equal)
{
    struct slice own;
    enum err e = segment_text(s->q->segments[c->segment], s->q->slot, c->chunk, &own);
    *ret_equal = e == ERR_OK && slice_eq(own, text);
    return e;
}

/* Whether the first ones by chunk id of many candidates all have the text. */
static enum err sample(struct selection *s, struct group g, struct slice text,
                       struct places *ret_places, bool *ret_equal)
{
    *ret_places = (struct places){.max = GROUP_SAMPLE};
    for (size_t i = 0; i < g.n; i++) {
        add_place(s->q, ret_places, &s->found->items[g.first + i]);
    }
    enum err e = ERR_OK;
    *ret_equal = true;
    for (size_t i = 0; e == ERR_OK && *ret_equal && i < ret_places->n; i++) {
        e = compare(s, &ret_places->items[i], text, ret_equal);
    }
    return e;
}

/* Moves candidates with another text to the group's front; the number of them is *ret_others. */
static enum err divide(struct selection *s, struct group g, struct slice text,
                       struct places *places, size_t *ret_others)
{
    struct candidate *items = s->found->items + g.first;
    enum err e = ERR_OK;
    *ret_others = 0;
    for (size_t i = 0; e == ERR_OK && i < g.n; i++) {
        bool equal = false;
        if (i % POLL_EVERY == 0 && lexical_is_cancelled(s->q)) {
            return ERR_DEADLINE;
        }
        e = compare(s, &items[i], text, &equal);
        if (equal) {
            add_place(s->q, places, &items[i]);
        } else {
            swap(&items[i], &items[(*ret_others)++]);
        }
    }
    return e;
}

/* The candidates behind the group's best: other places of its text, or of another text, which stay
 * as a group. */
static enum err take_rest(struct selection *s, struct hit *hit, struct group *rest)
{
    const uint32_t max = s->q->profile->also_in_max;
    struct places places = {.max = max};
    bool all_equal = false;
    size_t n_others = 0;
    enum err e = ERR_OK;
    if (rest->n > GROUP_SAMPLE) {
        e = sample(s, *rest, hit->text, &places, &all_equal);
    }
    if (e == ERR_OK && !all_equal) {
        places = (struct places){.max = max};
        e = divide(s, *rest, hit->text, &places, &n_others);
    }
    places.n = places.n < max ? places.n : max;
    list_also(s, hit, &places);
    rest->n = n_others;
    return e;
}

static enum err take_best(struct selection *s)
{
    struct group *top = &s->heap[0];
    struct candidate best = s->found->items[top->first];
    enum err e = add_hit(s, &best);
    top->first++;
    top->n--;
    if (e == ERR_OK && top->n) {
        e = take_rest(s, &s->hits->items[s->hits->n - 1], top);
    }
    if (top->n) {
        best_to_front(s, *top);
    } else {
        *top = s->heap[--s->n_heap];
    }
    sift_down(s, 0);
    return e;
}

static bool is_full(const struct selection *s)
{
    return s->hits->n == s->q->profile->candidate_depth;
}

static void new_hits(struct selection *s)
{
    const struct lexical_query *q = s->q;
    const size_t depth = q->profile->candidate_depth;
    const size_t n = s->found->n < depth ? s->found->n : depth;
    struct hits *h = mem_alloc(sizeof(*h));
    struct slice *terms = arena_alloc(&h->arena, q->n_terms * sizeof(*terms));
    for (size_t t = 0; t < q->n_terms; t++) {
        terms[t] = arena_copy(&h->arena, q->terms[t]);
    }
    h->items = arena_alloc(&h->arena, n * sizeof(*h->items));
    h->terms = terms;
    h->n_terms = q->n_terms;
    s->hits = h;
    memset(s->scopes, 0, q->n_segments * sizeof(struct doc_scope *));
}

static enum err select_once(struct selection *s)
{
    enum err e = ERR_OK;
    new_hits(s);
    make_groups(s);
    for (size_t taken = 1; e == ERR_OK && s->n_heap && !is_full(s); taken++) {
        if (taken % POLL_EVERY == 0 && lexical_is_cancelled(s->q)) {
            return ERR_DEADLINE;
        }
        e = take_best(s);
    }
    return e;
}

/* The threshold counted texts by their hashes. Where two share one, the last text kept scores more
 * than the threshold, and the candidates below it, listed already, are none. */
static enum err select_all(struct selection *s)
{
    uint64_t least = candidates_threshold(s->found);
    candidates_cut(s->found, least);
    enum err e = select_once(s);
    while (e == ERR_OK && is_full(s) && s->hits->items[s->hits->n - 1].score > least) {
        least = s->hits->items[s->hits->n - 1].score;
        candidates_cut(s->found, least);
        hits_free(s->hits);
        e = select_once(s);
    }
    return e;
}

enum err select_hits(const struct lexical_query *q, struct candidates *c, struct hits **ret_hits)
{
    struct selection s = {.q = q, .found = c};
    s.heap = mem_array(c->n, sizeof(*s.heap));
    s.scopes = mem_array(q->n_segments, sizeof(struct doc_scope *));
    enum err e = select_all(&s);
    free(s.heap);
    free(s.scopes);
    if (e != ERR_OK) {
        hits_free(s.hits);
        return e;
    }
    *ret_hits = s.hits;
    return ERR_OK;
}
