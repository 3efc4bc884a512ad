/* SPDX-License-Identifier: Apache-2.0 */
/* MaxScore (Turtle and Flood, 1995). Lists are ordered by the highest score that a posting of
 * theirs can have. As long as the weakest ones together stay below the threshold, a chunk that
 * stands in none of the others is no candidate: only those others, the essential lists, are read
 * through, and the weak ones are asked for the chunks found there, until it is clear that such a
 * chunk does not come up to the threshold.
 *
 * The essential lists are added up window by window: one list after the other, which costs the same
 * for each posting however many lists there are. Scores are integers and every comparison with the
 * threshold leaves equal scores in, so the outcome is exactly that of scoring everything. */
#include "service/retrieval/maxscore.h"

#include "service/base/mem.h"
#include "service/retrieval/postings.h"

#include <stdlib.h>

enum {
    WINDOW = 1024, /* chunks; scores and masks of one fit the nearest cache */
    AHEAD = 8,     /* postings */
};

struct term_list {
    struct postings_cursor cursor;
    uint64_t weight;
    uint64_t bound;       /* of any posting */
    uint64_t block_bound; /* of those in bounded_block */
    uint32_t bounded_block;
    size_t term;
    bool ended;
};

struct maxscore {
    const struct lexical_query *q;
    const uint64_t *weights;
    struct bm25_norms norms;

    /* of the segment at hand: */
    struct term_list *room;
    struct term_list **lists; /* the weakest first */
    size_t n_lists;
    uint64_t *below; /* [i]: the bounds of the lists before i, added up */
    size_t n_weak;   /* the lists that are not essential */
    size_t mask_words;
    struct candidates *found;
    uint32_t segment;

    /* of the window at hand: */
    uint32_t first_chunk;
    uint64_t scores[WINDOW];
    uint64_t touched[WINDOW / 64]; /* a bit for each chunk with a score */
    uint64_t *masks;               /* mask_words for each chunk */
};

struct maxscore *maxscore_new(const struct lexical_query *q, const struct bm25 *model,
                              const uint64_t *weights)
{
    struct maxscore *m = mem_alloc(sizeof(*m));
    m->q = q;
    m->weights = weights;
    m->norms.model = model;
    m->room = mem_array(q->n_terms, sizeof(*m->room));
    m->lists = mem_array(q->n_terms, sizeof(struct term_list *));
    m->below = mem_array(q->n_terms + 1, sizeof(*m->below));
    m->mask_words = (q->n_terms + 63) / 64;
    m->masks = mem_array(WINDOW * m->mask_words, sizeof(*m->masks));
    return m;
}

void maxscore_free(struct maxscore *m)
{
    free(m->room);
    free(m->lists);
    free(m->below);
    free(m->masks);
    free(m);
}

static const struct segment_reader *reader_of(const struct maxscore *m)
{
    return m->q->segments[m->segment];
}

static uint64_t highest(struct maxscore *m, const struct term_list *l, struct postings_bound b)
{
    uint64_t best = 0;
    for (unsigned i = 0; i < 2 && b.tf[i]; i++) {
        uint64_t norm = bm25_norms_get(&m->norms, b.length[i]);
        uint64_t score = bm25_contribution(l->weight, norm, b.tf[i]);
        best = score > best ? score : best;
    }
    return best;
}

static uint64_t score_current(struct maxscore *m, const struct term_list *l)
{
    uint32_t length = segment_length_at(reader_of(m), l->cursor.chunk);
    uint64_t norm = bm25_norms_get(&m->norms, length);
    return bm25_contribution(l->weight, norm, postings_tf(&l->cursor));
}

/* Opening */

static void insert_list(struct maxscore *m, struct term_list *l)
{
    size_t at = m->n_lists++;
    for (; at > 0 && m->lists[at - 1]->bound > l->bound; at--) {
        m->lists[at] = m->lists[at - 1];
    }
    m->lists[at] = l;
}

static bool open_lists(struct maxscore *m, const struct term_postings *postings)
{
    m->n_lists = 0;
    for (size_t t = 0; t < m->q->n_terms; t++) {
        struct term_list *l = &m->room[t];
        if (postings[t].df == 0) {
            continue;
        }
        postings_open(&l->cursor, postings[t].bytes, postings[t].df, reader_of(m)->n_chunks);
        if (l->cursor.bad) {
            return false;
        }
        l->term = t;
        l->weight = m->weights[t];
        l->ended = false;
        l->bound = highest(m, l, postings_list_bound(&l->cursor));
        l->bounded_block = UINT32_MAX;
        insert_list(m, l);
    }
    for (size_t i = 0; i < m->n_lists; i++) {
        m->below[i + 1] = m->below[i] + m->lists[i]->bound;
    }
    return true;
}

/* An essential list may become a weak one as the threshold rises, never the other way round. */
static void find_weak(struct maxscore *m)
{
    while (m->n_weak < m->n_lists && m->below[m->n_weak + 1] < candidates_threshold(m->found)) {
        m->n_weak++;
    }
}

/* Lengths lie far apart, so those of the postings ahead are on their way while one is scored. */
static void advance(const struct maxscore *m, struct term_list *l)
{
    const struct postings_cursor *c = &l->cursor;
    l->ended = !postings_next(&l->cursor);
    for (uint32_t i = c->at ? c->at + AHEAD : 0; i <= c->at + AHEAD && i < c->n; i++) {
        segment_length_soon(reader_of(m), c->chunks[i]);
    }
}

