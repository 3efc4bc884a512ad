/* SPDX-License-Identifier: Apache-2.0 */
/* Frequent words have long postings: queries drawn as the text is cost what real ones cost, where
 * uniform draws would meet rare words only. */
#include "tests/bench/queries.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_MAX_BYTES = 40, MAX_WORDS = 1000000 };

struct queries {
    size_t n;
    char (*words)[WORD_MAX_BYTES];
};

static bool read_words(struct queries *q, FILE *in)
{
    size_t cap = 0;
    char line[WORD_MAX_BYTES];
    while (q->n < MAX_WORDS && fgets(line, sizeof(line), in)) {
        if (q->n == cap) {
            cap = 2 * cap + 1024;
            void *more = realloc(q->words, cap * sizeof(*q->words));
            if (!more) {
                return false;
            }
            q->words = more;
        }
        line[strcspn(line, "\n")] = '\0';
        memcpy(q->words[q->n++], line, sizeof(line));
    }
    return q->n > 0;
}

struct queries *queries_load(const char *file)
{
    FILE *in = fopen(file, "r");
    struct queries *q = calloc(1, sizeof(*q));
    if (!in || !q || !read_words(q, in)) {
        queries_free(q);
        q = NULL;
    }
    if (in) {
        (void)fclose(in);
    }
    return q;
}

void queries_free(struct queries *q)
{
    if (q) {
        free(q->words);
        free(q);
    }
}

/* xorshift64*: in [0, 1). */
static double draw(uint64_t *generator)
{
    *generator ^= *generator >> 12;
    *generator ^= *generator << 25;
    *generator ^= *generator >> 27;
    return (double)((*generator * 0x2545F4914F6CDD1DULL) >> 11) / (double)(1ULL << 53);
}

/* Uniform in the logarithm of the rank is Zipf's law with exponent 1. */
static const char *draw_word(const struct queries *q, uint64_t *generator)
{
    size_t rank = (size_t)exp(draw(generator) * log((double)q->n + 1));
    return q->words[(rank < q->n ? rank : q->n) - 1];
}

void queries_write(const struct queries *q, uint64_t *generator, uint64_t serial,
                   char ret_text[QUERY_MAX_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < QUERY_WORDS; i++) {
        const char *word = draw_word(q, generator);
        size_t length = strlen(word);
        memcpy(ret_text + n, word, length);
        ret_text[n + length] = ' ';
        n += length + 1;
    }
    (void)snprintf(ret_text + n, QUERY_MAX_BYTES - n, "serial%" PRIu64, serial);
}
