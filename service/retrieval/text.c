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
    uint32_t *halves; /* occurrences of each, in halves */
    size_t n;
};

/* Both lists are kept apart, so that the cap on the one does not depend on the other. */
struct query_terms {
    struct term_list words, stops;
};

enum {
    OCCURRENCE_HALVES = 2,
    /* (TEXT_WEIGHT_MAX / TEXT_WEIGHT_ONE)^2 occurrences, more count as these */
    HALVES_MAX =
        OCCURRENCE_HALVES * TEXT_WEIGHT_MAX * TEXT_WEIGHT_MAX / (TEXT_WEIGHT_ONE * TEXT_WEIGHT_ONE),
};

static void count(struct term_list *list, struct slice term, uint32_t halves)
{
    size_t at = 0;
    while (at < list->n && !slice_eq(list->items[at], term)) {
        at++;
    }
    if (at == TEXT_QUERY_MAX_TERMS) {
        return;
    }
    if (at == list->n) {
        list->items[list->n] = arena_copy(list->arena, term);
        list->halves[list->n++] = 0;
    }
    uint32_t sum = list->halves[at] + halves;
    list->halves[at] = sum < HALVES_MAX ? sum : HALVES_MAX;
}

static void on_query_token(void *arg, const struct text_token *token)
{
    struct query_terms *terms = arg;
    count(text_is_stop_word(token->term) ? &terms->stops : &terms->words, token->term,
          token->is_part ? 1 : OCCURRENCE_HALVES);
}

/* The square root in TEXT_WEIGHT_ONE-ths, rounded down. */
static uint32_t weight_of(uint32_t halves)
{
    uint32_t square = halves * TEXT_WEIGHT_ONE * TEXT_WEIGHT_ONE / OCCURRENCE_HALVES;
    uint32_t root = 0;
    while ((root + 1) * (root + 1) <= square) {
        root++;
    }
    return root;
}

static void term_list_init(struct term_list *list, struct arena *arena)
{
    *list =
        (struct term_list){arena, arena_alloc(arena, TEXT_QUERY_MAX_TERMS * sizeof(struct slice)),
                           arena_alloc(arena, TEXT_QUERY_MAX_TERMS * sizeof(uint32_t)), 0};
}

void text_query_terms(struct text_analyser *a, struct slice canonical_query, struct arena *arena,
                      struct text_query *ret_query)
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
    for (size_t i = 0; i < list->n; i++) {
        list->halves[i] = weight_of(list->halves[i]);
    }
    *ret_query = (struct text_query){list->items, list->halves, list->n};
}
