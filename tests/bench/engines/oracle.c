/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the text keeps, of each chunk that holds a word of any question, which words and
 * how often. Scores come afterwards, when the statistics are known. */
#include "tests/bench/engines/oracle.h"

#include "service/base/mem.h"
#include "service/retrieval/bm25.h"
#include "service/retrieval/segment_format.h"
#include "service/retrieval/text.h"

#include <stdio.h>
#include <stdlib.h>

enum { TERMS_MAX = 1024, SLOTS = 4096, QUESTION_MAX_BYTES = 8192, ID_BYTES = 128 };

struct match {
    uint32_t number, partition, length;
    uint16_t term, tf;
};

struct seen { /* the terms of the chunk at hand */
    uint64_t hash;
    uint32_t chunk; /* + 1 */
};

struct statistics {
    struct bm25_statistics total;
    uint64_t df[TERMS_MAX];
};

struct oracle {
    struct arena arena;
    struct text_analyser *analyser;
    struct slice terms[TERMS_MAX];
    size_t n_terms;
    uint16_t slots[SLOTS]; /* by hash: term + 1, or 0 */
    size_t n_questions;
    uint16_t (*question_terms)[TEXT_QUERY_MAX_TERMS];
    uint32_t (*question_weights)[TEXT_QUERY_MAX_TERMS];
    size_t n_question_terms[ORACLE_QUESTIONS_MAX];
    struct match *matches; /* ascending by number */
    size_t n_matches, cap_matches;
    struct statistics statistics[N_SCOPES];
    uint64_t n_postings;

    /* of the chunk at hand */
    struct seen seen[SLOTS];
    uint16_t tf[TERMS_MAX];
    uint32_t number, weight, length;
};

static uint64_t hash_of(struct slice term)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < term.n; i++) {
        h = (h ^ (unsigned char)term.p[i]) * 0x100000001B3u;
    }
    return h ^ h >> 29;
}

static uint16_t *find_slot(struct oracle *o, struct slice term, uint64_t hash)
{
    size_t at = hash % SLOTS;
    while (o->slots[at] && !slice_eq(o->terms[o->slots[at] - 1], term)) {
        at = (at + 1) % SLOTS;
    }
    return &o->slots[at];
}

static uint16_t term_id(struct oracle *o, struct slice term)
{
    uint16_t *slot = find_slot(o, term, hash_of(term));
    if (!*slot) {
        if (o->n_terms == TERMS_MAX) {
            fputs("bench_retrieval: the oracle's questions have too many words\n", stderr);
            exit(1);
        }
        o->terms[o->n_terms++] = arena_copy(&o->arena, term);
        *slot = (uint16_t)o->n_terms;
    }
    return (uint16_t)(*slot - 1);
}

static void read_question(struct oracle *o, size_t question, const char *text)
{
    struct text_query q;
    struct dynbuf canonical;
    dynbuf_init(&canonical, QUESTION_MAX_BYTES);
    (void)text_canonical_query(slice_of(text), &canonical);
    text_query_terms(o->analyser, dynbuf_get(&canonical), &o->arena, &q);
    for (size_t i = 0; i < q.n; i++) {
        o->question_terms[question][i] = term_id(o, q.terms[i]);
        o->question_weights[question][i] = q.weights[i];
    }
    o->n_question_terms[question] = q.n;
    dynbuf_done(&canonical);
}

static bool is_new_in_chunk(struct oracle *o, uint64_t hash)
{
    for (size_t at = hash % SLOTS;; at = (at + 1) % SLOTS) {
        struct seen *s = &o->seen[at];
        if (s->chunk != o->number + 1) {
            *s = (struct seen){hash, o->number + 1};
            return true;
        }
        if (s->hash == hash) {
            return false;
        }
    }
}

static void count_term(void *arg, struct slice term, uint32_t position)
{
    (void)position;
    struct oracle *o = arg;
    uint64_t hash = hash_of(term);
    o->n_postings += is_new_in_chunk(o, hash);
    o->length += o->weight;
    uint16_t known = *find_slot(o, term, hash);
    if (known) {
        o->tf[known - 1] = (uint16_t)(o->tf[known - 1] + o->weight);
    }
}

static void keep_match(struct oracle *o, const struct chunk *chunk, size_t term)
{
    if (o->n_matches == o->cap_matches) {
        o->cap_matches = o->cap_matches ? 2 * o->cap_matches : 4096;
        o->matches = mem_realloc(o->matches, o->cap_matches * sizeof(*o->matches));
    }
    o->matches[o->n_matches++] =
        (struct match){chunk->number, chunk->partition, o->length, (uint16_t)term, o->tf[term]};
    for (int s = 0; s < N_SCOPES; s++) {
        o->statistics[s].df[term] += corpus_permits((enum corpus_scope)s, chunk->partition);
    }
}

