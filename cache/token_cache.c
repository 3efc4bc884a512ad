/* SPDX-License-Identifier: Apache-2.0 */
/* An entry is one allocation of exactly what the claims need: thousands of them should not cost a
 * page each. */
#include "cache/token_cache.h"

#include "cache/lru.h"
#include "service/base/mem.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

struct entry {
    struct lru_entry lru; /* first: an entry is found by its lru_entry */
    struct verified_token verified;
    atomic_uint refs; /* one for the table, one for each holder */
    uint64_t generation;
    int64_t from_ms, until_ms;
    char bytes[];
};

struct token_cache {
    pthread_mutex_t lock;
    struct lru table;
    size_t max_entries;
    uint64_t hits, misses;
};

struct token_cache *token_cache_new(size_t max_entries)
{
    struct token_cache *c = mem_alloc(sizeof(*c));
    pthread_mutex_init(&c->lock, NULL);
    lru_init(&c->table);
    c->max_entries = max_entries;
    return c;
}

static void entry_unref(struct entry *e)
{
    if (atomic_fetch_sub(&e->refs, 1) == 1) {
        free(e);
    }
}

static void drop(struct token_cache *c, struct entry *e)
{
    lru_remove(&c->table, &e->lru);
    entry_unref(e);
}

static void release_entry(struct lru_entry *e)
{
    entry_unref((struct entry *)e);
}

void token_cache_free(struct token_cache *c)
{
    if (!c) {
        return;
    }
    lru_done(&c->table, release_entry);
    pthread_mutex_destroy(&c->lock);
    free(c);
}

void token_cache_release(const struct verified_token *v)
{
    if (v) {
        char *at = (char *)(uintptr_t)v;
        entry_unref((struct entry *)(void *)(at - offsetof(struct entry, verified)));
    }
}

static size_t texts_size(const struct slice *texts, size_t n)
{
    size_t size = n * sizeof(*texts);
    for (size_t i = 0; i < n; i++) {
        size += texts[i].n;
    }
    return size;
}

static size_t claims_size(const struct claims *c)
{
    return c->sub.n + c->client_id.n + c->jti.n + c->tenant.n + texts_size(c->scopes, c->n_scopes) +
           texts_size(c->groups, c->n_groups);
}

static struct slice pack_text(char **at, struct slice text)
{
    if (!text.p) {
        return SLICE_NONE;
    }
    struct slice copy = {*at, text.n};
    memcpy(*at, text.p, text.n);
    *at += text.n;
    return copy;
}

/* The array itself goes to *table, its texts to *at. */
static const struct slice *pack_texts(struct slice **table, char **at, const struct slice *texts,
                                      size_t n)
{
    struct slice *copy = *table;
    for (size_t i = 0; i < n; i++) {
        copy[i] = pack_text(at, texts[i]);
    }
    *table += n;
    return copy;
}

static struct entry *entry_new(const struct claims *claims)
{
    struct entry *e = mem_alloc(sizeof(*e) + claims_size(claims));
    struct slice *table = (struct slice *)(void *)e->bytes; /* aligned: it follows two int64_t */
    char *at = e->bytes + (claims->n_scopes + claims->n_groups) * sizeof(*table);
    struct claims *c = &e->verified.claims;
    *c = *claims;
    c->sub = pack_text(&at, claims->sub);
    c->client_id = pack_text(&at, claims->client_id);
    c->jti = pack_text(&at, claims->jti);
    c->tenant = pack_text(&at, claims->tenant);
    c->scopes = pack_texts(&table, &at, claims->scopes, claims->n_scopes);
    c->groups = pack_texts(&table, &at, claims->groups, claims->n_groups);
    e->refs = 1;
    return e;
}

/* Under the lock; with a reference for the caller. What is of another generation or out of its time
 * is dropped. */
static struct entry *find(struct token_cache *c, const struct digest *key, uint64_t generation,
                          int64_t now_ms)
{
    struct entry *e = (struct entry *)lru_find(&c->table, key);
    bool good = e && e->generation == generation && now_ms >= e->from_ms && now_ms < e->until_ms;
    if (e && !good) {
        drop(c, e);
        e = NULL;
    }
    if (e) {
        atomic_fetch_add(&e->refs, 1);
        c->hits++;
    } else {
        c->misses++;
    }
    return e;
}

static void keep(struct token_cache *c, struct entry *e)
{
    pthread_mutex_lock(&c->lock);
    struct entry *other = (struct entry *)lru_find(&c->table, &e->lru.key);
    if (other) { /* verified at the same time elsewhere */
        drop(c, other);
    }
    while (c->table.n >= c->max_entries) {
        drop(c, (struct entry *)lru_oldest(&c->table));
    }
    lru_add(&c->table, &e->lru);
    atomic_fetch_add(&e->refs, 1);
    pthread_mutex_unlock(&c->lock);
}

static int64_t end_of_life(const struct claims *claims, int64_t now_ms)
{
    int64_t expires_ms = claims->expires_unix_s * 1000;
    int64_t latest_ms = now_ms + TOKEN_CACHE_LIFE_MS;
    return expires_ms < latest_ms ? expires_ms : latest_ms;
}

static enum token_result verify(struct token_cache *c, const struct token_trust *trust,
                                uint64_t generation, struct slice token, int64_t now_ms,
                                const struct digest *key, struct entry **ret_entry)
{
    struct arena arena;
    struct claims claims;
    arena_init(&arena);
    enum token_result result = token_verify(trust, token, now_ms, &arena, &claims);
    if (result == TOKEN_OK) {
        struct entry *e = entry_new(&claims);
        e->lru.key = *key;
        e->generation = generation;
        e->from_ms = now_ms;
        e->until_ms = end_of_life(&claims, now_ms);
        if (c->max_entries) {
            keep(c, e);
        }
        *ret_entry = e;
    }
    arena_done(&arena);
    return result;
}

enum token_result token_cache_verify(struct token_cache *c, const struct token_trust *trust,
                                     uint64_t generation, struct slice token, int64_t now_unix_ms,
                                     const struct verified_token **ret_verified)
{
    if (token.n > TOKEN_MAX_BYTES) {
        return TOKEN_TOO_LARGE; /* before it is hashed */
    }
    struct digest key;
    digest_of(token, &key);
    pthread_mutex_lock(&c->lock);
    struct entry *e = find(c, &key, generation, now_unix_ms);
    pthread_mutex_unlock(&c->lock);
    enum token_result result = TOKEN_OK;
    if (!e) {
        result = verify(c, trust, generation, token, now_unix_ms, &key, &e);
    }
    if (e) {
        *ret_verified = &e->verified;
    }
    return result;
}

void token_cache_stats(struct token_cache *c, struct token_cache_stats *ret_stats)
{
    pthread_mutex_lock(&c->lock);
    *ret_stats = (struct token_cache_stats){c->hits, c->misses, c->table.n};
    pthread_mutex_unlock(&c->lock);
}
