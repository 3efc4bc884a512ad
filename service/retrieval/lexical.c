/* SPDX-License-Identifier: Apache-2.0 */
/* Two passes: the postings of every term in every segment are read first, because a term's weight
 * needs its document frequency over all of them; then each segment is scored on its own. */
#include "service/retrieval/lexical.h"

#include "service/base/mem.h"
#include "service/retrieval/bm25.h"
#include "service/retrieval/candidates.h"
#include "service/retrieval/postings.h"

#include <stdlib.h>

struct term_postings {
    uint32_t df; /* in the segment */
    struct slice bytes;
};

struct scorer {
    const struct lexical_query *q;
    struct segment_term *terms;
    struct term_postings *postings; /* [segment * n_terms + term] */
    uint64_t *df;                   /* of each term, summed */
    struct bm25 model;
    uint64_t *scores; /* of the segment at hand, by chunk */
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

static enum err read_postings(struct scorer *s)
{
    const struct lexical_query *q = s->q;
    for (size_t i = 0; i < q->n_segments; i++) {
        if (lexical_is_cancelled(q)) {
            return ERR_DEADLINE;
        }
        for (size_t t = 0; t < q->n_terms; t++) {
            struct term_postings *p = &s->postings[i * q->n_terms + t];
            enum err e = segment_postings(q->segments[i], &s->terms[t], &p->df, &p->bytes);
            if (e != ERR_OK) {
                return e;
            }
            s->df[t] += p->df;
        }
    }
    return ERR_OK;
}

static enum err score_term(struct scorer *s, const struct segment_reader *r,
                           const struct term_postings *p, uint64_t weight)
{
    struct postings_cursor c;
    postings_open(&c, p->bytes, p->df, r->n_chunks);
    while (postings_next(&c)) {
        uint64_t norm = bm25_norm(&s->model, segment_length_at(r, c.chunk));
        s->scores[c.chunk] += bm25_contribution(weight, norm, postings_tf(&c));
    }
    return c.bad ? ERR_INTERNAL : ERR_OK;
}

static bool date_matches(const struct lexical_query *q, int32_t published)
{
    if (q->published_from == NO_DATE && q->published_to == NO_DATE) {
        return true;
    }
    return published != NO_DATE && published >= q->published_from &&
           (q->published_to == NO_DATE || published <= q->published_to);
}

/* Moves the scores of the segment to the candidates. */
static void collect(struct scorer *s, uint32_t segment)
{
    const struct segment_reader *r = s->q->segments[segment];
    for (uint32_t chunk = 0; chunk < r->n_chunks; chunk++) {
        uint64_t score = s->scores[chunk];
        s->scores[chunk] = 0;
        if (score && date_matches(s->q, segment_published_at(r, chunk))) {
            candidates_add(&s->found, (struct candidate){score, segment, chunk});
        }
    }
}

static enum err score_segment(struct scorer *s, uint32_t segment)
{
    const struct lexical_query *q = s->q;
    bool any = false;
    for (size_t t = 0; t < q->n_terms; t++) {
        const struct term_postings *p = &s->postings[segment * q->n_terms + t];
        if (lexical_is_cancelled(q)) {
            return ERR_DEADLINE;
        }
        if (p->df == 0) {
            continue;
        }
        any = true;
        enum err e = score_term(s, q->segments[segment], p, bm25_weight(&s->model, s->df[t]));
        if (e != ERR_OK) {
            return e;
        }
    }
    if (any) {
        collect(s, segment);
    }
    return ERR_OK;
}

static size_t largest_segment(const struct lexical_query *q)
{
    size_t largest = 0;
    for (size_t i = 0; i < q->n_segments; i++) {
        largest = q->segments[i]->n_chunks > largest ? q->segments[i]->n_chunks : largest;
    }
    return largest;
}

static enum err score_all(struct scorer *s)
{
    enum err e = read_postings(s);
    for (uint32_t i = 0; e == ERR_OK && i < s->q->n_segments; i++) {
        e = score_segment(s, i);
    }
    return e;
}

enum err lexical_search(const struct lexical_query *q, struct hits **ret_hits)
{
    struct scorer s = {.q = q};
    struct bm25_statistics statistics = sum_statistics(q);
    bm25_init(&s.model, q->profile, &statistics);
    s.postings = mem_array(q->n_segments * q->n_terms, sizeof(*s.postings));
    s.terms = mem_array(q->n_terms, sizeof(*s.terms));
    for (size_t t = 0; t < q->n_terms; t++) {
        s.terms[t] = segment_term_of(q->terms[t]);
    }
    s.df = mem_array(q->n_terms, sizeof(*s.df));
    s.scores = mem_array(largest_segment(q), sizeof(*s.scores));
    enum err e = score_all(&s);
    if (e == ERR_OK) {
        e = candidates_to_hits(q, &s.found, ret_hits);
    }
    candidates_done(&s.found);
    free(s.postings);
    free(s.df);
    free(s.scores);
    free(s.terms);
    return e;
}
