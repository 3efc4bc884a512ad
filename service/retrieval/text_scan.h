/* SPDX-License-Identifier: Apache-2.0 */
/* text_scan: cuts a text into terms (text.h says which). For text.c alone. */
#ifndef RETRIEVAL_TEXT_SCAN_H
#define RETRIEVAL_TEXT_SCAN_H

#include "service/retrieval/text_normal.h"
#include "service/retrieval/text_stem.h"

struct text_token {
    struct slice term;
    uint32_t position;
    bool is_part; /* of a longer word, which is a term as well */
};

struct text_scan {
    struct stems *stems;
    struct codes *codes;
    bool for_query; /* a run of CJK gives single characters only where it is one */
    void (*on_token)(void *arg, const struct text_token *token);
    void *arg;
    uint32_t position; /* of the next word; begins at 0 */
};

/* Calls on_token for each term of valid UTF-8, in order; a term is borrowed until it returns. */
void text_scan(struct text_scan *s, struct slice utf8);

#endif
