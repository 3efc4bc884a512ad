/* SPDX-License-Identifier: Apache-2.0 */
/* lru: entries found by a 32-byte digest and ordered by last use; the base of cache and budget.
 *
 * Intrusive: the entry is embedded in its owner's record, which the owner allocates and frees.
 * Thread:    the owner's lock.      Ceiling: the owner's, by lru_oldest(). */
#ifndef CACHE_LRU_H
#define CACHE_LRU_H

#include "service/digest/digest.h"

struct lru_entry {
    struct digest key; /* set before lru_add */
    struct lru_entry *chain, *newer, *older;
};

struct lru {
    struct lru_entry **buckets;
    size_t n_buckets, n;
    struct lru_entry *newest, *oldest;
};

void lru_init(struct lru *l);

/* Takes every entry out, gives it to `release` (NULL: nobody), and frees the table. */
void lru_done(struct lru *l, void (*release)(struct lru_entry *e));

/* The entry of that key, made the newest; NULL where there is none. */
struct lru_entry *lru_find(struct lru *l, const struct digest *key);

/* Adds an entry whose key is not in the table, as the newest. */
void lru_add(struct lru *l, struct lru_entry *e);

void lru_remove(struct lru *l, struct lru_entry *e);

/* The least recently used, or NULL. */
static inline struct lru_entry *lru_oldest(const struct lru *l)
{
    return l->oldest;
}

#endif
