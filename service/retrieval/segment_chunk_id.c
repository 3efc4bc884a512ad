/* SPDX-License-Identifier: Apache-2.0 */
/* A chunk id is compared as a whole text: comparing its parts one by one gives another order, since
 * a name may end where another goes on with a byte below '/'. */
#include "service/base/dynbuf.h"
#include "service/retrieval/segment_reader.h"

enum { PARTS = 5, POSITION_MAX_DIGITS = 10 };

struct chunk_id_parts {
    struct slice parts[PARTS];
    char digits[POSITION_MAX_DIGITS];
};

static void split(const struct segment_reader *r, uint32_t chunk, struct chunk_id_parts *ret)
{
    const struct segment_chunk c = segment_chunk_at(r, chunk);
    size_t at = sizeof(ret->digits);
    uint32_t rest = c.position;
    do {
        ret->digits[--at] = (char)('0' + rest % 10);
        rest /= 10;
    } while (rest);
    ret->parts[0] = r->partition.scope.collection;
    ret->parts[1] = SLICE_LIT("/");
    ret->parts[2] = segment_doc_at(r, c.doc).doc_id;
    ret->parts[3] = SLICE_LIT("/");
    ret->parts[4] = (struct slice){ret->digits + at, sizeof(ret->digits) - at};
}

/* The bytes from *part on: skips what is used up. */
static size_t left_in(struct slice *parts, size_t *part)
{
    while (*part < PARTS && parts[*part].n == 0) {
        ++*part;
    }
    return *part < PARTS ? parts[*part].n : 0;
}

int segment_chunk_cmp(const struct segment_reader *a, uint32_t chunk_a,
                      const struct segment_reader *b, uint32_t chunk_b)
{
    struct chunk_id_parts x, y;
    split(a, chunk_a, &x);
    split(b, chunk_b, &y);
    size_t i = 0, j = 0;
    for (;;) {
        size_t n = left_in(x.parts, &i);
        size_t m = left_in(y.parts, &j);
        if (n == 0 || m == 0) {
            return (n > 0) - (m > 0);
        }
        size_t both = n < m ? n : m;
        int order = memcmp(x.parts[i].p, y.parts[j].p, both);
        if (order) {
            return order;
        }
        x.parts[i] = slice_skip(x.parts[i], both);
        y.parts[j] = slice_skip(y.parts[j], both);
    }
}

struct slice segment_chunk_id(const struct segment_reader *r, uint32_t chunk, struct arena *arena)
{
    struct chunk_id_parts id;
    split(r, chunk, &id);
    size_t n = 0;
    for (size_t i = 0; i < PARTS; i++) {
        n += id.parts[i].n;
    }
    char *text = arena_alloc(arena, n + 1);
    size_t at = 0;
    for (size_t i = 0; i < PARTS; i++) {
        memcpy(text + at, id.parts[i].p, id.parts[i].n);
        at += id.parts[i].n;
    }
    return (struct slice){text, n};
}
