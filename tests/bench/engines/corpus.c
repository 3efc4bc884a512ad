/* SPDX-License-Identifier: Apache-2.0 */
/* Every document has a generator of its own, so that a chunk depends on its number alone. Topics
 * and repeated words make terms come in bursts, as they do in real documents: that is what gives a
 * pruning engine something to skip, and what decides the order of hits. */
#include "tests/bench/engines/corpus.h"

#include "service/base/mem.h"
#include "tests/bench/engines/words.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    SECTIONS = 10, /* of a document */
    WORDS_MIN = 60,
    WORDS_SPAN = 81,
    SENTENCE_MIN = 6,
    SENTENCE_SPAN = 17,
    FUNCTION_SHARE = 43, /* per cent of all words */
    OPEN_SHARE = 3,      /* per cent of content words, summed up: */
    REPEAT_SHARE = 13,
    TOPIC_SHARE = 43,
    RECENT = 32,        /* words a document comes back to */
    FIRST_NAMES = 2000, /* the pool of names; it grows by one … */
    CHUNKS_A_NAME = 2,  /* … every second chunk */
    QUESTION_MIN = 5,
    QUESTION_SPAN = 8,
    QUESTION_FUNCTION_SHARE = 35, /* per cent of the words behind the first */
    TEXT_MAX_BYTES = 16 * 1024,
    COMBINATIONS = 5, /* of doc_type and label, in each collection */
    KIND_DOCUMENT = 8,
    KIND_QUESTION = 9,
};

struct corpus {
    uint32_t n_chunks, n_partitions, next;
    struct words *words;
    struct dynbuf title, text;

    /* of the document at hand */
    struct draw draw;
    uint32_t partition, topics[2];
    uint32_t recent[RECENT], n_recent;
};

const char *const CORPUS_SCOPES[N_SCOPES] = {[SCOPE_TENTH] = "tenth", [SCOPE_ALL] = "all"};

static const struct {
    const char *doc_type, *label;
} COMBINATION[COMBINATIONS] = {{"guide", "public"},
                               {"guide", "internal"},
                               {"report", "public"},
                               {"report", "internal"},
                               {"faq", "public"}};

struct corpus *corpus_new(uint32_t n_chunks, uint32_t n_partitions)
{
    struct corpus *c = mem_alloc(sizeof(*c));
    c->n_chunks = n_chunks;
    c->n_partitions = n_partitions;
    c->words = words_new(CORPUS_SEED);
    dynbuf_init(&c->title, TEXT_MAX_BYTES);
    dynbuf_init(&c->text, TEXT_MAX_BYTES);
    return c;
}

void corpus_free(struct corpus *c)
{
    words_free(c->words);
    dynbuf_done(&c->title);
    dynbuf_done(&c->text);
    free(c);
}

static void add_word(struct dynbuf *out, const char *word, size_t n, bool capital)
{
    dynbuf_add(out, (struct slice){word, n});
    char *first = out->p + out->n - n;
    if (capital && *first >= 'a' && *first <= 'z') {
        *first = (char)(*first - 'a' + 'A');
    }
}

static uint32_t topic_rank(struct corpus *c)
{
    return words_topic_rank(c->words, &c->draw, c->topics[draw_below(&c->draw, 4) == 0]);
}

static size_t content_word(struct corpus *c, char *ret_word)
{
    uint32_t kind = draw_below(&c->draw, 100);
    if (kind < OPEN_SHARE) {
        return words_open(c->words, &c->draw, FIRST_NAMES + c->next / CHUNKS_A_NAME, ret_word);
    }
    uint32_t rank;
    if (kind < REPEAT_SHARE && c->n_recent > 0) {
        uint32_t kept = c->n_recent < RECENT ? c->n_recent : RECENT;
        rank = c->recent[draw_below(&c->draw, kept)];
    } else {
        rank = kind < TOPIC_SHARE ? topic_rank(c) : words_rank(c->words, &c->draw);
        c->recent[c->n_recent++ % RECENT] = rank;
    }
    return words_content(c->words, &c->draw, rank, ret_word);
}

static struct draw document_draw(uint32_t number)
{
    return draw_of(CORPUS_SEED, KIND_DOCUMENT, number / SECTIONS);
}

static void begin_document(struct corpus *c)
{
    char word[WORD_MAX_BYTES];
    c->draw = document_draw(c->next);
    c->partition = draw_below(&c->draw, c->n_partitions);
    c->topics[0] = draw_below(&c->draw, WORDS_TOPICS);
    c->topics[1] = draw_below(&c->draw, WORDS_TOPICS);
    c->n_recent = 0;
    dynbuf_cut(&c->title, 0);
    for (uint32_t left = 3 + draw_below(&c->draw, 4); left > 0; left--) {
        uint32_t rank = left % 2 ? topic_rank(c) : words_rank(c->words, &c->draw);
        size_t n = words_content(c->words, &c->draw, rank, word);
        add_word(&c->title, word, n, c->title.n == 0);
        dynbuf_add_text(&c->title, left > 1 ? " " : "");
    }
}

