/* SPDX-License-Identifier: Apache-2.0 */
/* world: the documents of one version of a store, and what may become of them. */
#ifndef TESTS_WHOLE_WORLD_H
#define TESTS_WHOLE_WORLD_H

#include "service/retrieval/segment.h"
#include "tests/unit/whole/caller.h"

enum { MAX_PAPERS = 160 };

/* Ids of hidden documents begin like this, and those of visible ones never hold it: no byte of it
 * may come back. */
#define VEILED "veiled"

struct paper {
    struct place place;
    bool seen; /* by the caller */
    struct doc_input input;
};

struct world {
    struct arena *arena; /* shared by the versions of a case */
    struct paper papers[MAX_PAPERS];
    size_t n;
};

/* What both versions of a case draw from. */
struct author {
    struct draw *draw;
    const struct caller *caller;
    struct arena *arena;
    unsigned next_id;
    char done[512]; /* names of the changes, for the report of a failure */
};

/* Documents in the places of the caller, perhaps none. */
void world_draw(struct world *w, struct author *a);

/* Changes hidden documents only: added, changed, deleted, renamed, moved from one hidden place to
 * another, copied from visible ones, stuffed with their words … */
void world_change_hidden(struct world *w, struct author *a);

/* Changes one visible document, in one respect, or adds or removes one. */
void world_change_seen(struct world *w, struct author *a);

/* Its parts: a new document with everything drawn, in a place of the caller. Of hidden ones only
 * while there is room: one visible document more always fits. */
static inline bool world_has_room(const struct world *w)
{
    return w->n + 1 < MAX_PAPERS;
}
struct paper *world_add(struct world *w, struct author *a, bool seen);
struct slice world_new_id(struct author *a, bool seen);
void world_draw_head(struct author *a, struct doc_input *doc);
struct chunk_input *world_new_chunks(struct author *a, struct doc_input *doc, size_t n);

/* A few words as they stand in documents; of: take them from this text (SLICE_NONE: from
 * anywhere). */
struct slice world_words(struct author *a, unsigned n, struct slice of);

/* A random paper that is seen, or hidden; NULL where there is none. */
const struct paper *world_pick(const struct world *w, struct author *a, bool seen);

#endif
