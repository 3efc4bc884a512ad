/* SPDX-License-Identifier: Apache-2.0 */
/* words: a made-up language with the statistics of English.
 *
 * Function words come at their natural share. 200,000 content words follow the Zipf-Mandelbrot law,
 * in inflected forms that Snowball brings back to one stem. Names, numbers and versions make a tail
 * that grows with the text. 500 topics have words of their own. Nothing here is from a word list:
 * words are put together from syllables by the hash of their rank. Thread: any, each with a draw of
 * its own. */
#ifndef TESTS_BENCH_ENGINES_WORDS_H
#define TESTS_BENCH_ENGINES_WORDS_H

#include "tests/bench/engines/draw.h"

#include <stddef.h>

enum { WORDS_CONTENT = 200000, WORDS_TOPICS = 500, WORD_MAX_BYTES = 64 };

struct words; /* opaque */

struct words *words_new(uint64_t seed);
void words_free(struct words *w);

/* Ranks of content words, 0 .. WORDS_CONTENT-1: of the language, and of one topic. */
uint32_t words_rank(const struct words *w, struct draw *d);
uint32_t words_topic_rank(const struct words *w, struct draw *d, uint32_t topic);

/* Each writes a word without NUL, at most WORD_MAX_BYTES, and returns its length. */
size_t words_content(const struct words *w, struct draw *d, uint32_t rank, char *ret_word);
size_t words_function(struct draw *d, char *ret_word);
size_t words_question(struct draw *d, char *ret_word); /* what, how, … */

/* A name, number, version or identifier; names come from a pool of `pool`. */
size_t words_open(const struct words *w, struct draw *d, uint32_t pool, char *ret_word);

#endif
