/* SPDX-License-Identifier: Apache-2.0 */
/* Four threads at one cache that always evicts, and at one budget: a body read belongs to its key
 * and outlives its eviction, and of many equal calls exactly the limit is charged, each once. */
#include "cache/budget.h"
#include "cache/cache.h"
#include "service/base/thread.h"
#include "tests/threads/check.h"

enum {
    N_THREADS = 4,
    N_ROUNDS = 20000,
    N_KEYS = 40,
    BODY_MAX_BYTES = 600,
    CACHE_BYTES = 8 * 1024, /* about half of the keys */
    N_CALLS = 300,
    LIMIT = 50,
    NOW_MS = 1800000000,
};

struct shared {
    struct cache *cache;
    struct budget *budget;
    pthread_barrier_t together;
};

struct user {
    struct shared *shared;
    pthread_t thread;
    unsigned number;
    unsigned n_hits, n_charged, n_charged_again;
};

static void on_done(struct op *op)
{
    (void)op;
}

static struct cache_key key_of(unsigned n)
{
    struct cache_key key;
    digest_of((struct slice){(const char *)&n, sizeof(n)}, &key.value);
    return key;
}

/* The body of key n: a length and a byte that only it has. */
static struct slice body_of(unsigned n, char room[BODY_MAX_BYTES])
{
    size_t length = 200 + 10 * n;
    memset(room, (int)('0' + n), length);
    return (struct slice){room, length};
}

static bool read_cache(struct cache *c, unsigned n, const struct cache_value **ret_held)
{
    char room[BODY_MAX_BYTES];
    struct cache_key key = key_of(n);
    *ret_held = cache_get(c, &key);
    CHECK(!*ret_held || slice_eq((*ret_held)->body, body_of(n, room)));
    return *ret_held != NULL;
}

static void write_cache(struct cache *c, unsigned n)
{
    char room[BODY_MAX_BYTES];
    struct cache_key key = key_of(n);
    const struct cache_value *value =
        cache_value_new(&key, body_of(n, room), SLICE_LIT("[]"), false);
    cache_release(cache_put(c, value));
    cache_release(value);
}

/* Each value read is held until the next one was. */
static void use_cache(struct user *u)
{
    const struct cache_value *held = NULL, *next;
    uint64_t random = 1000 + u->number;
    char room[BODY_MAX_BYTES];
    unsigned of = 0;
    for (int i = 0; i < N_ROUNDS; i++) {
        unsigned n = (unsigned)(next_random(&random) % N_KEYS);
        if (!read_cache(u->shared->cache, n, &next)) {
            write_cache(u->shared->cache, n);
            continue;
        }
        CHECK(!held || slice_eq(held->body, body_of(of, room)));
        cache_release(held);
        held = next;
        of = n;
        u->n_hits++;
    }
    cache_release(held);
}

static bool charge(struct budget *b, unsigned call, bool give_back)
{
    const struct digest subject = {{0}};
    struct cache_key key = key_of(call);
    const struct budget_charge c = {SLICE_LIT("acme"), &subject, "search_kb", &key, NOW_MS};
    struct budget_verdict verdict;
    struct op op = {.on_done = on_done};
    budget_take(b, NULL, &c, &verdict, &op);
    CHECK((op.result == ERR_BUDGET_SPENT) == (verdict.budget != NULL));
    if (verdict.charged && give_back) {
        budget_refund(b, NULL, &c, &verdict);
    }
    return verdict.charged;
}

static void use_budget(struct user *u)
{
    for (unsigned call = 0; call < N_CALLS; call++) {
        (void)charge(u->shared->budget, u->number * N_CALLS + call, true);
    }
    pthread_barrier_wait(&u->shared->together); /* all was given back */
    for (unsigned call = 0; call < N_CALLS; call++) {
        u->n_charged += charge(u->shared->budget, call, false);
    }
    pthread_barrier_wait(&u->shared->together);
    for (unsigned call = 0; call < N_CALLS; call++) {
        u->n_charged_again += charge(u->shared->budget, call, false);
    }
}

static void *run(void *arg)
{
    use_cache(arg);
    use_budget(arg);
    return NULL;
}

int main(void)
{
    const struct budget_rules rules = {.tenant = {.per_minute = 60, .burst = LIMIT}};
    struct shared shared = {.cache = cache_new(CACHE_BYTES), .budget = budget_new(&rules, NULL)};
    struct user users[N_THREADS] = {{0}};
    struct user sum = {0};
    pthread_barrier_init(&shared.together, NULL, N_THREADS);
    for (unsigned i = 0; i < N_THREADS; i++) {
        users[i].shared = &shared;
        users[i].number = i;
        thread_start(&users[i].thread, run, &users[i]);
    }
    for (unsigned i = 0; i < N_THREADS; i++) {
        pthread_join(users[i].thread, NULL);
        sum.n_hits += users[i].n_hits;
        sum.n_charged += users[i].n_charged;
        sum.n_charged_again += users[i].n_charged_again;
    }
    struct cache_stats stats;
    cache_stats(shared.cache, &stats);
    CHECK(sum.n_hits > 0 && stats.evicted > 0 && stats.bytes <= CACHE_BYTES);
    CHECK(sum.n_charged == LIMIT && sum.n_charged_again == 0);
    cache_free(shared.cache);
    budget_free(shared.budget);
    pthread_barrier_destroy(&shared.together);
    return 0;
}
