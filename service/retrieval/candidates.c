/* SPDX-License-Identifier: Apache-2.0 */
/* The list is cut before it would grow, so it stays about as long as there are chunks that score
 * no less than the threshold. */
#include "service/retrieval/candidates.h"

#include "service/base/mem.h"

#include <stdlib.h>

enum { FIRST_CANDIDATES = 256 };

static void resize(struct candidates *c, size_t cap)
{
    c->cap = cap;
    c->items = mem_realloc(c->items, cap * sizeof(*c->items));
    c->masks = mem_realloc(c->masks, cap * c->mask_words * sizeof(*c->masks));
}

void candidates_init(struct candidates *c, const struct lexical_query *q)
{
    *c = (struct candidates){.mask_words = (q->n_terms + 63) / 64 + (q->n_terms == 0)};
    top_texts_init(&c->best, q->profile->candidate_depth);
    resize(c, FIRST_CANDIDATES);
}

void candidates_done(struct candidates *c)
{
    top_texts_done(&c->best);
    free(c->items);
    free(c->masks);
    *c = (struct candidates){0};
}

/* A mask has its candidate's number as long as candidates are added. */
static void keep(struct candidates *c, size_t from, size_t to)
{
    const size_t words = c->mask_words;
    c->items[to] = c->items[from];
    c->items[to].mask = to;
    memmove(c->masks + to * words, c->masks + from * words, words * sizeof(*c->masks));
}

static void make_room(struct candidates *c)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->items[i].score >= candidates_threshold(c)) {
            keep(c, i, n++);
        }
    }
    c->n = n;
    if (n > c->cap / 2) {
        resize(c, 2 * c->cap);
    }
}

void candidates_add(struct candidates *c, struct candidate candidate, const uint64_t *mask)
{
    top_texts_add(&c->best, candidate.text_hash, candidate.score);
    if (c->n == c->cap) {
        make_room(c);
    }
    candidate.mask = c->n;
    memcpy(c->masks + c->n * c->mask_words, mask, c->mask_words * sizeof(*mask));
    c->items[c->n++] = candidate;
}

void candidates_cut(struct candidates *c, uint64_t score)
{
    size_t n = 0;
    for (size_t i = 0; i < c->n; i++) {
        if (c->items[i].score >= score) {
            c->items[n++] = c->items[i];
        }
    }
    c->n = n;
}
