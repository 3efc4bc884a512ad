/* SPDX-License-Identifier: Apache-2.0 */
/* cache: answers by what they answer, shared by every loop of the process.
 *
 * Thread:    any.      Blocking: never beyond one short mutex.
 * Ownership: values are copied in; a hit is a reference the caller gives back.
 * Ceiling:   max_bytes of values and their bookkeeping; the least recently used go first.
 * Failure:   none: what cannot be kept is a later miss. */
#ifndef CACHE_CACHE_H
#define CACHE_CACHE_H

#include "cache/key.h"
#include "service/base/op.h"

struct cache; /* opaque */

/* One stored answer, immutable and reference-counted. */
struct cache_value {
    struct slice body;
    struct slice note;     /* what the audit says of the answer; never sent */
    bool is_empty_outcome; /* the `empty` outcome: cached like any answer */
};

/* max_bytes 0: keeps nothing. */
struct cache *cache_new(size_t max_bytes);
void cache_free(struct cache *c);

/* Looks key up; op is done with ERR_OK and *ret_value set: a hit to release, or NULL: a miss. */
void cache_get(struct cache *c, const struct cache_key *key, const struct cache_value **ret_value,
               struct op *op);
void cache_release(const struct cache_value *v);

/* Copies value. First writer wins: where the key is held already, that value stays. */
void cache_put(struct cache *c, const struct cache_key *key, const struct cache_value *value);

struct cache_stats {
    uint64_t entries, bytes, evicted;
};
void cache_stats(struct cache *c, struct cache_stats *ret_stats);

#endif
