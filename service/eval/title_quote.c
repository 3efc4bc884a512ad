/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/title_quote.h"

#include "service/base/mem.h"

#include <stdlib.h>

struct words {
    struct arena arena;
    struct slice *items;
    size_t n, cap;
    uint32_t position;
};

/* One term a position, the first: of node.js the whole, not its parts. */
static void on_term(void *arg, struct slice term, uint32_t position)
{
    struct words *w = arg;
    if (w->n && position == w->position) {
        return;
    }
    if (w->n == w->cap) {
        w->cap = w->cap ? 2 * w->cap : 32;
        w->items = mem_realloc(w->items, w->cap * sizeof(*w->items));
    }
    w->items[w->n++] = arena_copy(&w->arena, term);
    w->position = position;
}

static void words_done(struct words *w)
{
    free(w->items);
    arena_done(&w->arena);
}

static bool stands_at(const struct words *title, const struct words *query, size_t at)
{
    for (size_t i = 0; i < title->n; i++) {
        if (!slice_eq(title->items[i], query->items[at + i])) {
            return false;
        }
    }
    return true;
}

bool title_is_quoted(struct text_analyser *a, struct slice title, struct slice query)
{
    struct words t = {.n = 0}, q = {.n = 0};
    text_analyse(a, title, on_term, &t);
    text_analyse(a, query, on_term, &q);
    bool found = false;
    for (size_t at = 0; t.n && !found && at + t.n <= q.n; at++) {
        found = stands_at(&t, &q, at);
    }
    words_done(&t);
    words_done(&q);
    return found;
}
