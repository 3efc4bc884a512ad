/* SPDX-License-Identifier: Apache-2.0 */
/* A text repeats its words, and the stemmer is the dearest part of an analysis: the stems of short
 * words are kept in a table of fixed size, one place for each hash, where the newest word wins. */
#include "service/retrieval/text_stem.h"

#include "service/base/mem.h"
#include "service/retrieval/text.h"

#include <libstemmer.h>
#include <stdlib.h>

enum {
    MEMO_SLOTS = 16384,   /* 640 KiB */
    MEMO_WORD_BYTES = 19, /* a longer word is stemmed each time */
    SPELLING_MIN_BYTES = 5,
};

struct memo {
    unsigned char n_word, n_stem; /* n_word == 0: free */
    char word[MEMO_WORD_BYTES], stem[MEMO_WORD_BYTES];
};

struct stems {
    struct sb_stemmer *stemmer;
    char respelt[TEXT_TERM_MAX_BYTES];
    struct memo memo[MEMO_SLOTS];
};

struct stems *stems_new(void)
{
    struct stems *s = mem_alloc(sizeof(*s));
    s->stemmer = sb_stemmer_new("english", "UTF_8");
    if (!s->stemmer) {
        abort(); /* a libstemmer without English is not the one we were built with */
    }
    return s;
}

void stems_free(struct stems *s)
{
    if (s) {
        sb_stemmer_delete(s->stemmer);
        free(s);
    }
}

/* Whether the word is of a-z alone; *ret_hash is its FNV-1a then. */
static bool is_english(struct slice word, uint32_t *ret_hash)
{
    uint32_t h = 0x811C9DC5u;
    for (size_t i = 0; i < word.n; i++) {
        if (word.p[i] < 'a' || word.p[i] > 'z') {
            return false;
        }
        h = (h ^ (unsigned char)word.p[i]) * 0x01000193u;
    }
    *ret_hash = h;
    return word.n > 0;
}

static bool ends_in(struct slice word, const char *ending)
{
    size_t n = strlen(ending);
    return word.n >= n && memcmp(word.p + word.n - n, ending, n) == 0;
}

/* behaviour, behavior; licence, license. */
static struct slice respell(struct stems *s, struct slice stem)
{
    bool our = ends_in(stem, "our");
    if (stem.n < SPELLING_MIN_BYTES || stem.n > sizeof(s->respelt) ||
        !(our || ends_in(stem, "enc"))) {
        return stem;
    }
    memcpy(s->respelt, stem.p, stem.n);
    memcpy(s->respelt + stem.n - 3, our ? "or" : "ens", our ? 2 : 3);
    return (struct slice){s->respelt, our ? stem.n - 1 : stem.n};
}

static struct slice compute(struct stems *s, struct slice word)
{
    if (text_is_stop_word(word)) {
        return word;
    }
    const sb_symbol *p = sb_stemmer_stem(s->stemmer, (const sb_symbol *)word.p, (int)word.n);
    if (!p) {
        abort(); /* out of memory, as mem.h */
    }
    struct slice stem = {(const char *)p, (size_t)sb_stemmer_length(s->stemmer)};
    stem = respell(s, stem);
    return stem.n == 0 || text_is_stop_word(stem) ? word : stem;
}

static void keep(struct memo *m, struct slice word, struct slice stem)
{
    memcpy(m->word, word.p, word.n);
    memcpy(m->stem, stem.p, stem.n);
    m->n_word = (unsigned char)word.n;
    m->n_stem = (unsigned char)stem.n;
}

struct slice stems_of(struct stems *s, struct slice word)
{
    uint32_t hash;
    if (!is_english(word, &hash)) {
        return word;
    }
    if (word.n > MEMO_WORD_BYTES) {
        return compute(s, word);
    }
    struct memo *m = &s->memo[(hash ^ hash >> 16) % MEMO_SLOTS];
    if (m->n_word != word.n || memcmp(m->word, word.p, word.n) != 0) {
        struct slice stem = compute(s, word);
        if (stem.n > MEMO_WORD_BYTES) {
            return stem;
        }
        keep(m, word, stem);
    }
    return (struct slice){m->stem, m->n_stem};
}
