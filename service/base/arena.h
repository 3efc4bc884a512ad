/* SPDX-License-Identifier: Apache-2.0 */
/* arena: memory that is released all at once, with the request or object that owns it.
 *
 * Thread:    one at a time.      Failure: as mem.h. */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "service/base/slice.h"

struct arena_block;

struct arena {
    struct arena_block *newest;
    size_t used; /* bytes taken from newest */
};

/* A zeroed struct arena is ready; this makes one so. */
void arena_init(struct arena *a);
void arena_done(struct arena *a);

/* n zeroed bytes aligned for any type, valid until arena_done. */
void *arena_alloc(struct arena *a, size_t n);

/* Hands all that was allocated from `other` over to `a`, where it stays valid; `other` is empty. */
void arena_join(struct arena *a, struct arena *other);

/* A copy with a NUL behind it (not counted); SLICE_NONE stays SLICE_NONE. */
struct slice arena_copy(struct arena *a, struct slice s);

#endif
