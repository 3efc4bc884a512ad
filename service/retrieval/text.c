/* SPDX-License-Identifier: Apache-2.0 */
/* What ingest and query make of the terms that a scan finds: ingest counts all of them, a query
 * searches each once. */
#include "service/retrieval/text.h"

#include "service/base/mem.h"
#include "service/retrieval/text_scan.h"

#include <stdlib.h>

struct text_analyser {
    struct stems *stems;
    struct codes codes;
};

struct text_analyser *text_analyser_new(void)
{
    struct text_analyser *a = mem_alloc(sizeof(*a));
    a->stems = stems_new();
    return a;
}

void text_analyser_free(struct text_analyser *a)
{
    if (a) {
        stems_free(a->stems);
        codes_done(&a->codes);
        free(a);
    }
}

struct term_sink {
    void (*on_term)(void *arg, struct slice term, uint32_t position);
    void *arg;
};

static void on_text_token(void *arg, const struct text_token *token)
{
    const struct term_sink *sink = arg;
    sink->on_term(sink->arg, token->term, token->position);
}

void text_analyse(struct text_analyser *a, struct slice utf8,
                  void (*on_term)(void *arg, struct slice term, uint32_t position), void *arg)
{
    struct term_sink sink = {on_term, arg};
    struct text_scan s = {
        .stems = a->stems, .codes = &a->codes, .on_token = on_text_token, .arg = &sink};
    text_scan(&s, utf8);
}

/* Distinct terms in first-seen order. */
struct term_list {
    struct arena *arena;
    struct slice *items;
    size_t n;
};

/* Both lists are kept apart, so that the cap on the one does not depend on the other. */
struct query_terms {
    struct term_list words, stops;
};

static void add_distinct(struct term_list *list, struct slice term)
{
    for (size_t i = 0; i < list->n; i++) {
        if (slice_eq(list->items[i], term)) {
            return;
        }
    }
    if (list->n < TEXT_QUERY_MAX_TERMS) {
        list->items[list->n++] = arena_copy(list->arena, term);
    }
}

static void on_query_token(void *arg, const struct text_token *token)
{
    struct query_terms *terms = arg;
    add_distinct(text_is_stop_word(token->term) ? &terms->stops : &terms->words, token->term);
}

static void term_list_init(struct term_list *list, struct arena *arena)
{
    *list = (struct term_list){arena,
                               arena_alloc(arena, TEXT_QUERY_MAX_TERMS * sizeof(struct slice)), 0};
}

size_t text_query_terms(struct text_analyser *a, struct slice canonical_query, struct arena *arena,
                        struct slice **ret_terms)
{
    struct query_terms terms;
    term_list_init(&terms.words, arena);
    term_list_init(&terms.stops, arena);
    struct text_scan s = {.stems = a->stems,
                          .codes = &a->codes,
                          .for_query = true,
                          .on_token = on_query_token,
                          .arg = &terms};
    text_scan(&s, canonical_query);
    struct term_list *list = terms.words.n ? &terms.words : &terms.stops;
    *ret_terms = list->items;
    return list->n;
}
