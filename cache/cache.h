/* SPDX-License-Identifier: Apache-2.0 */
/* cache: answers by what they answer, shared by every loop of the process.
 *
 * Thread:    any.      Blocking: never beyond one short mutex.
 * Ownership: a value lives while anybody holds a reference, the cache included.
 * Ceiling:   max_bytes of values and their bookkeeping; the least recently used go first.
 * Failure:   none: what cannot be kept is a later miss. */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include "cache/key.h"

struct cache; /* opaque */

/* One answer, immutable and reference-counted, in a cache or not. */
struct cache_value {
    struct cache_key key;
    struct slice body;
    struct slice note;     /* what the audit says of the answer; never sent */
    bool is_empty_outcome; /* the `empty` outcome: cached like any answer */
};

/* A copy of these parts with one reference. note may be SLICE_NONE. */
const struct cache_value *cache_value_new(const struct cache_key *key, struct slice body,
                                          struct slice note, bool is_empty_outcome);
const struct cache_value *cache_value_ref(const struct cache_value *v);
void cache_release(const struct cache_value *v); /* NULL is fine */

/* max_bytes 0: keeps nothing. */
struct cache *cache_new(size_t max_bytes);
void cache_free(struct cache *c);

/* A hit to release, or NULL. */
const struct cache_value *cache_get(struct cache *c, const struct cache_key *key);

/* Keeps v. First writer wins: where its key is held already, that value stays. The value that is
 * kept, or v where it has no room: a reference to release. */
const struct cache_value *cache_put(struct cache *c, const struct cache_value *v);

struct cache_stats {
    uint64_t entries, bytes, evicted;
};
void cache_stats(struct cache *c, struct cache_stats *ret_stats);

#endif
