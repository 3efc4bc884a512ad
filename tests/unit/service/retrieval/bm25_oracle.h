/* SPDX-License-Identifier: Apache-2.0 */
/* bm25_oracle: BM25 straight from its definition, over documents as they stand: no index, no
 * segments, no heap. It shares nothing with the engine but the text analysis and the weights of
 * the fields. */
#ifndef TEST_RETRIEVAL_BM25_ORACLE_H
#define TEST_RETRIEVAL_BM25_ORACLE_H

#include "corpus.h"
#include "service/retrieval/text.h"

enum { ORACLE_MAX_TERMS = TEXT_QUERY_MAX_TERMS, ORACLE_MAX_HITS = 1000 };

/* The corpus' words, read once for many queries. */

struct oracle_word {
    struct slice text;
    uint64_t weight;
};

struct oracle_chunk {
    size_t doc, chunk;
    struct oracle_word *words;
    size_t n, cap;
    uint64_t length;
};

struct oracle_words {
    struct arena arena;
    struct oracle_chunk *chunks;
    size_t n;
    uint64_t weight; /* of the field being read */
};

MAYBE_UNUSED void oracle_on_term(void *arg, struct slice term, uint32_t position)
{
    (void)position;
    struct oracle_words *w = arg;
    struct oracle_chunk *c = &w->chunks[w->n];
    if (c->n == c->cap) {
        c->cap = c->cap ? 2 * c->cap : 32;
        c->words = mem_realloc(c->words, c->cap * sizeof(*c->words));
    }
    bool again = c->n && slice_eq(c->words[c->n - 1].text, term);
    struct slice text = again ? c->words[c->n - 1].text : arena_copy(&w->arena, term);
    c->words[c->n++] = (struct oracle_word){text, w->weight};
    c->length += w->weight;
}

MAYBE_UNUSED void oracle_read_field(struct oracle_words *w, struct text_analyser *analyser,
                                    struct slice text, uint64_t weight)
{
    w->weight = weight;
    if (text.n) {
        text_analyse(analyser, text, oracle_on_term, w);
    }
}

MAYBE_UNUSED void oracle_read(struct oracle_words *w, const struct corpus *corpus)
{
    size_t n = 0;
    struct text_analyser *analyser = text_analyser_new();
    for (size_t i = 0; i < corpus->n; i++) {
        n += corpus->docs[i].input.n_chunks;
    }
    *w = (struct oracle_words){.chunks = mem_array(n, sizeof(*w->chunks))};
    for (size_t i = 0; i < corpus->n; i++) {
        const struct doc_input *doc = &corpus->docs[i].input;
        for (size_t c = 0; c < doc->n_chunks; c++, w->n++) {
            w->chunks[w->n].doc = i;
            w->chunks[w->n].chunk = c;
            oracle_read_field(w, analyser, doc->title, 3);
            oracle_read_field(w, analyser, doc->chunks[c].context, 1);
            oracle_read_field(w, analyser, doc->chunks[c].text, 1);
        }
    }
    text_analyser_free(analyser);
}

MAYBE_UNUSED void oracle_words_done(struct oracle_words *w)
{
    for (size_t i = 0; i < w->n; i++) {
        free(w->chunks[i].words);
    }
    free(w->chunks);
    arena_done(&w->arena);
}

struct oracle_place {
    char chunk_id[256];
    uint64_t score;
    uint64_t matched[HIT_MATCHED_WORDS];
    struct slice text;
    size_t doc;
};

struct oracle_hit {
    struct oracle_place best;
    char also[8][256];
    size_t n_also;
};

struct oracle {
    const struct corpus *corpus;
    const struct oracle_words *words;
    const struct filter *filter;
    const struct search_query *query;
    const struct answer_profile *profile;

    struct arena arena;
    struct slice *terms;
    uint32_t *weights;
    size_t n_terms;
    uint64_t n_chunks, total_length, df[ORACLE_MAX_TERMS];

    /* of the chunk being counted */
    uint64_t tf[ORACLE_MAX_TERMS], length;

    struct oracle_place *found;
    size_t n_found;
    struct oracle_hit hits[ORACLE_MAX_HITS];
    size_t n_hits;
};

/* A longer chunk counts as 2^20 - 1 long, a more frequent term as 65,535 times. */
MAYBE_UNUSED void oracle_count_chunk(struct oracle *o, const struct oracle_chunk *c)
{
    memset(o->tf, 0, sizeof(o->tf));
    o->length = c->length < 1048575 ? c->length : 1048575;
    for (size_t i = 0; i < c->n; i++) {
        for (size_t t = 0; t < o->n_terms; t++) {
            o->tf[t] += slice_eq(c->words[i].text, o->terms[t]) ? c->words[i].weight : 0;
        }
    }
    for (size_t t = 0; t < o->n_terms; t++) {
        o->tf[t] = o->tf[t] < 65535 ? o->tf[t] : 65535;
    }
}

