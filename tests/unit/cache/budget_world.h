/* SPDX-License-Identifier: Apache-2.0 */
/* budget_world: replicas with a budget each, at one real Redis, on one loop that the test runs. */
#ifndef TESTS_CACHE_BUDGET_WORLD_H
#define TESTS_CACHE_BUDGET_WORLD_H

#include "cache/budget.h"
#include "tests/unit/redis_server.h"

#include <criterion/criterion.h>

enum { MAX_REPLICAS = 3, MAX_TAKES = 64 };

struct replica {
    struct redis_loop *redis;
    struct budget *budget;
    struct loop *loop;
    unsigned n_away, n_back; /* as on_mode told */
    char why[64];            /* of the last away */
};

struct world {
    struct redis_server server;
    struct redis_address address;
    struct loop *loop;
    struct replica replicas[MAX_REPLICAS];
    int64_t now_ms;
};

static inline void on_mode_told(void *who, bool shared, const char *why)
{
    struct replica *r = who;
    r->n_back += shared;
    r->n_away += !shared;
    snprintf(r->why, sizeof(r->why), "%s", shared ? "" : why);
}

static inline void on_health_told(void *who, bool up, enum redis_failure why)
{
    (void)up;
    (void)why;
    loop_stop(((struct replica *)who)->loop);
}

static inline void wait_health(struct world *w, bool up)
{
    for (size_t i = 0; i < MAX_REPLICAS; i++) {
        while (redis_loop_is_up(w->replicas[i].redis) != up) {
            loop_run(w->loop);
        }
    }
}

static inline void replica_init(struct world *w, struct replica *r,
                                const struct budget_rules *rules)
{
    const struct budget_options options = {.replicas_max = MAX_REPLICAS,
                                           .key_prefix = SLICE_LIT("t:"),
                                           .on_mode = on_mode_told,
                                           .who = r};
    const struct redis_loop_options redis = {.address = &w->address,
                                             .connect_ms = 2000,
                                             .command_ms = 200,
                                             .seed = 1,
                                             .on_health = on_health_told,
                                             .who = r};
    r->loop = w->loop;
    r->budget = budget_new(rules, &options);
    r->redis = redis_loop_new(w->loop, &redis);
}

/* A world whose replicas say who they are; user NULL: nobody. */
static inline void world_init_as(struct world *w, const struct budget_rules *rules, const char *acl,
                                 const char *user)
{
    *w = (struct world){.loop = loop_new(), .now_ms = INT64_C(1800000000000)};
    redis_server_start(&w->server, NULL);
    w->address = w->server.address;
    if (acl) {
        redis_server_do(&w->server, acl);
        snprintf(w->address.user, sizeof(w->address.user), "%s", user);
        snprintf(w->address.password, sizeof(w->address.password), "%s", "secret");
    }
    for (size_t i = 0; i < MAX_REPLICAS; i++) {
        replica_init(w, &w->replicas[i], rules);
    }
    wait_health(w, true);
}

static inline void world_init(struct world *w, const struct budget_rules *rules)
{
    world_init_as(w, rules, NULL, NULL);
}

static inline void world_done(struct world *w)
{
    for (size_t i = 0; i < MAX_REPLICAS; i++) {
        redis_loop_free(w->replicas[i].redis);
        budget_free(w->replicas[i].budget);
    }
    loop_free(w->loop);
    redis_server_stop(&w->server);
}

/* One take on its way. */
struct taking {
    struct op op;
    struct budget_verdict verdict;
    struct world *world;
    bool is_done;
};

static inline void on_taken(struct op *op)
{
    struct taking *t = (struct taking *)(void *)op;
    t->is_done = true;
    loop_stop(t->world->loop);
}

/* Call number n of a tenant to a tool. */
struct what {
    const char *tenant, *tool;
    uint64_t call;
};

static inline struct budget_charge charge_of(const struct world *w, const struct what *what,
                                             struct digest *subject, struct cache_key *key)
{
    digest_of(SLICE_LIT("ann"), subject);
    digest_of((struct slice){(const char *)&what->call, sizeof(what->call)}, &key->value);
    return (struct budget_charge){slice_of(what->tenant), subject, what->tool, key, w->now_ms};
}

static inline void begin_take(struct world *w, size_t replica, struct what what,
                              struct taking *ret_taking)
{
    struct digest subject;
    struct cache_key key;
    struct replica *r = &w->replicas[replica];
    struct budget_charge charge = charge_of(w, &what, &subject, &key);
    *ret_taking = (struct taking){.op.on_done = on_taken, .world = w};
    budget_take(r->budget, r->redis, &charge, &ret_taking->verdict, &ret_taking->op);
}

static inline struct taking take_what(struct world *w, size_t replica, struct what what)
{
    struct taking t;
    begin_take(w, replica, what, &t);
    while (!t.is_done) {
        loop_run(w->loop);
    }
    return t;
}

static inline struct taking take(struct world *w, size_t replica, uint64_t call)
{
    return take_what(w, replica, (struct what){"acme", "search_kb", call});
}

static inline bool is_charged_by_redis(const struct taking *t)
{
    return t->op.result == ERR_OK && t->verdict.charged && !t->verdict.in_process;
}

static inline bool is_charged_here(const struct taking *t)
{
    return t->op.result == ERR_OK && t->verdict.charged && t->verdict.in_process;
}

static inline void give_back(struct world *w, size_t replica, uint64_t call,
                             const struct budget_verdict *verdict)
{
    struct digest subject;
    struct cache_key key;
    const struct what what = {"acme", "search_kb", call};
    struct budget_charge charge = charge_of(w, &what, &subject, &key);
    budget_refund(w->replicas[replica].budget, w->replicas[replica].redis, &charge, verdict);
}

/* What is sent behind a script that the server does not know yet overtakes it. */
static inline void teach_scripts(struct world *w, size_t replica)
{
    struct digest subject;
    struct cache_key key;
    const struct what what = {"initech", "search_kb", UINT64_MAX};
    struct budget_charge charge = charge_of(w, &what, &subject, &key);
    struct taking t = take_what(w, replica, what);
    struct replica *r = &w->replicas[replica];
    budget_refund(r->budget, r->redis, &charge, &t.verdict);
    (void)take_what(w, replica, (struct what){"initech", "search_kb", UINT64_MAX - 1});
    (void)take_what(w, replica, (struct what){"initech", "search_kb", UINT64_MAX - 2});
}

#endif
