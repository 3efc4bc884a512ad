/* SPDX-License-Identifier: Apache-2.0 */
/* How long posting lists are, and so what a search costs, follows from how often words occur. The
 * shift of the law (SHIFT) stands for the function words, which are drawn apart: the most frequent
 * content word is in about a fifth of the chunks. */
#include "tests/bench/engines/words.h"

#include "service/base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    TOPIC_WORDS = 80,
    TOPIC_FIRST_RANK = 100,  /* topics are made of words that are neither common … */
    TOPIC_RANK_FACTOR = 600, /* … nor unheard of */
    SYLLABLES_MAX = 4,
    KIND_SPELLING = 1, /* kinds of draw_of */
    KIND_NAME = 2,
    KIND_TOPIC = 3,
};

static const double EXPONENT = 1.08, SHIFT = 30;

static const char *const ONSETS[] = {"b", "br", "c", "d", "f", "g", "h", "k", "l",  "m",
                                     "n", "p",  "r", "s", "t", "v", "w", "z", "st", "pl"};
static const char *const NUCLEI[] = {"a", "e", "i", "o", "u", "a", "e", "ou"};
static const char *const CODAS[] = {"", "", "", "", "n", "r", "l", "t"};

/* By falling frequency, each in the analyser's own list of stop words. */
static const char *const FUNCTION_WORDS[] = {
    "the",   "of",    "and",  "to",   "a",     "in",   "is",    "for",  "that",  "with",
    "on",    "are",   "as",   "be",   "by",    "this", "or",    "it",   "an",    "from",
    "not",   "which", "at",   "was",  "have",  "will", "can",   "if",   "their", "they",
    "has",   "these", "but",  "such", "were",  "no",   "than",  "been", "its",   "when",
    "about", "into",  "who",  "so",   "would", "them", "there", "our",  "we",    "you",
    "your",  "does",  "what", "how",  "where", "had",  "could", "did",  "those", "should",
};
static const char *const QUESTION_WORDS[] = {"what",  "how",  "which", "what", "how",
                                             "where", "when", "who",   "what", "why"};
static const char *const SUFFIXES[] = {"s", "ed", "ing", "er", "ly", "ness"};
static const uint32_t SUFFIX_SHARE[] = {18, 27, 36, 38, 40, 41}; /* per cent, summed up */

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* Vose's alias method: one draw and at most two reads a word. */
struct alias {
    uint32_t threshold; /* take the rank itself below it */
    uint32_t other;
};

struct words {
    uint64_t seed;
    struct alias *table;
    uint32_t (*topics)[TOPIC_WORDS]; /* ranks */
};

static void fill_alias(struct alias *table, double *scaled, uint32_t n)
{
    uint32_t *stack = mem_array(n, sizeof(*stack)); /* small ones from below, large from above */
    uint32_t n_small = 0, large = n;
    for (uint32_t i = 0; i < n; i++) {
        stack[scaled[i] < 1 ? n_small++ : --large] = i;
    }
    while (n_small > 0 && large < n) {
        uint32_t low = stack[--n_small], high = stack[large];
        table[low] = (struct alias){(uint32_t)(scaled[low] * UINT32_MAX), high};
        scaled[high] -= 1 - scaled[low];
        if (scaled[high] < 1) {
            large++;
            stack[n_small++] = high;
        }
    }
    while (n_small > 0) {
        table[stack[--n_small]].threshold = UINT32_MAX;
    }
    for (; large < n; large++) {
        table[stack[large]].threshold = UINT32_MAX;
    }
    free(stack);
}

static void fill_frequencies(struct words *w)
{
    double *scaled = mem_array(WORDS_CONTENT, sizeof(*scaled));
    double sum = 0;
    for (uint32_t i = 0; i < WORDS_CONTENT; i++) {
        scaled[i] = pow(i + 1 + SHIFT, -EXPONENT);
        sum += scaled[i];
    }
    for (uint32_t i = 0; i < WORDS_CONTENT; i++) {
        scaled[i] *= WORDS_CONTENT / sum;
    }
    fill_alias(w->table, scaled, WORDS_CONTENT);
    free(scaled);
}

static void fill_topics(struct words *w)
{
    for (uint32_t t = 0; t < WORDS_TOPICS; t++) {
        struct draw d = draw_of(w->seed, KIND_TOPIC, t);
        for (uint32_t i = 0; i < TOPIC_WORDS; i++) { /* uniform in the logarithm of the rank */
            double u = draw_below(&d, 1000000) / 1e6;
            w->topics[t][i] = (uint32_t)(TOPIC_FIRST_RANK * pow(TOPIC_RANK_FACTOR, u));
        }
    }
}

