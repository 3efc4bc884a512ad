/* SPDX-License-Identifier: Apache-2.0 */
/* In this process only: one table behind one mutex. It is held for a lookup or a list splice;
 * bodies are copied in before and read outside it. */
#include "cache/cache.h"

#include "cache/lru.h"
#include "service/base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct entry {
    struct lru_entry lru; /* first: an entry is found by its lru_entry */
    struct cache_value value;
    atomic_uint refs; /* one for the table, one for each holder of a hit */
    char bytes[];
};

struct cache {
    pthread_mutex_t lock;
    struct lru table;
    size_t max_bytes, bytes;
    uint64_t evicted;
};

struct cache *cache_new(size_t max_bytes)
{
    struct cache *c = mem_alloc(sizeof(*c));
    pthread_mutex_init(&c->lock, NULL);
    lru_init(&c->table);
    c->max_bytes = max_bytes;
    return c;
}

static void entry_unref(struct entry *e)
{
    if (atomic_fetch_sub(&e->refs, 1) == 1) {
        free(e);
    }
}

static size_t entry_size(const struct entry *e)
{
    return sizeof(*e) + e->value.body.n + e->value.note.n;
}

static void drop(struct cache *c, struct entry *e)
{
    lru_remove(&c->table, &e->lru);
    c->bytes -= entry_size(e);
    entry_unref(e);
}

static void release_entry(struct lru_entry *e)
{
    entry_unref((struct entry *)e);
}

void cache_free(struct cache *c)
{
    if (!c) {
        return;
    }
    lru_done(&c->table, release_entry);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

static struct entry *entry_of(const struct cache_value *v)
{
    char *value = (char *)(uintptr_t)v;
    return (struct entry *)(void *)(value - offsetof(struct entry, value));
}

static struct slice copy_to(char *at, struct slice bytes)
{
    if (bytes.n) {
        memcpy(at, bytes.p, bytes.n);
    }
    return (struct slice){at, bytes.n};
}

const struct cache_value *cache_value_new(const struct cache_key *key, struct slice body,
                                          struct slice note, bool is_empty_outcome)
{
    struct entry *e = mem_realloc(NULL, sizeof(*e) + body.n + note.n); /* zeroes cost as a copy */
    *e = (struct entry){0};
    e->lru.key = key->value;
    e->value.key = *key;
    e->value.body = copy_to(e->bytes, body);
    e->value.note = copy_to(e->bytes + body.n, note);
    e->value.is_empty_outcome = is_empty_outcome;
    atomic_init(&e->refs, 1);
    return &e->value;
}

const struct cache_value *cache_value_ref(const struct cache_value *v)
{
    atomic_fetch_add(&entry_of(v)->refs, 1);
    return v;
}

void cache_release(const struct cache_value *v)
{
    if (v) {
        entry_unref(entry_of(v));
    }
}

const struct cache_value *cache_get(struct cache *c, const struct cache_key *key)
{
    pthread_mutex_lock(&c->lock);
    struct entry *e = (struct entry *)lru_find(&c->table, &key->value);
    const struct cache_value *v = e ? cache_value_ref(&e->value) : NULL;
    pthread_mutex_unlock(&c->lock);
    return v;
}

static void make_room(struct cache *c, size_t size)
{
    while (c->bytes + size > c->max_bytes) {
        drop(c, (struct entry *)lru_oldest(&c->table));
        c->evicted++;
    }
}

const struct cache_value *cache_put(struct cache *c, const struct cache_value *v)
{
    struct entry *e = entry_of(v);
    if (entry_size(e) > c->max_bytes) {
        return cache_value_ref(v);
    }
    pthread_mutex_lock(&c->lock);
    struct entry *held = (struct entry *)lru_find(&c->table, &v->key.value);
    if (!held) {
        make_room(c, entry_size(e));
        lru_add(&c->table, &e->lru);
        c->bytes += entry_size(e);
        cache_value_ref(v);
        held = e;
    }
    const struct cache_value *kept = cache_value_ref(&held->value);
    pthread_mutex_unlock(&c->lock);
    return kept;
}

void cache_stats(struct cache *c, struct cache_stats *ret_stats)
{
    pthread_mutex_lock(&c->lock);
    *ret_stats =
        (struct cache_stats){.entries = c->table.n, .bytes = c->bytes, .evicted = c->evicted};
    pthread_mutex_unlock(&c->lock);
}