static void read_chunk(struct oracle *o, const struct chunk *chunk)
{
    o->number = chunk->number;
    o->length = 0;
    o->weight = SEGMENT_TITLE_WEIGHT;
    text_analyse(o->analyser, chunk->title, count_term, o);
    o->weight = SEGMENT_TEXT_WEIGHT;
    text_analyse(o->analyser, chunk->text, count_term, o);
    for (size_t t = 0; t < o->n_terms; t++) {
        if (o->tf[t]) {
            keep_match(o, chunk, t);
            o->tf[t] = 0;
        }
    }
    for (int s = 0; s < N_SCOPES; s++) {
        if (corpus_permits((enum corpus_scope)s, chunk->partition)) {
            o->statistics[s].total.n_chunks++;
            o->statistics[s].total.total_length += o->length;
        }
    }
}

struct oracle *oracle_new(uint32_t n_chunks, uint32_t n_partitions, const char *const *questions,
                          size_t n)
{
    struct oracle *o = mem_alloc(sizeof(*o));
    o->analyser = text_analyser_new();
    o->n_questions = n;
    o->question_terms = mem_array(n, sizeof(*o->question_terms));
    o->question_weights = mem_array(n, sizeof(*o->question_weights));
    for (size_t i = 0; i < n; i++) {
        read_question(o, i, questions[i]);
    }
    struct corpus *c = corpus_new(n_chunks, n_partitions);
    struct chunk chunk;
    while (corpus_next(c, &chunk)) {
        read_chunk(o, &chunk);
    }
    corpus_free(c);
    return o;
}

void oracle_free(struct oracle *o)
{
    text_analyser_free(o->analyser);
    arena_done(&o->arena);
    free(o->question_terms);
    free(o->question_weights);
    free(o->matches);
    free(o);
}

uint64_t oracle_postings(const struct oracle *o)
{
    return o->n_postings;
}

static void write_chunk_id(const struct oracle_hit *hit, char ret_id[ID_BYTES])
{
    char doc_id[CORPUS_NAME_BYTES];
    corpus_doc_id(hit->number, doc_id);
    (void)snprintf(ret_id, ID_BYTES, "%s/%s/0", corpus_partition(hit->partition).collection,
                   doc_id);
}

static bool is_better(const struct oracle_hit *a, const struct oracle_hit *b)
{
    char id_a[ID_BYTES], id_b[ID_BYTES];
    if (a->score != b->score) {
        return a->score > b->score;
    }
    write_chunk_id(a, id_a);
    write_chunk_id(b, id_b);
    return strcmp(id_a, id_b) < 0;
}

static void offer(struct oracle_answer *answer, const struct oracle_hit *hit)
{
    size_t at = answer->n;
    while (at > 0 && is_better(hit, &answer->hits[at - 1])) {
        at--;
    }
    if (at == ORACLE_HITS) {
        return;
    }
    size_t n = answer->n < ORACLE_HITS ? answer->n + 1 : ORACLE_HITS;
    memmove(&answer->hits[at + 1], &answer->hits[at], (n - at - 1) * sizeof(*hit));
    answer->hits[at] = *hit;
    answer->n = n;
}

/* By term; 0 for a term that the question has not. */
static void weigh(const struct oracle *o, const struct bm25 *model, enum corpus_scope scope,
                  size_t question, uint64_t ret_weights[TERMS_MAX])
{
    memset(ret_weights, 0, TERMS_MAX * sizeof(*ret_weights));
    for (size_t i = 0; i < o->n_question_terms[question]; i++) {
        uint16_t t = o->question_terms[question][i];
        uint64_t df = o->statistics[scope].df[t];
        ret_weights[t] = df ? bm25_query_weight(model, df, o->question_weights[question][i]) : 0;
    }
}

void oracle_ask(const struct oracle *o, enum corpus_scope scope, size_t question,
                struct oracle_answer *ret_answer)
{
    static uint64_t weights[TERMS_MAX];
    struct answer_profile profile;
    struct bm25 model;
    answer_profile_init(&profile);
    bm25_init(&model, &profile, &o->statistics[scope].total);
    weigh(o, &model, scope, question, weights);
    ret_answer->n = 0;
    for (size_t i = 0; i < o->n_matches;) {
        const struct match *m = &o->matches[i];
        struct oracle_hit hit = {m->number, m->partition, 0};
        uint64_t norm = bm25_norm(&model, m->length);
        for (; i < o->n_matches && o->matches[i].number == hit.number; i++) {
            uint64_t weight = weights[o->matches[i].term];
            hit.score += weight ? bm25_contribution(weight, norm, o->matches[i].tf) : 0;
        }
        if (hit.score && corpus_permits(scope, hit.partition)) {
            offer(ret_answer, &hit);
        }
    }
}
