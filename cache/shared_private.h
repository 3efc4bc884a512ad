/* SPDX-License-Identifier: Apache-2.0 */
/* shared_private: what the files of the shared cache share. */
#ifndef CACHE_SHARED_PRIVATE_H
#define CACHE_SHARED_PRIVATE_H

#include "cache/shared_cache.h"
#include "cache/shared_value.h"

#include <stdatomic.h>

enum {
    SHARED_TENANT_BYTES = 8, /* of its SHA-256 */
    /* prefix, "a:{", tenant, "}:", key */
    SHARED_NAME_MAX_BYTES =
        SHARED_PREFIX_MAX_BYTES + 3 + 2 * SHARED_TENANT_BYTES + 2 + 2 * DIGEST_BYTES,
    SHARED_NUMBER_CHARS = 24,
};

struct shared_counters {
    atomic_uint_fast64_t hits, misses, unavailable, rejected, waited, too_large;
};

struct shared_cache {
    struct redis_script find, release;
    struct slice hmac_key, prefix;
    int64_t lock_ms;
    /* as Redis takes them */
    char ttl_text[SHARED_NUMBER_CHARS], lock_text[SHARED_NUMBER_CHARS],
        max_text[SHARED_NUMBER_CHARS];
    struct shared_counters counters;
    uint64_t token_seed;         /* drawn for this process */
    atomic_uint_fast64_t tokens; /* so many were made */
    void (*on_mode)(void *who, bool works, const char *why);
    void *who;
    atomic_bool is_refused;
    atomic_int_fast64_t refused_mono_ms; /* last */
    char bytes[];
};

/* An answer and its lock in Redis. */
struct shared_spot {
    struct redis_loop *redis;
    size_t n; /* of either name */
    char value[SHARED_NAME_MAX_BYTES], lock[SHARED_NAME_MAX_BYTES];
};

void shared_spot_init(const struct shared_cache *c, const struct shared_place *place,
                      struct shared_spot *ret_spot);

static inline struct slice shared_spot_value(const struct shared_spot *s)
{
    return (struct slice){s->value, s->n};
}

static inline struct slice shared_spot_lock(const struct shared_spot *s)
{
    return (struct slice){s->lock, s->n};
}

/* Behind whatever was sent before it: gives the lock up where it is still the token's. */
void shared_release(const struct shared_cache *c, const struct shared_spot *spot,
                    const char *token);

/* Redis answered a command with this error. */
void shared_note_error(struct shared_cache *c, struct slice error);

/* It wrote what it was given. */
void shared_note_written(struct shared_cache *c);

#endif
