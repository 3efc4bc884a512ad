/* SPDX-License-Identifier: Apache-2.0 */
/* Two passes: the postings of every term in every segment are looked up first, because a term's
 * weight needs its document frequency over all of them; then one segment after the other is scored,
 * all under one threshold. */
#include "service/retrieval/lexical.h"

#include "service/base/mem.h"
#include "service/retrieval/maxscore.h"
#include "service/retrieval/select_hits.h"

#include <stdlib.h>

struct scorer {
    const struct lexical_query *q;
    struct segment_term *terms;
    struct term_postings *postings; /* [segment * n_terms + term] */
    uint64_t *df;                   /* of each term, summed */
    uint64_t *weights;
    struct bm25 model;
    struct candidates found;
};

static struct bm25_statistics sum_statistics(const struct lexical_query *q)
{
    struct bm25_statistics sum = {0};
    for (size_t i = 0; i < q->n_segments; i++) {
        sum.n_chunks += q->segments[i]->n_chunks;
        sum.total_length += q->segments[i]->total_length;
    }
    return sum;
}

static enum err look_up(struct scorer *s, size_t segment)
{
    const struct lexical_query *q = s->q;
    if (lexical_is_cancelled(q)) {
        return ERR_DEADLINE;
    }
    for (size_t t = 0; t < q->n_terms; t++) {
        struct term_postings *p = &s->postings[segment * q->n_terms + t];
        enum err e = segment_postings(q->segments[segment], &s->terms[t], &p->df, &p->bytes);
        if (e != ERR_OK) {
            return e;
        }
        s->df[t] += p->df;
    }
    return ERR_OK;
}

/* While one segment is looked up, memory brings what the next two need: waiting for each of some
 * hundred look-ups would take longer than the work. */
static void look_ahead(const struct scorer *s, size_t segment)
{
    const struct lexical_query *q = s->q;
    for (size_t t = 0; t < q->n_terms && segment < q->n_segments; t++) {
        segment_directory_soon(q->segments[segment], &s->terms[t]);
    }
    for (size_t t = 0; t < q->n_terms && segment >= 1 && segment - 1 < q->n_segments; t++) {
        segment_record_soon(q->segments[segment - 1], &s->terms[t]);
    }
}

/* The terms are looked up by a hash that is taken once. */
static enum err read_postings(struct scorer *s)
{
    const struct lexical_query *q = s->q;
    enum err e = ERR_OK;
    for (size_t t = 0; t < q->n_terms; t++) {
        s->terms[t] = segment_term_of(q->terms[t]);
    }
    look_ahead(s, 0);
    look_ahead(s, 1);
    for (size_t i = 0; e == ERR_OK && i < q->n_segments; i++) {
        look_ahead(s, i + 2);
        e = look_up(s, i);
    }
    return e;
}

static void weigh(struct scorer *s)
{
    for (size_t t = 0; t < s->q->n_terms; t++) {
        s->weights[t] =
            s->df[t] ? bm25_query_weight(&s->model, s->df[t], s->q->term_weights[t]) : 0;
    }
}

static enum err score_all(struct scorer *s)
{
    const struct lexical_query *q = s->q;
    struct maxscore *m = maxscore_new(q, &s->model, s->weights);
    enum err e = ERR_OK;
    for (uint32_t i = 0; e == ERR_OK && i < q->n_segments; i++) {
        e = maxscore_segment(m, i, s->postings + i * q->n_terms, &s->found);
    }
    maxscore_free(m);
    return e;
}

enum err lexical_search(const struct lexical_query *q, struct hits **ret_hits)
{
    struct scorer s = {.q = q};
    struct bm25_statistics statistics = sum_statistics(q);
    bm25_init(&s.model, q->profile, &statistics);
    s.terms = mem_array(q->n_terms, sizeof(*s.terms));
    s.postings = mem_array(q->n_segments * q->n_terms, sizeof(*s.postings));
    s.df = mem_array(q->n_terms, sizeof(*s.df));
    s.weights = mem_array(q->n_terms, sizeof(*s.weights));
    candidates_init(&s.found, q);
    enum err e = read_postings(&s);
    if (e == ERR_OK) {
        weigh(&s);
        e = score_all(&s);
    }
    if (e == ERR_OK) {
        e = select_hits(q, &s.found, ret_hits);
    }
    candidates_done(&s.found);
    free(s.postings);
    free(s.df);
    free(s.weights);
    free(s.terms);
    return e;
}
