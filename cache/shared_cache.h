/* SPDX-License-Identifier: Apache-2.0 */
/* shared_cache: answers and the right to work one out, shared by all replicas through Redis
 * (docs/design.md §7).
 *
 * A value carries its key and an HMAC-SHA-256; one that does not verify, whoever wrote it, is none
 * and is overwritten. The right to lead is a lock with an expiry: who finds it taken asks again
 * after 10, 20, 40 … ms with jitter for at most the lock's life, then works alone. Whatever Redis
 * does, a call goes on: no error of it is ever the caller's.
 * Thread:    any; a find or a keep belongs to its loop.     Blocking: never.
 * Ownership: outlives every redis_loop it was used with.
 * Ceiling:   SHARED_VALUE_MAX_BYTES; larger answers stay in the process. */
#ifndef CACHE_SHARED_CACHE_H
#define CACHE_SHARED_CACHE_H

#include "cache/shared_value.h"
#include "service/base/op.h"
#include "service/loop/redis_loop.h"

enum {
    SHARED_PREFIX_MAX_BYTES = 64,
    SHARED_TOKEN_CHARS = 32,
};

struct shared_cache; /* opaque */

struct shared_cache_options {
    struct slice hmac_key;   /* at least SHARED_HMAC_KEY_MIN_BYTES, copied */
    struct slice key_prefix; /* of every key in Redis, at most SHARED_PREFIX_MAX_BYTES; copied */
    int64_t ttl_ms, lock_ms; /* at least 1 */
    /* Told when Redis begins to refuse the cache's commands, `why` the first word of its error, and
     * when it carries them out again. A Redis that is away is not told here. Any thread. May be
     * NULL. */
    void (*on_mode)(void *who, bool works, const char *why);
    void *who;
};
struct shared_cache *shared_cache_new(const struct shared_cache_options *options);
void shared_cache_free(struct shared_cache *c);

/* What a find left to the caller. A zeroed one holds nothing. */
struct shared_claim {
    bool held;      /* the lock is ours: keep or give it up */
    bool overwrite; /* what is stored under the key is not an answer */
    char token[SHARED_TOKEN_CHARS + 1];
};

/* Where a find or a keep happens. */
struct shared_place {
    struct redis_loop *redis; /* this loop's */
    struct loop *loop;
    struct slice tenant; /* its keys lie in one hash slot */
    const struct cache_key *key;
};

/* Looks for the answer, waiting for a replica that works on it. op is done with ERR_OK always:
 * *ret_value a hit to release, or NULL: work it out, *ret_claim says with which right. Cancelled: a
 * lock it got meanwhile is given up. place is borrowed until op is done or cancelled. */
void shared_cache_find(struct shared_cache *c, const struct shared_place *place,
                       struct shared_claim *ret_claim, const struct cache_value **ret_value,
                       struct op *op);

/* Stores an answer and gives up the claim, in one batch. op is done with ERR_OK always:
 * *ret_value is what the first writer stored, to release; `value` itself (a reference more) where
 * that is it, or where Redis did not say. value's key is the place's. place and claim are borrowed
 * likewise. Cancelled: what was sent goes on. */
void shared_cache_keep(struct shared_cache *c, const struct shared_place *place,
                       const struct shared_claim *claim, const struct cache_value *value,
                       const struct cache_value **ret_value, struct op *op);

/* For whoever does not keep. Nothing happens where the claim holds nothing. */
void shared_cache_give_up(struct shared_cache *c, const struct shared_place *place,
                          struct shared_claim *claim);

struct shared_cache_stats {
    uint64_t hits, misses; /* finds that Redis answered, with an answer and without */
    uint64_t unavailable;  /* finds and keeps that it did not answer, or with an error */
    uint64_t rejected;     /* stored values that did not verify */
    uint64_t waited;       /* finds that found another replica at work */
    uint64_t too_large;    /* answers that were not stored */
};
void shared_cache_stats(struct shared_cache *c, struct shared_cache_stats *ret_stats);

#endif
