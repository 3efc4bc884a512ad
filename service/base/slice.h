/* SPDX-License-Identifier: Apache-2.0 */
/* slice: bytes that somebody else owns.
 *
 * A slice is borrowed until the call returns unless the header that takes it says otherwise.
 * It is not NUL-terminated. SLICE_NONE (p == NULL) means absent; an empty text has p != NULL. */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct slice {
    const char *p;
    size_t n;
};

#define SLICE_LIT(literal) ((struct slice){(literal), sizeof(literal) - 1})
#define SLICE_NONE ((struct slice){NULL, 0})

/* The bytes of a NUL-terminated text; SLICE_NONE for NULL. */
static inline struct slice slice_of(const char *text)
{
    return text ? (struct slice){text, strlen(text)} : SLICE_NONE;
}

static inline bool slice_eq(struct slice a, struct slice b)
{
    return a.n == b.n && (a.n == 0 || memcmp(a.p, b.p, a.n) == 0);
}

static inline bool slice_is(struct slice a, const char *text)
{
    return slice_eq(a, slice_of(text));
}

/* Bytewise order, the shorter first where one is a prefix: <0, 0, >0. */
static inline int slice_cmp(struct slice a, struct slice b)
{
    size_t n = a.n < b.n ? a.n : b.n;
    int order = n ? memcmp(a.p, b.p, n) : 0;
    if (order != 0) {
        return order;
    }
    return a.n < b.n ? -1 : a.n > b.n;
}

static inline bool slice_starts(struct slice a, struct slice prefix)
{
    return a.n >= prefix.n && (prefix.n == 0 || memcmp(a.p, prefix.p, prefix.n) == 0);
}

/* Nothing but spaces, tabs and line ends. */
static inline bool slice_is_blank(struct slice a)
{
    size_t n = 0;
    while (n < a.n && (a.p[n] == ' ' || a.p[n] == '\t' || a.p[n] == '\r' || a.p[n] == '\n')) {
        n++;
    }
    return n == a.n;
}

/* FNV-1a of 64 bits. Cheap, and whoever chooses the keys can make them collide. */
static inline uint64_t slice_hash(struct slice a)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < a.n; i++) {
        h = (h ^ (unsigned char)a.p[i]) * 0x100000001B3u;
    }
    return h;
}

/* a without its first n bytes (n <= a.n). */
static inline struct slice slice_skip(struct slice a, size_t n)
{
    return (struct slice){a.p + n, a.n - n};
}

#endif
