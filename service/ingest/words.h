/* SPDX-License-Identifier: Apache-2.0 */
/* words: how long a text is for a reader, and where it may be cut.
 *
 * Lengths are in quarters of a word, so that scripts written without spaces count too: a Han or
 * kana character is half a word, a Thai, Lao, Khmer or Burmese one a quarter. A word counts once
 * more for every WORD_LONG_CHARS characters, so that a line of base64 is not one word. Pure; text
 * is valid UTF-8. */
#ifndef INGEST_WORDS_H
#define INGEST_WORDS_H

#include "service/base/slice.h"

enum { WORD_QUARTERS = 4, WORD_LONG_CHARS = 32 };

size_t words_quarters(struct slice text);

/* The bytes of the first sentence, the white space behind it included; all of the text if it has no
 * second one. */
size_t words_sentence(struct slice text);

/* The bytes of the first line, its newline included. */
size_t words_line(struct slice text);

/* The most bytes of text (> 0) that stay within both limits and end, if possible, behind a newline,
 * else behind white space, else at a character. All of it if it fits. At least one character. */
size_t words_fit(struct slice text, size_t max_quarters, size_t max_bytes);

#endif