/* The documents that statistics come from: permitted and named. */
MAYBE_UNUSED bool oracle_searches(const struct oracle *o, const struct doc_scope *scope)
{
    return filter_permits(o->filter, scope) &&
           (!o->query->collection.p || slice_eq(o->query->collection, scope->collection)) &&
           (!o->query->doc_type.p || slice_eq(o->query->doc_type, scope->doc_type));
}

MAYBE_UNUSED bool oracle_date_fits(const struct oracle *o, int32_t published)
{
    bool asked = o->query->published_from != NO_DATE || o->query->published_to != NO_DATE;
    if (!asked) {
        return true;
    }
    return published != NO_DATE &&
           (o->query->published_from == NO_DATE || published >= o->query->published_from) &&
           (o->query->published_to == NO_DATE || published <= o->query->published_to);
}

/* floor(log2(x) * 2^32): the binary digits of the fraction, one squaring each. */
MAYBE_UNUSED uint64_t oracle_log2(uint64_t x)
{
    __extension__ typedef unsigned __int128 wide;
    uint64_t whole = 0, fraction = 0;
    while (x >> (whole + 1)) {
        whole++;
    }
    wide m = (wide)x << (63 - whole);
    for (int bit = 31; bit >= 0; bit--) {
        m = m * m / ((wide)1 << 63);
        if (m >= (wide)1 << 64) {
            m /= 2;
            fraction += (uint64_t)1 << bit;
        }
    }
    return (whole << 32) + fraction;
}

MAYBE_UNUSED uint64_t oracle_score(const struct oracle *o)
{
    uint64_t sum = 0;
    const uint64_t k1 = o->profile->bm25_k1_milli, b = o->profile->bm25_b_milli;
    uint64_t average = o->total_length * 256 / o->n_chunks;
    average = average ? average : 1;
    for (size_t t = 0; t < o->n_terms; t++) {
        if (!o->tf[t]) {
            continue;
        }
        uint64_t idf =
            (oracle_log2(2 * o->n_chunks + 2) - oracle_log2(2 * o->df[t] + 1)) / (1 << 12);
        uint64_t weight = (idf ? idf : 1) * (k1 + 1000) / 1000 * o->weights[t] / 16;
        weight = weight ? weight : 1;
        uint64_t norm =
            k1 * (1000 - b) * 65536 / 1000000 + k1 * b * 16777216 / 1000000 * o->length / average;
        uint64_t part = weight * (o->tf[t] * 65536) / (o->tf[t] * 65536 + norm);
        sum += part ? part : 1;
    }
    return sum;
}

MAYBE_UNUSED void oracle_statistics(struct oracle *o)
{
    for (size_t i = 0; i < o->words->n; i++) {
        const struct oracle_chunk *c = &o->words->chunks[i];
        if (!oracle_searches(o, &o->corpus->docs[c->doc].scope)) {
            continue;
        }
        oracle_count_chunk(o, c);
        o->n_chunks++;
        o->total_length += o->length;
        for (size_t t = 0; t < o->n_terms; t++) {
            o->df[t] += o->tf[t] > 0;
        }
    }
}

MAYBE_UNUSED void oracle_add_place(struct oracle *o, const struct oracle_chunk *c)
{
    const struct test_doc *d = &o->corpus->docs[c->doc];
    struct oracle_place *p = &o->found[o->n_found];
    oracle_count_chunk(o, c);
    p->score = oracle_score(o);
    p->text = d->input.chunks[c->chunk].text;
    p->doc = c->doc;
    snprintf(p->chunk_id, sizeof(p->chunk_id), "%.*s/%.*s/%u", (int)d->scope.collection.n,
             d->scope.collection.p, (int)d->input.doc_id.n, d->input.doc_id.p,
             (unsigned)d->input.chunks[c->chunk].position);
    for (size_t t = 0; t < o->n_terms; t++) {
        p->matched[t / 64] |= (uint64_t)(o->tf[t] > 0) << t % 64;
    }
    o->n_found += p->score > 0;
}

MAYBE_UNUSED void oracle_score_all(struct oracle *o)
{
    o->found = mem_array(o->n_chunks + 1, sizeof(*o->found));
    for (size_t i = 0; i < o->words->n; i++) {
        const struct test_doc *d = &o->corpus->docs[o->words->chunks[i].doc];
        if (oracle_searches(o, &d->scope) && oracle_date_fits(o, d->input.published)) {
            oracle_add_place(o, &o->words->chunks[i]);
        }
    }
}

MAYBE_UNUSED int oracle_by_rank(const void *a, const void *b)
{
    const struct oracle_place *x = a;
    const struct oracle_place *y = b;
    return x->score != y->score ? (x->score < y->score ? 1 : -1) : strcmp(x->chunk_id, y->chunk_id);
}

