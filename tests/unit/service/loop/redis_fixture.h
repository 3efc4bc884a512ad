/* SPDX-License-Identifier: Apache-2.0 */
/* redis_fixture: a loop with a server that answers as the test says and a client of it. */
#ifndef TESTS_LOOP_REDIS_FIXTURE_H
#define TESTS_LOOP_REDIS_FIXTURE_H

#include "tests/unit/service/loop/fake_redis.h"
#include "tests/unit/service/loop/redis_waiter.h"

#include <signal.h>

static struct loop *l;
static struct fake_redis fake;
static struct redis_health_log health;
static struct redis_loop *redis;

static inline void open_impatient_redis(int64_t connect_ms, int64_t command_ms)
{
    struct redis_loop_options options = {.address = &fake.address,
                                         .connect_ms = connect_ms,
                                         .command_ms = command_ms,
                                         .seed = 7,
                                         .on_health = on_health_logged,
                                         .who = &health};
    redis = redis_loop_new(l, &options);
}

static inline void open_redis(void)
{
    open_impatient_redis(2000, 2000);
}

static inline void set_up(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    l = loop_new();
    health = (struct redis_health_log){.loop = l};
    fake_open(&fake, l, 0);
}

static inline void tear_down(void)
{
    redis_loop_free(redis);
    fake_close(&fake);
    loop_free(l);
}

static inline void open_up(void)
{
    open_redis();
    WAIT_FOR(l, redis_loop_is_up(redis));
}

static inline struct redis_stats stats(void)
{
    struct redis_stats s;
    redis_loop_stats(redis, &s);
    return s;
}

#endif
