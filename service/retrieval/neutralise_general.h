/* SPDX-License-Identifier: Apache-2.0 */
/* neutralise_general: the neutraliser for whatever bytes; neutralise.c takes a shorter way where it
 * leads to the same bytes. */
#ifndef RETRIEVAL_NEUTRALISE_GENERAL_H
#define RETRIEVAL_NEUTRALISE_GENERAL_H

#include "service/retrieval/neutralise.h"

enum {
    /* A passage's longer lines are wrapped between words, so that the cap cuts nothing but lines
     * that are made of marks. */
    NEUTRALISE_WRAP_BYTES = 2048,
};

/* As neutralise_text or, with one_line, neutralise_line, but adds to *count. */
void neutralise_general(struct dynbuf *out, struct slice bytes, bool one_line,
                        struct neutralise_count *count);

/* How many bytes at the start of text are printable ASCII or tabs: none of them is removed or
 * replaced, and NFC changes none but the last one. */
static inline size_t neutralise_plain_run(struct slice text)
{
    size_t n = 0;
    while (n < text.n && ((text.p[n] >= 0x20 && text.p[n] < 0x7F) || text.p[n] == '\t')) {
        n++;
    }
    return n;
}

#endif
