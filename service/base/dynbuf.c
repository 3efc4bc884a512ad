/* SPDX-License-Identifier: Apache-2.0 */
/* Doubles up to the ceiling, so that adding n bytes costs O(n). */
#include "service/base/dynbuf.h"

#include "service/base/mem.h"

#include <stdlib.h>

void dynbuf_init(struct dynbuf *b, size_t max_bytes)
{
    *b = (struct dynbuf){.max_bytes = max_bytes};
}

void dynbuf_done(struct dynbuf *b)
{
    free(b->p);
    dynbuf_init(b, b->max_bytes);
}

static bool make_room(struct dynbuf *b, size_t n)
{
    if (b->failed || n > b->max_bytes - b->n) {
        b->failed = true;
        return false;
    }
    if (b->cap - b->n <= n) { /* one byte stays free for dynbuf_text */
        size_t cap = b->cap ? b->cap : 128;
        while (cap - b->n <= n) {
            cap *= 2;
        }
        b->p = mem_realloc(b->p, cap);
        b->cap = cap;
    }
    return true;
}

void dynbuf_add(struct dynbuf *b, struct slice bytes)
{
    if (bytes.n && make_room(b, bytes.n)) {
        memcpy(b->p + b->n, bytes.p, bytes.n);
        b->n += bytes.n;
    }
}

void dynbuf_add_text(struct dynbuf *b, const char *text)
{
    dynbuf_add(b, slice_of(text));
}

void dynbuf_add_byte(struct dynbuf *b, char byte)
{
    dynbuf_add(b, (struct slice){&byte, 1});
}

char *dynbuf_extend(struct dynbuf *b, size_t n)
{
    if (!make_room(b, n)) {
        return NULL;
    }
    char *at = b->p + b->n;
    b->n += n;
    return at;
}

void dynbuf_add_int(struct dynbuf *b, int64_t value)
{
    char digits[20];
    size_t at = sizeof(digits);
    uint64_t rest = value < 0 ? ~(uint64_t)value + 1 : (uint64_t)value;
    do {
        digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    if (value < 0) {
        dynbuf_add_byte(b, '-');
    }
    dynbuf_add(b, (struct slice){digits + at, sizeof(digits) - at});
}

const char *dynbuf_text(struct dynbuf *b)
{
    if (!make_room(b, 0)) {
        return NULL;
    }
    b->p[b->n] = '\0';
    return b->p;
}

void dynbuf_cut(struct dynbuf *b, size_t n)
{
    if (n < b->n) {
        b->n = n;
    }
}
