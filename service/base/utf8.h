/* SPDX-License-Identifier: Apache-2.0 */
/* utf8: strict UTF-8 (Unicode 15 §3.9, table 3-7). Pure. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "service/base/dynbuf.h"

#define UTF8_BAD UINT32_MAX

/* Decodes the code point at s.p (s.n > 0) and returns how many bytes it takes (1..4).
 * Ill-formed: *ret_code is UTF8_BAD and the result is the length of the maximal subpart (>= 1). */
size_t utf8_decode(struct slice s, uint32_t *ret_code);

/* Appends code (a scalar value) as 1..4 bytes. */
void utf8_add(struct dynbuf *b, uint32_t code);

bool utf8_is_valid(struct slice s);

/* How many bytes s begins with that are ASCII: fast, since most texts are nothing else. */
size_t utf8_ascii_length(struct slice s);

/* The number of code points in valid UTF-8. */
size_t utf8_count(struct slice s);

/* Appends s with U+FFFD for each maximal ill-formed subpart; returns how many it replaced. */
size_t utf8_add_valid(struct dynbuf *b, struct slice s);

#endif