static void write_sentence(struct corpus *c, uint32_t n_words)
{
    char word[WORD_MAX_BYTES];
    for (uint32_t i = 0; i < n_words; i++) {
        bool function = draw_below(&c->draw, 100) < FUNCTION_SHARE && i + 1 < n_words;
        size_t n = function ? words_function(&c->draw, word) : content_word(c, word);
        add_word(&c->text, word, n, i == 0);
        bool comma = i + 2 < n_words && draw_below(&c->draw, 14) == 0;
        dynbuf_add_text(&c->text, i + 1 == n_words ? "." : comma ? ", " : " ");
    }
}

static void write_text(struct corpus *c)
{
    uint32_t left = WORDS_MIN + draw_below(&c->draw, WORDS_SPAN);
    dynbuf_cut(&c->text, 0);
    while (left > 0) {
        uint32_t n = SENTENCE_MIN + draw_below(&c->draw, SENTENCE_SPAN);
        n = n + SENTENCE_MIN > left ? left : n;
        dynbuf_add_text(&c->text, c->text.n ? " " : "");
        write_sentence(c, n);
        left -= n;
    }
}

bool corpus_next(struct corpus *c, struct chunk *ret_chunk)
{
    if (c->next == c->n_chunks) {
        return false;
    }
    if (c->next % SECTIONS == 0) {
        begin_document(c);
    }
    write_text(c);
    *ret_chunk =
        (struct chunk){c->next++, c->partition, dynbuf_get(&c->title), dynbuf_get(&c->text)};
    return true;
}

void corpus_question(struct corpus *c, uint32_t n, struct dynbuf *out)
{
    char word[WORD_MAX_BYTES];
    struct draw d = draw_of(CORPUS_SEED, KIND_QUESTION, n);
    uint32_t topic = draw_below(&d, WORDS_TOPICS);
    uint32_t n_words = QUESTION_MIN + draw_below(&d, QUESTION_SPAN);
    for (uint32_t i = 0; i < n_words; i++) {
        bool last = i + 1 == n_words;
        bool function = draw_below(&d, 100) < QUESTION_FUNCTION_SHARE;
        bool topical = draw_below(&d, 2) == 0;
        size_t length;
        if (i == 0) {
            length = words_question(&d, word);
        } else if (function && !last) {
            length = words_function(&d, word);
        } else {
            uint32_t rank =
                topical ? words_topic_rank(c->words, &d, topic) : words_rank(c->words, &d);
            length = words_content(c->words, &d, rank, word);
        }
        add_word(out, word, length, i == 0);
        dynbuf_add_byte(out, last ? '?' : ' ');
    }
}

/* A document's first draw. */
uint32_t corpus_home(uint32_t number, uint32_t n_partitions)
{
    struct draw d = document_draw(number);
    return draw_below(&d, n_partitions);
}

struct partition_names corpus_partition(uint32_t partition)
{
    struct partition_names names = {.doc_type = COMBINATION[partition % COMBINATIONS].doc_type,
                                    .label = COMBINATION[partition % COMBINATIONS].label};
    (void)snprintf(names.collection, sizeof(names.collection), "team-%03u",
                   partition / COMBINATIONS);
    return names;
}

void corpus_doc_id(uint32_t number, char ret_id[CORPUS_NAME_BYTES])
{
    (void)snprintf(ret_id, CORPUS_NAME_BYTES, "s%08u", number);
}

uint32_t corpus_number(struct slice doc_id)
{
    uint32_t number = 0;
    for (size_t i = 1; i < doc_id.n; i++) {
        number = number * 10 + (uint32_t)(doc_id.p[i] - '0');
    }
    return number;
}

bool corpus_permits(enum corpus_scope scope, uint32_t partition)
{
    return scope == SCOPE_ALL ||
           (partition % COMBINATIONS == 1 && partition / COMBINATIONS % 2 == 0);
}

void corpus_policy(uint32_t n_partitions, struct dynbuf *out)
{
    dynbuf_add_text(out, "policy_version: 1\n"
                         "issuers:\n"
                         "  bench:\n"
                         "    iss: \"https://login.example.com/\"\n"
                         "    jwks_file: keys.json\n"
                         "    audiences: [\"https://kb.example.com/mcp\"]\n"
                         "    claims:\n"
                         "      scopes: {path: scope, kind: space_string}\n"
                         "      tenant: {path: tid, kind: string}\n"
                         "    tenants: {t-1: bench}\n"
                         "grants:\n"
                         "  - id: all\n"
                         "    tenants: [bench]\n"
                         "    when: {scopes_all: [\"kb:all\"]}\n"
                         "    allow: {collections: [\"*\"], doc_types: [\"*\"], labels: [\"*\"]}\n"
                         "  - id: tenth\n"
                         "    tenants: [bench]\n"
                         "    when: {scopes_all: [\"kb:tenth\"]}\n"
                         "    allow: {doc_types: [guide], labels: [internal], collections: [");
    for (uint32_t p = 1; p < n_partitions; p += 2 * COMBINATIONS) {
        dynbuf_add_text(out, p > 1 ? ", " : "");
        dynbuf_add_text(out, corpus_partition(p).collection);
    }
    dynbuf_add_text(out, "]}\nchallenge_scopes: [\"kb:all\"]\n");
}