/* Windows */

static void add_window(struct maxscore *m, struct term_list *l)
{
    const uint64_t bit = UINT64_C(1) << l->term % 64;
    const uint32_t end = m->first_chunk + WINDOW;
    while (!l->ended && l->cursor.chunk < end) {
        uint32_t at = l->cursor.chunk - m->first_chunk;
        m->scores[at] += score_current(m, l);
        m->touched[at / 64] |= UINT64_C(1) << at % 64;
        m->masks[at * m->mask_words + l->term / 64] |= bit;
        advance(m, l);
    }
}

/* Whether the chunk could still come up to the threshold with what the block of a weak list allows
 * and the lists below it. Nothing is decoded for that. */
static bool is_within_reach(struct maxscore *m, struct term_list *l, uint32_t chunk,
                            uint64_t others)
{
    if (!postings_seek_block(&l->cursor, chunk)) {
        l->ended = true;
        return others >= candidates_threshold(m->found);
    }
    if (l->bounded_block != l->cursor.block) {
        l->bounded_block = l->cursor.block;
        l->block_bound = highest(m, l, postings_block_bound(&l->cursor));
    }
    return others + l->block_bound >= candidates_threshold(m->found);
}

/* Adds what the weak lists say of the chunk; false as soon as it is no candidate. */
static bool add_weak(struct maxscore *m, uint32_t at, uint64_t *score)
{
    const uint32_t chunk = m->first_chunk + at;
    for (size_t i = m->n_weak; i-- > 0;) {
        struct term_list *l = m->lists[i];
        if (*score + m->below[i + 1] < candidates_threshold(m->found)) {
            return false;
        }
        if (l->ended) {
            continue;
        }
        if (!is_within_reach(m, l, chunk, *score + m->below[i])) {
            return false;
        }
        l->ended = l->ended || !postings_seek(&l->cursor, chunk);
        if (!l->ended && l->cursor.chunk == chunk) {
            *score += score_current(m, l);
            m->masks[at * m->mask_words + l->term / 64] |= UINT64_C(1) << l->term % 64;
        }
    }
    return *score >= candidates_threshold(m->found);
}

static bool date_matches(const struct lexical_query *q, int32_t published)
{
    return published != NO_DATE && published >= q->published_from &&
           (q->published_to == NO_DATE || published <= q->published_to);
}

static bool is_asked_for(const struct maxscore *m, uint32_t chunk)
{
    bool any_date = m->q->published_from == NO_DATE && m->q->published_to == NO_DATE;
    return any_date || date_matches(m->q, segment_published_at(reader_of(m), chunk));
}

static void judge(struct maxscore *m, uint32_t at)
{
    const uint32_t chunk = m->first_chunk + at;
    uint64_t *mask = m->masks + at * m->mask_words;
    uint64_t score = m->scores[at];
    m->scores[at] = 0;
    if (is_asked_for(m, chunk) && add_weak(m, at, &score)) {
        const struct candidate c = {
            .score = score,
            .text_hash = segment_chunk_at(reader_of(m), chunk).text_hash,
            .segment = m->segment,
            .chunk = chunk,
        };
        candidates_add(m->found, c, mask);
    }
    memset(mask, 0, m->mask_words * sizeof(*mask));
}

static void judge_window(struct maxscore *m)
{
    for (uint32_t word = 0; word < WINDOW / 64; word++) {
        while (m->touched[word]) {
            uint32_t bit = (uint32_t)__builtin_ctzll(m->touched[word]);
            m->touched[word] &= m->touched[word] - 1;
            judge(m, 64 * word + bit);
        }
    }
}

/* The first chunk that an essential list still holds; false where there is none. */
static bool find_window(struct maxscore *m)
{
    bool any = false;
    for (size_t i = m->n_weak; i < m->n_lists; i++) {
        const struct term_list *l = m->lists[i];
        if (!l->ended && (!any || l->cursor.chunk < m->first_chunk)) {
            m->first_chunk = l->cursor.chunk;
            any = true;
        }
    }
    return any;
}

static bool any_bad(const struct maxscore *m)
{
    bool bad = false;
    for (size_t i = 0; i < m->n_lists; i++) {
        bad |= m->lists[i]->cursor.bad;
    }
    return bad;
}

enum err maxscore_segment(struct maxscore *m, uint32_t segment,
                          const struct term_postings *postings, struct candidates *found)
{
    m->segment = segment;
    m->found = found;
    m->n_weak = 0;
    if (!open_lists(m, postings)) {
        return ERR_INTERNAL;
    }
    find_weak(m);
    for (size_t i = m->n_weak; i < m->n_lists; i++) {
        advance(m, m->lists[i]);
    }
    while (find_window(m)) {
        if (lexical_is_cancelled(m->q)) {
            return ERR_DEADLINE;
        }
        for (size_t i = m->n_weak; i < m->n_lists; i++) {
            add_window(m, m->lists[i]);
        }
        judge_window(m);
        find_weak(m);
    }
    return any_bad(m) ? ERR_INTERNAL : ERR_OK;
}
