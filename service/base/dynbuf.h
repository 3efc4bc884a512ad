/* SPDX-License-Identifier: Apache-2.0 */
/* dynbuf: a growing byte buffer that names its ceiling.
 *
 * Failure: going past max_bytes sets `failed` and adds nothing from then on; ask once, at the end.
 */
#ifndef BASE_DYNBUF_H
#define BASE_DYNBUF_H

#include "service/base/slice.h"

#include <stdint.h>

struct dynbuf {
    char *p;
    size_t n, cap, max_bytes;
    bool failed;
};

void dynbuf_init(struct dynbuf *b, size_t max_bytes);
void dynbuf_done(struct dynbuf *b);

void dynbuf_add(struct dynbuf *b, struct slice bytes);
void dynbuf_add_text(struct dynbuf *b, const char *text);
void dynbuf_add_byte(struct dynbuf *b, char byte);

/* Adds n bytes for the caller to fill and returns where they begin; NULL where they do not fit. */
char *dynbuf_extend(struct dynbuf *b, size_t n);

/* Decimal, whatever the locale. */
void dynbuf_add_int(struct dynbuf *b, int64_t value);

/* The bytes so far with a NUL behind them that counts neither as a byte nor against the ceiling;
 * NULL where the buffer failed. Valid until the next add. */
const char *dynbuf_text(struct dynbuf *b);

/* Forgets what was added after the buffer held n bytes. */
void dynbuf_cut(struct dynbuf *b, size_t n);

/* The bytes so far; valid until the next add. */
static inline struct slice dynbuf_get(const struct dynbuf *b)
{
    return (struct slice){b->p ? b->p : "", b->n};
}

#endif