struct words *words_new(uint64_t seed)
{
    struct words *w = mem_alloc(sizeof(*w));
    w->seed = seed;
    w->table = mem_array(WORDS_CONTENT, sizeof(*w->table));
    w->topics = mem_array(WORDS_TOPICS, sizeof(*w->topics));
    fill_frequencies(w);
    fill_topics(w);
    return w;
}

void words_free(struct words *w)
{
    free(w->table);
    free(w->topics);
    free(w);
}

uint32_t words_rank(const struct words *w, struct draw *d)
{
    uint32_t rank = draw_below(d, WORDS_CONTENT);
    uint32_t coin = (uint32_t)(draw_next(d) >> 32);
    return coin <= w->table[rank].threshold ? rank : w->table[rank].other;
}

/* The square makes a topic's first words its frequent ones. */
uint32_t words_topic_rank(const struct words *w, struct draw *d, uint32_t topic)
{
    uint32_t at = draw_below(d, TOPIC_WORDS) * draw_below(d, TOPIC_WORDS) / TOPIC_WORDS;
    return w->topics[topic][at];
}

static size_t add(char *out, size_t n, const char *part)
{
    size_t length = strlen(part);
    memcpy(out + n, part, length);
    return n + length;
}

static size_t spell(struct draw *d, uint32_t n_syllables, char *ret_word)
{
    size_t n = 0;
    for (uint32_t i = 0; i < n_syllables; i++) {
        n = add(ret_word, n, ONSETS[draw_below(d, COUNT(ONSETS))]);
        n = add(ret_word, n, NUCLEI[draw_below(d, COUNT(NUCLEI))]);
        n = add(ret_word, n, CODAS[draw_below(d, COUNT(CODAS))]);
    }
    return n;
}

/* Frequent words are short. */
size_t words_content(const struct words *w, struct draw *d, uint32_t rank, char *ret_word)
{
    struct draw own = draw_of(w->seed, KIND_SPELLING, rank);
    uint32_t longer = rank < 2000 ? 10 : rank < 20000 ? 25 : 45; /* per cent */
    uint32_t n_syllables = 2;
    while (n_syllables < SYLLABLES_MAX && draw_below(&own, 100) < longer) {
        n_syllables++;
    }
    size_t n = spell(&own, n_syllables, ret_word);
    uint32_t form = draw_below(d, 100);
    for (size_t i = 0; i < COUNT(SUFFIXES); i++) {
        if (form < SUFFIX_SHARE[i]) {
            return add(ret_word, n, SUFFIXES[i]);
        }
    }
    return n;
}

/* A product of two leans towards the frequent ones, as Zipf's law does. */
size_t words_function(struct draw *d, char *ret_word)
{
    uint32_t n = COUNT(FUNCTION_WORDS);
    uint32_t at = draw_below(d, n) * draw_below(d, n) / n;
    return add(ret_word, 0, FUNCTION_WORDS[at]);
}

size_t words_question(struct draw *d, char *ret_word)
{
    return add(ret_word, 0, QUESTION_WORDS[draw_below(d, COUNT(QUESTION_WORDS))]);
}

/* Most draws meet a name that came up before; the pool grows with the text. */
static size_t name(const struct words *w, struct draw *d, uint32_t pool, char *ret_word)
{
    uint64_t at = (uint64_t)draw_below(d, pool) * draw_below(d, pool) / pool;
    struct draw own = draw_of(w->seed, KIND_NAME, at);
    size_t n = spell(&own, 3, ret_word);
    ret_word[0] = (char)(ret_word[0] - 'a' + 'A');
    return n;
}

size_t words_open(const struct words *w, struct draw *d, uint32_t pool, char *ret_word)
{
    uint32_t kind = draw_below(d, 100);
    uint32_t number = draw_below(d, 1U << (3 + draw_below(d, 17)));
    int n;
    if (kind < 60) {
        return name(w, d, pool, ret_word);
    }
    if (kind < 85) {
        n = snprintf(ret_word, WORD_MAX_BYTES, "%u", number + 1);
    } else if (kind < 92) {
        n = snprintf(ret_word, WORD_MAX_BYTES, "%u.%u", number % 1000, number % 97);
    } else if (kind < 96) {
        n = snprintf(ret_word, WORD_MAX_BYTES, "KB-%u", number + 100);
    } else {
        n = snprintf(ret_word, WORD_MAX_BYTES, "v%u.%u", number % 20, number % 11);
    }
    return (size_t)n;
}
