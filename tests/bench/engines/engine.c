/* SPDX-License-Identifier: Apache-2.0 */
/* What the engines share. Passages are copied out, so that none can get by with pointing at pages
 * it has not read. */
#include "tests/bench/engines/engine.h"

#include "service/retrieval/text.h"

#include <stdio.h>
#include <stdlib.h>

void engine_require(int good, const char *what, const char *why)
{
    if (!good) {
        fprintf(stderr, "bench_retrieval: %s: %s\n", what, why);
        exit(1);
    }
}

static void add_bytes(struct passages *p, const char *bytes, size_t n)
{
    engine_require(n <= sizeof(p->bytes) - p->n_bytes, "passages", "larger than they can be");
    memcpy(p->bytes + p->n_bytes, bytes, n);
    p->n_bytes += n;
}

void passages_add(struct passages *p, uint32_t number, const char *title, size_t title_bytes,
                  const char *text, size_t text_bytes)
{
    engine_require(p->n < PASSAGES, "passages", "more than ten");
    p->numbers[p->n++] = number;
    add_bytes(p, title, title_bytes);
    add_bytes(p, text, text_bytes);
}

static size_t word_at(const char *at, char ret_word[QUESTION_WORD_BYTES])
{
    size_t n = 0;
    for (; n + 1 < QUESTION_WORD_BYTES; n++) {
        char c = at[n];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'))) {
            break;
        }
        ret_word[n] = c;
    }
    ret_word[n] = '\0';
    return n;
}

static size_t words_of(const char *question, bool with_stop_words,
                       char ret_words[QUESTION_WORDS_MAX][QUESTION_WORD_BYTES])
{
    size_t n = 0;
    while (*question && n < QUESTION_WORDS_MAX) {
        size_t length = word_at(question, ret_words[n]);
        n +=
            length && (with_stop_words || !text_is_stop_word((struct slice){ret_words[n], length}));
        question += length ? length : 1;
    }
    return n;
}

size_t question_words(const char *question, char ret_words[QUESTION_WORDS_MAX][QUESTION_WORD_BYTES])
{
    size_t n = words_of(question, false, ret_words);
    return n ? n : words_of(question, true, ret_words);
}
