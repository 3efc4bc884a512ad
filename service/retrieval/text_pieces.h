/* SPDX-License-Identifier: Apache-2.0 */
/* text_pieces: the words inside an identifier: getHttpStatus2 is get, Http, Status, 2. Pure. */
#ifndef RETRIEVAL_TEXT_PIECES_H
#define RETRIEVAL_TEXT_PIECES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { TEXT_PIECES_MAX = 10 }; /* a word of more is no identifier, but a key or a digest */

/* The pieces of the word codes[from..to): ret_ends[i] is where piece i ends. A piece ends between a
 * digit and another letter, before a capital that follows a small letter, and before the last of
 * several capitals where small letters follow it (XMLParser; but APIs is one). Letters beyond ASCII
 * show no case and begin none. Returns how many there are; 1 where the word is not to be split. */
size_t text_pieces(const int32_t *codes, size_t from, size_t to, size_t ret_ends[TEXT_PIECES_MAX]);

/* PDFs, APIs: whose last letter no stemmer takes for a plural where it finds no vowel. */
bool text_is_plural_abbreviation(const int32_t *codes, size_t from, size_t to);

#endif
