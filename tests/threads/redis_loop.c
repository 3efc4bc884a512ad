/* SPDX-License-Identifier: Apache-2.0 */
/* What a redis_loop shares with other threads: its counters, which anyone may read, and the host
 * name that a thread looks up, perhaps for a redis_loop that is freed meanwhile. */
#include "service/base/thread.h"
#include "tests/threads/check.h"
#include "tests/unit/service/loop/fake_redis.h"
#include "tests/unit/service/loop/redis_waiter.h"

#include <signal.h>

enum { N_LANES = 3, N_ROUNDS = 20, N_CALLS = 50 };

/* A loop with a server and its client. */
struct lane {
    pthread_t thread;
    pthread_mutex_t lock; /* of redis: who reads counters must find them alive */
    struct redis_loop *redis;
    bool has_ended;
};

static void publish(struct lane *lane, struct redis_loop *r)
{
    pthread_mutex_lock(&lane->lock);
    struct redis_loop *before = lane->redis;
    lane->redis = r;
    pthread_mutex_unlock(&lane->lock);
    redis_loop_free(before);
}

static void run_calls(struct loop *l, struct redis_loop *r)
{
    struct redis_waiter w[N_CALLS];
    WAIT_FOR(l, redis_loop_is_up(r));
    for (int i = 0; i < N_CALLS; i++) {
        waiter_call(&w[i], r, l, "GET k");
    }
    WAIT_FOR(l, w[N_CALLS - 1].n_done);
    for (int i = 0; i < N_CALLS; i++) {
        CHECK(w[i].n_done == 1 && w[i].call.op.result == ERR_OK);
    }
}

static void on_stop(struct timer *t)
{
    loop_stop(t->loop);
}

/* Every other round frees its client soon after the lookup has begun, answered or not. */
static void *run_lane(void *arg)
{
    struct lane *lane = arg;
    struct loop *l = loop_new();
    struct fake_redis fake;
    struct redis_health_log health = {.loop = l};
    struct timer soon = {.on_expired = on_stop};
    fake_open(&fake, l, 0);
    memcpy(fake.address.host, "localhost", sizeof("localhost"));
    fake.says = SLICE_LIT("+v\r\n");
    struct redis_loop_options options = {.address = &fake.address,
                                         .connect_ms = 60000,
                                         .command_ms = 60000,
                                         .on_health = on_health_logged,
                                         .who = &health};
    for (int i = 0; i < N_ROUNDS; i++) {
        publish(lane, redis_loop_new(l, &options));
        if (i % 2) {
            timer_start(l, &soon, 1);
            loop_run(l);
        } else {
            run_calls(l, lane->redis);
        }
    }
    publish(lane, NULL);
    timer_stop(&soon);
    fake_close(&fake);
    loop_free(l); /* lookups that are still under way find it gone */
    pthread_mutex_lock(&lane->lock);
    lane->has_ended = true;
    pthread_mutex_unlock(&lane->lock);
    return NULL;
}

/* False once the lane has ended. */
static bool read_counters(struct lane *lane)
{
    struct redis_stats stats;
    pthread_mutex_lock(&lane->lock);
    bool has_ended = lane->has_ended;
    if (lane->redis) {
        redis_loop_stats(lane->redis, &stats);
        CHECK(stats.calls <= N_CALLS && stats.failures[REDIS_FAILURE_BROKEN] == 0);
    }
    pthread_mutex_unlock(&lane->lock);
    return !has_ended;
}

int main(void)
{
    static struct lane lanes[N_LANES];
    signal(SIGPIPE, SIG_IGN);
    for (int i = 0; i < N_LANES; i++) {
        pthread_mutex_init(&lanes[i].lock, NULL);
        thread_start(&lanes[i].thread, run_lane, &lanes[i]);
    }
    for (int running = N_LANES; running;) {
        running = 0;
        for (int i = 0; i < N_LANES; i++) {
            running += read_counters(&lanes[i]);
        }
        sched_yield();
    }
    for (int i = 0; i < N_LANES; i++) {
        pthread_join(lanes[i].thread, NULL);
        pthread_mutex_destroy(&lanes[i].lock);
    }
    return 0;
}
