/* SPDX-License-Identifier: Apache-2.0 */
/* shared_world: replicas of a shared cache beside a real redis-server, on one loop that the test
 * drives, and an administrator who can look at and write everything. */
#ifndef TESTS_SHARED_WORLD_H
#define TESTS_SHARED_WORLD_H

#include "cache/shared_cache.h"
#include "tests/unit/redis_server.h"

enum { N_REPLICAS = 2, LOCK_MS = 30 * 1000, TTL_MS = 60 * 1000, COMMAND_MS = 2000 };

#define SECRET SLICE_LIT("0123456789abcdef0123456789abcdef")
#define TENANT SLICE_LIT("acme")

struct replica {
    struct redis_loop *redis;
    struct shared_cache *cache;
    unsigned n_refused, n_works; /* as on_mode told */
    char why[32];
};

struct world_options {
    int64_t lock_ms, command_ms;      /* 0: as above */
    struct slice secrets[N_REPLICAS]; /* SLICE_NONE: SECRET */
    bool few_rights;                  /* replicas may do only what a cache needs */
};

struct world {
    struct loop *loop;
    struct redis_server server;
    struct redis_loop *admin;
    struct redis_address replica_address;
    struct replica replicas[N_REPLICAS];
    struct cache_key key;
    char value_name[256], lock_name[256]; /* of TENANT and key, in Redis */
};

/* All connections are up and both scripts are known to the server. */
void world_init(struct world *w, const struct world_options *options);
void world_done(struct world *w);
struct shared_place world_place(const struct world *w, int replica);

/* Runs the loop until *flag; the suite's time limit ends a test that waits in vain. */
void world_run_until(struct world *w, const bool *flag);

/* What the administrator is answered, as text ("(nil)" and integers too); valid until the next. */
const char *world_say(struct world *w, size_t n_args, const struct slice *args);
#define SAY(w, ...)                                                                                \
    world_say((w), sizeof((struct slice[]){__VA_ARGS__}) / sizeof(struct slice),                   \
              (struct slice[]){__VA_ARGS__})
#define L(text) SLICE_LIT(text)

/* A PING there and back on the replica's connection: all that was sent before was carried out. */
void world_settle(struct world *w, int replica);

/* One find and how it ended. */
struct finding {
    struct op op; /* first */
    struct world *world;
    struct shared_place place;
    struct shared_claim claim;
    const struct cache_value *value;
    bool is_done;
    int64_t begun_mono_ms, took_ms;
};
void find_begin_for(struct world *w, int replica, struct slice tenant, struct finding *f);
void find_begin(struct world *w, int replica, struct finding *f); /* for TENANT */
void find(struct world *w, int replica, struct finding *f);
void find_free(struct finding *f);

/* One keep and whose answer won. */
struct keeping {
    struct op op; /* first */
    struct world *world;
    struct shared_place place;
    const struct cache_value *ours, *kept;
    bool is_done;
};
/* Takes the value over. */
void keep_begin(struct world *w, int replica, const struct shared_claim *claim,
                const struct cache_value *value, struct keeping *k);
/* With this body, and the note that all have. */
const struct cache_value *world_value(const struct world *w, struct slice body);
void keep(struct world *w, int replica, const struct shared_claim *claim, struct slice body,
          struct keeping *k);
void keep_free(struct keeping *k);

struct shared_cache_stats world_stats(const struct world *w, int replica);

#endif