MAYBE_UNUSED int oracle_by_id(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* All places of the kept text that score at least `least`. */
MAYBE_UNUSED void oracle_list_also(struct oracle *o, struct oracle_hit *h, uint64_t least)
{
    static char ids[20000][256];
    size_t n = 0;
    for (size_t i = 0; i < o->n_found; i++) {
        const struct oracle_place *p = &o->found[i];
        if (slice_eq(p->text, h->best.text) && strcmp(p->chunk_id, h->best.chunk_id) != 0 &&
            p->score >= least) {
            memcpy(ids[n++], p->chunk_id, sizeof(ids[0]));
        }
    }
    qsort(ids, n, sizeof(*ids), oracle_by_id);
    for (size_t i = 0; i < n && h->n_also < o->profile->also_in_max; i++) {
        memcpy(h->also[h->n_also++], ids[i], sizeof(ids[0]));
    }
}

MAYBE_UNUSED void oracle_select(struct oracle *o)
{
    qsort(o->found, o->n_found, sizeof(*o->found), oracle_by_rank);
    for (size_t i = 0; i < o->n_found && o->n_hits < o->profile->candidate_depth; i++) {
        bool known = false;
        for (size_t k = 0; k < o->n_hits; k++) {
            known |= slice_eq(o->hits[k].best.text, o->found[i].text);
        }
        if (!known) {
            o->hits[o->n_hits++] = (struct oracle_hit){.best = o->found[i]};
        }
    }
    /* With fewer texts than the depth, everything found is a candidate. */
    bool full = o->n_hits == o->profile->candidate_depth;
    uint64_t least = full ? o->hits[o->n_hits - 1].best.score : 0;
    for (size_t k = 0; k < o->n_hits; k++) {
        oracle_list_also(o, &o->hits[k], least);
    }
}

/* The answer in o->hits. Release with oracle_done. */
MAYBE_UNUSED void oracle_search(struct oracle *o)
{
    struct text_analyser *analyser = text_analyser_new();
    struct text_query analysed;
    text_query_terms(analyser, o->query->text, &o->arena, &analysed);
    o->terms = analysed.terms;
    o->weights = analysed.weights;
    o->n_terms = analysed.n;
    text_analyser_free(analyser);
    cr_assert_leq(o->n_terms, ORACLE_MAX_TERMS);
    oracle_statistics(o);
    oracle_score_all(o);
    oracle_select(o);
}

MAYBE_UNUSED void oracle_done(struct oracle *o)
{
    arena_done(&o->arena);
    free(o->found);
}

/* The engine against the definition */

MAYBE_UNUSED void oracle_expect_hit(const struct oracle *o, const struct hit *hit,
                                    const struct oracle_hit *expected, const char *about)
{
    const struct test_doc *d = &o->corpus->docs[expected->best.doc];
    cr_assert(slice_is(hit->chunk_id, expected->best.chunk_id), "%s: %.*s for %s", about,
              (int)hit->chunk_id.n, hit->chunk_id.p, expected->best.chunk_id);
    cr_assert_eq(hit->score, expected->best.score, "%s: score of %s", about,
                 expected->best.chunk_id);
    cr_assert_eq(memcmp(hit->matched, expected->best.matched, sizeof(hit->matched)), 0,
                 "%s: terms of %s", about, expected->best.chunk_id);
    cr_assert(slice_eq(hit->text, expected->best.text) && slice_eq(hit->doc_id, d->input.doc_id) &&
                  slice_eq(hit->title, d->input.title) &&
                  slice_eq(hit->source_url, d->input.source_url) &&
                  hit->published == d->input.published,
              "%s: fields of %s", about, expected->best.chunk_id);
    cr_assert_eq(doc_scope_cmp(&hit->scope, &d->scope), 0, "%s", about);
    cr_assert(filter_permits(o->filter, &hit->scope), "%s", about);
    cr_assert_eq(hit->n_also, expected->n_also, "%s: also_in of %s: %zu for %zu", about,
                 expected->best.chunk_id, hit->n_also, expected->n_also);
    for (size_t i = 0; i < hit->n_also; i++) {
        cr_assert(slice_is(hit->also[i].chunk_id, expected->also[i]), "%s", about);
        cr_assert(filter_permits(o->filter, &hit->also[i].scope), "%s", about);
    }
}

/* o: less its words, which are read here where there are none yet. */
MAYBE_UNUSED void oracle_expect(struct oracle *o, const struct hits *h, const char *about)
{
    struct oracle_words words = {0};
    if (!o->words) {
        oracle_read(&words, o->corpus);
        o->words = &words;
    }
    oracle_search(o);
    cr_assert_eq(h->n_terms, o->n_terms, "%s", about);
    for (size_t t = 0; t < h->n_terms; t++) {
        cr_assert(slice_eq(h->terms[t], o->terms[t]), "%s", about);
    }
    cr_assert_eq(h->n, o->n_hits, "%s: %zu hits for %zu", about, h->n, o->n_hits);
    for (size_t i = 0; i < h->n; i++) {
        oracle_expect_hit(o, &h->items[i], &o->hits[i], about);
    }
    oracle_done(o);
    oracle_words_done(&words);
}

#endif
