/* SPDX-License-Identifier: Apache-2.0 */
/* text_normal: Unicode normal forms as code points, in time linear in the text whatever it holds.
 *
 * Pure. Thread: one buffer, one thread. */
#ifndef RETRIEVAL_TEXT_NORMAL_H
#define RETRIEVAL_TEXT_NORMAL_H

#include "service/base/dynbuf.h"

struct codes {
    int32_t *p;
    size_t n, cap;
};

enum normal_form {
    NORMAL_NFC,
    NORMAL_NFKC,
    NORMAL_FOLD, /* NFKC, case folded, ignorable characters and diacritics gone: for searching.
                    Capitals of ASCII stay, since they show where the words of an identifier begin
                  */
};

/* A zeroed struct codes is empty and ready. */
void codes_done(struct codes *c);

/* Replaces what c holds by the normal form of `utf8` (ill-formed parts as U+FFFD). */
void text_normalise(struct codes *c, struct slice utf8, enum normal_form form);

/* A combining mark: Mn, Mc, Me. */
bool code_is_mark(int32_t code);

/* White_Space of the Unicode character database. */
bool code_is_space(int32_t code);

/* Of a script written without spaces between words, or Hangul, whose words carry their particles.
 */
bool code_is_unspaced(int32_t code);

/* Room for n more than c->n. */
void codes_reserve(struct codes *c, size_t n);

/* Appends one code point, for those who build their own. */
static inline void codes_add(struct codes *c, int32_t code)
{
    if (c->n == c->cap) {
        codes_reserve(c, 1);
    }
    c->p[c->n++] = code;
}

/* The longest part of valid UTF-8 from its start that has at most max bytes and ends between words:
 * before or after white space, or beside a character of an unspaced script. Where the first word is
 * longer than that: between characters. */
size_t text_cut(struct slice utf8, size_t max);

#endif
