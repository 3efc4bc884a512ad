/* SPDX-License-Identifier: Apache-2.0 */
/* The keys are SHA-256 values, so their first bytes are a good hash as they stand. */
#include "cache/lru.h"

#include "service/base/mem.h"

#include <stdlib.h>

enum { BUCKETS_AT_START = 64 };

static size_t bucket_of(const struct lru *l, const struct digest *key)
{
    uint64_t hash;
    memcpy(&hash, key->bytes, sizeof(hash));
    return (size_t)(hash & (l->n_buckets - 1));
}

void lru_init(struct lru *l)
{
    *l = (struct lru){.n_buckets = BUCKETS_AT_START};
    l->buckets = mem_array(l->n_buckets, sizeof(struct lru_entry *));
}

static void link_newest(struct lru *l, struct lru_entry *e)
{
    e->newer = NULL;
    e->older = l->newest;
    if (l->newest) {
        l->newest->newer = e;
    } else {
        l->oldest = e;
    }
    l->newest = e;
}

static void unlink_order(struct lru *l, struct lru_entry *e)
{
    if (e->newer) {
        e->newer->older = e->older;
    } else {
        l->newest = e->older;
    }
    if (e->older) {
        e->older->newer = e->newer;
    } else {
        l->oldest = e->newer;
    }
}

struct lru_entry *lru_find(struct lru *l, const struct digest *key)
{
    struct lru_entry *e = l->buckets[bucket_of(l, key)];
    while (e && !digest_eq(&e->key, key)) {
        e = e->chain;
    }
    if (e) {
        unlink_order(l, e);
        link_newest(l, e);
    }
    return e;
}

static void grow(struct lru *l)
{
    struct lru_entry **old = l->buckets;
    size_t n_old = l->n_buckets;
    l->n_buckets *= 2;
    l->buckets = mem_array(l->n_buckets, sizeof(struct lru_entry *));
    for (size_t i = 0; i < n_old; i++) {
        struct lru_entry *e = old[i];
        while (e) {
            struct lru_entry *next = e->chain;
            size_t at = bucket_of(l, &e->key);
            e->chain = l->buckets[at];
            l->buckets[at] = e;
            e = next;
        }
    }
    free(old);
}

void lru_add(struct lru *l, struct lru_entry *e)
{
    if (l->n >= l->n_buckets) {
        grow(l);
    }
    size_t at = bucket_of(l, &e->key);
    e->chain = l->buckets[at];
    l->buckets[at] = e;
    link_newest(l, e);
    l->n++;
}

void lru_remove(struct lru *l, struct lru_entry *e)
{
    struct lru_entry **at = &l->buckets[bucket_of(l, &e->key)];
    while (*at != e) {
        at = &(*at)->chain;
    }
    *at = e->chain;
    unlink_order(l, e);
    l->n--;
}

void lru_done(struct lru *l, void (*release)(struct lru_entry *e))
{
    while (l->oldest) {
        struct lru_entry *e = l->oldest;
        lru_remove(l, e);
        if (release) {
            release(e);
        }
    }
    free(l->buckets);
    *l = (struct lru){0};
}
