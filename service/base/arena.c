/* SPDX-License-Identifier: Apache-2.0 */
/* A chain of blocks; an allocation larger than a block gets one of its own. */
#include "service/base/arena.h"

#include "service/base/mem.h"

#include <stdalign.h>
#include <stdlib.h>

enum { BLOCK_BYTES = 4 * 1024 };

struct arena_block {
    struct arena_block *older;
    size_t size;
    alignas(max_align_t) char bytes[];
};

void arena_init(struct arena *a)
{
    *a = (struct arena){0};
}

void arena_done(struct arena *a)
{
    struct arena_block *block = a->newest;
    while (block) {
        struct arena_block *older = block->older;
        free(block);
        block = older;
    }
    arena_init(a);
}

void *arena_alloc(struct arena *a, size_t n)
{
    const size_t align = alignof(max_align_t);
    size_t size = (n + align - 1) / align * align;
    if (!a->newest || a->newest->size - a->used < size) {
        size_t block_size = size > BLOCK_BYTES ? size : BLOCK_BYTES;
        struct arena_block *block = mem_alloc(sizeof(*block) + block_size);
        block->older = a->newest;
        block->size = block_size;
        a->newest = block;
        a->used = 0;
    }
    void *p = a->newest->bytes + a->used;
    a->used += size;
    return p;
}

void arena_join(struct arena *a, struct arena *other)
{
    struct arena_block **place = &a->newest;
    if (a->newest) { /* behind the block that is being filled */
        place = &a->newest->older;
    } else {
        a->used = other->used;
    }
    struct arena_block *older = *place;
    *place = other->newest;
    while (*place) {
        place = &(*place)->older;
    }
    *place = older;
    arena_init(other);
}

struct slice arena_copy(struct arena *a, struct slice s)
{
    if (!s.p) {
        return SLICE_NONE;
    }
    char *copy = arena_alloc(a, s.n + 1);
    memcpy(copy, s.p, s.n);
    return (struct slice){copy, s.n};
}
