/* SPDX-License-Identifier: Apache-2.0 */
/* Three loops ask for fetches, leave some of them and read the key set, while the main thread
 * changes what is kept and asks for fetches itself. Who did not leave is told, once, on its own
 * loop; every set that is read is whole. */
#include "service/pipeline/jwks_fetcher.h"
#include "service/base/log.h"
#include "service/base/thread.h"
#include "tests/threads/check.h"
#include "tests/unit/service/loop/stub_server.h"

#include <stdatomic.h>

enum { N_LOOPS = 3, N_AT_ONCE = 6, N_ROUNDS = 150, DAY_MS = 86400 * 1000 };

/* The example key of RFC 7517, appendix A.1. */
#define SET(kid)                                                                                   \
    "{\"keys\":[{\"kty\":\"EC\",\"crv\":\"P-256\",\"use\":\"sig\",\"kid\":\"" kid "\","            \
    "\"x\":\"MKBCTNIcKUSDii11ySs3526iDZ8AiTo7Tu6KPAqv7D4\","                                       \
    "\"y\":\"4Etl6SRW2YiLUrN5vfvVHuhp7x8PxltmWWlbbM4IFyM\"}]}"

struct asker {
    struct op op; /* first */
    struct lane *lane;
    unsigned told;
};

struct lane {
    struct loop *loop;
    pthread_t thread, self;
    uint64_t random;
    unsigned n_rounds, n_asked, n_told, n_left;
    struct timer again;
    struct asker askers[N_AT_ONCE];
};

static struct stub_server server;
static struct jwks_source *source; /* under lock */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_llong clock_ms;
static atomic_uint n_changes, n_lanes_done;

/* Every look at the clock finds the limit full again. */
static int64_t now(void)
{
    return atomic_fetch_add(&clock_ms, 31 * 1000);
}

static void on_changed(void *owner)
{
    (void)owner;
    n_changes++;
}

static struct jwks_source *take_source(void)
{
    pthread_mutex_lock(&lock);
    struct jwks_source *s = jwks_source_ref(source);
    pthread_mutex_unlock(&lock);
    return s;
}

static void read_keys(struct jwks_source *s)
{
    struct jwks_source_stats stats;
    struct jwks *keys = jwks_source_keys(s);
    CHECK(!keys || jwks_count(keys) == 1);
    jwks_unref(keys);
    jwks_source_stats(s, &stats);
}

static void ask(struct asker *a)
{
    struct lane *l = a->lane;
    uint64_t kid = next_random(&l->random);
    struct jwks_source *s = take_source();
    a->told = 0;
    l->n_asked +=
        jwks_source_refresh(s, l->loop, (struct slice){(char *)&kid, sizeof(kid)}, &a->op);
    read_keys(s);
    jwks_source_unref(s);
}

static void on_told(struct op *op)
{
    struct asker *a = (struct asker *)op;
    CHECK(pthread_equal(pthread_self(), a->lane->self));
    CHECK(a->told++ == 0);
    a->lane->n_told++;
}

/* A few leave, those who wait for nothing ask anew. */
static void on_again(struct timer *t)
{
    struct lane *l = (struct lane *)(void *)((char *)t - offsetof(struct lane, again));
    bool more = ++l->n_rounds < N_ROUNDS, waits = false;
    for (int i = 0; i < N_AT_ONCE; i++) {
        struct asker *a = &l->askers[i];
        if (a->op.active && next_random(&l->random) % 8 == 0) {
            op_cancel(&a->op);
            l->n_left++;
        }
        if (more && !a->op.active) {
            ask(a);
        }
        waits = waits || a->op.active;
    }
    if (more || waits) {
        timer_start(l->loop, t, 1);
    } else {
        loop_stop(l->loop);
    }
}

static void *serve(void *arg)
{
    struct lane *l = arg;
    l->self = pthread_self();
    l->loop = loop_new();
    for (int i = 0; i < N_AT_ONCE; i++) {
        l->askers[i] = (struct asker){.op.on_done = on_told, .lane = l};
    }
    l->again.on_expired = on_again;
    timer_start(l->loop, &l->again, 1);
    loop_run(l->loop);
    loop_free(l->loop);
    n_lanes_done++;
    return NULL;
}

/* ca_pem differs now and then: another source takes the place of the one before. */
static void keep(struct jwks_fetcher *f, unsigned round)
{
    char uri[64];
    (void)snprintf(uri, sizeof(uri), "http://127.0.0.1:%u/", server.port);
    const struct jwks_wanted wanted = {.name = SLICE_LIT("corp"),
                                       .uri = slice_of(uri),
                                       .ca_pem = round / 8 % 2 ? SLICE_LIT("x") : SLICE_NONE,
                                       .algs = 1U << JWS_ES256,
                                       .max_stale_ms = 365LL * DAY_MS};
    struct jwks_source *next, *old;
    jwks_fetcher_keep(f, &wanted, 1, &next);
    pthread_mutex_lock(&lock);
    old = source;
    source = next;
    pthread_mutex_unlock(&lock);
    jwks_source_unref(old);
}

int main(void)
{
    static struct lane lanes[N_LOOPS];
    log_set_level(LOG_ERROR);
    stub_open(&server);
    struct jwks_fetcher *f = jwks_fetcher_new(&(struct jwks_fetcher_options){
        .on_changed = on_changed, .now_mono_ms = now, .plain_http = true});
    stub_says(&server, "200 OK", SET("0"));
    keep(f, 0);
    for (unsigned i = 0; i < N_LOOPS; i++) {
        lanes[i].random = 77 + i;
        thread_start(&lanes[i].thread, serve, &lanes[i]);
    }
    for (unsigned round = 1; n_lanes_done < N_LOOPS; round++) {
        stub_says(&server, round % 5 ? "200 OK" : "500 Oops", round % 2 ? SET("1") : SET("2"));
        keep(f, round);
        jwks_fetcher_refetch(f);
        jwks_source_await(source, 5);
        usleep(1000);
    }
    unsigned told = 0, left = 0;
    for (unsigned i = 0; i < N_LOOPS; i++) {
        pthread_join(lanes[i].thread, NULL);
        CHECK(lanes[i].n_asked == lanes[i].n_told + lanes[i].n_left);
        told += lanes[i].n_told;
        left += lanes[i].n_left;
    }
    jwks_fetcher_free(f);
    jwks_source_unref(source);
    stub_close(&server);
    CHECK(told > 0 && left > 0 && n_changes > 1);
    return 0;
}
