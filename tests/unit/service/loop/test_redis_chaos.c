/* SPDX-License-Identifier: Apache-2.0 */
/* Whatever a server and a caller do, in whatever order: a call that was made ends once, one that
 * was cancelled or whose redis_loop was freed ends never, and a server that behaves is used again.
 */
#include "tests/unit/service/loop/fake_redis.h"
#include "tests/unit/service/loop/redis_waiter.h"

#include <criterion/criterion.h>
#include <signal.h>

enum { N_SEEDS = 25, N_STEPS = 400, N_WAITERS = 32, COMMAND_MS = 3 };

struct chaos {
    struct loop *loop;
    struct fake_redis fake;
    struct redis_health_log health;
    struct redis_loop *redis;
    struct redis_script script;
    struct redis_waiter waiters[N_WAITERS];
    bool is_waiting[N_WAITERS]; /* made, and neither cancelled nor freed */
    struct loop_message stop;
    struct timer soon;
    uint64_t random, seed;
    struct redis_stats seen; /* of all its redis_loops */
};

static uint64_t pick(struct chaos *c, uint64_t n)
{
    c->random ^= c->random >> 12;
    c->random ^= c->random << 25;
    c->random ^= c->random >> 27;
    return (c->random * 0x2545F4914F6CDD1DU >> 32) % n;
}

static void on_stop(struct loop_message *m)
{
    struct chaos *c = (struct chaos *)(void *)((char *)m - offsetof(struct chaos, stop));
    loop_stop(c->loop);
}

static void run_turn(struct chaos *c)
{
    c->stop.run = on_stop;
    loop_post(c->loop, &c->stop);
    loop_run(c->loop);
}

static void on_soon(struct timer *t)
{
    loop_stop(t->loop);
}

/* Long enough for deadlines to pass and for attempts to be made. */
static void run_a_while(struct chaos *c)
{
    c->soon.on_expired = on_soon;
    timer_start(c->loop, &c->soon, 1 + (int64_t)pick(c, 2 * COMMAND_MS));
    while (c->soon.slot) {
        loop_run(c->loop);
    }
}

static void open_redis(struct chaos *c)
{
    struct redis_loop_options options = {.address = &c->fake.address,
                                         .connect_ms = 50,
                                         .command_ms = COMMAND_MS,
                                         .seed = c->seed,
                                         .on_health = on_health_logged,
                                         .who = &c->health};
    c->redis = redis_loop_new(c->loop, &options);
}

static void check(struct chaos *c)
{
    for (size_t i = 0; i < N_WAITERS; i++) {
        struct redis_waiter *w = &c->waiters[i];
        bool ended_once = w->n_done == 1 && !w->call.op.active;
        bool goes_on = w->n_done == 0 && w->call.op.active;
        cr_assert(c->is_waiting[i] ? ended_once || goes_on : !w->call.op.active,
                  "seed %llu, waiter %zu", (unsigned long long)c->seed, i);
        cr_assert(!ended_once || (w->call.op.result == ERR_OK) == !w->call.failure);
    }
}

static void make_call(struct chaos *c, size_t i)
{
    struct slice key = SLICE_LIT("k");
    if (c->waiters[i].call.op.active) {
        return;
    }
    c->is_waiting[i] = true;
    if (pick(c, 2)) {
        waiter_call(&c->waiters[i], c->redis, c->loop, "GET k");
    } else {
        waiter_init(&c->waiters[i], c->loop);
        redis_loop_eval(c->redis, &c->script, &key, 1, &key, 1, &c->waiters[i].call);
    }
}

static void cancel(struct chaos *c, size_t i)
{
    if (c->waiters[i].call.op.active) {
        op_cancel(&c->waiters[i].call.op);
        c->is_waiting[i] = false;
        c->waiters[i].n_done = 0;
    }
}

static void free_redis(struct chaos *c)
{
    struct redis_stats stats;
    redis_loop_stats(c->redis, &stats);
    c->seen.calls += stats.calls;
    for (int i = 0; i < REDIS_FAILURE_COUNT; i++) {
        c->seen.failures[i] += stats.failures[i];
    }
    redis_loop_free(c->redis);
    for (size_t i = 0; i < N_WAITERS; i++) {
        c->is_waiting[i] = c->is_waiting[i] && c->waiters[i].n_done;
    }
}

static void say(struct chaos *c)
{
    static const struct slice ROWS[] = {SLICE_LIT("+v\r\n"),       SLICE_LIT("$5\r\nhel"),
                                        SLICE_LIT("lo\r\n"),       SLICE_LIT("*2\r\n:1\r\n"),
                                        SLICE_LIT("$-1\r\n"),      SLICE_LIT("-NOSCRIPT no\r\n"),
                                        SLICE_LIT("*1\r\n*1\r\n"), SLICE_LIT("%1\r\n"),
                                        SLICE_LIT("-ERR no\r\n"),  SLICE_LIT("*999999999\r\n")};
    fake_says_now(&c->fake, ROWS[pick(c, sizeof(ROWS) / sizeof(ROWS[0]))]);
}

static void step(struct chaos *c)
{
    switch (pick(c, 16)) {
    case 0:
    case 1:
    case 2:
    case 3: make_call(c, pick(c, N_WAITERS)); break;
    case 4: cancel(c, pick(c, N_WAITERS)); break;
    case 5:
        if (pick(c, 6) == 0) {
            say(c);
        }
        break;
    case 6: c->fake.says = pick(c, 4) ? SLICE_LIT("+v\r\n") : SLICE_NONE; break;
    case 7: c->fake.says = SLICE_LIT("-NOSCRIPT no\r\n"); break;
    case 8: c->fake.to_ping = pick(c, 12) ? "+PONG\r\n" : pick(c, 3) ? NULL : "-ERR\r\n"; break;
    case 9:
        if (pick(c, 12) == 0) {
            fake_close_peers(&c->fake);
        }
        break;
    case 10:
        if (pick(c, 8) == 0) {
            free_redis(c);
            open_redis(c);
        }
        break;
    case 11:
    case 12: run_a_while(c); break;
    default: run_turn(c);
    }
}

static struct redis_stats run(uint64_t seed, const char *path)
{
    struct chaos *c = mem_alloc(sizeof(*c));
    c->random = c->seed = seed;
    c->loop = c->health.loop = loop_new();
    redis_script_init(&c->script, SLICE_LIT("return 1"));
    fake_open_at(&c->fake, c->loop, path);
    open_redis(c);
    for (int i = 0; i < N_STEPS; i++) {
        step(c);
        check(c);
    }
    c->fake.says = SLICE_LIT("+v\r\n");
    c->fake.to_ping = "+PONG\r\n";
    for (bool was_answered = false; !was_answered;) {
        struct redis_waiter w;
        WAIT_FOR(c->loop, redis_loop_is_up(c->redis));
        waiter_call(&w, c->redis, c->loop, "GET k");
        WAIT_FOR(c->loop, w.n_done);
        was_answered = w.call.op.result == ERR_OK;
    }
    check(c);
    free_redis(c);
    check(c);
    fake_close(&c->fake);
    unlink(path);
    loop_free(c->loop);
    struct redis_stats seen = c->seen;
    free(c);
    return seen;
}

Test(redis_chaos, every_call_ends_once_and_a_server_that_behaves_is_used_again, .timeout = 120)
{
    char folder[] = "/tmp/redis_chaos.XXXXXX", path[sizeof(folder) + 2];
    signal(SIGPIPE, SIG_IGN);
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/s", folder);
    struct redis_stats all = {0};
    for (uint64_t seed = 1; seed <= N_SEEDS; seed++) {
        struct redis_stats seen = run(seed, path);
        all.calls += seen.calls;
        for (int i = 0; i < REDIS_FAILURE_COUNT; i++) {
            all.failures[i] += seen.failures[i];
        }
    }
    rmdir(folder);
    cr_assert_gt(all.calls, 10 * N_SEEDS, "they did meet");
    cr_assert_gt(all.failures[REDIS_FAILURE_DOWN], 0);
    cr_assert_gt(all.failures[REDIS_FAILURE_TIMEOUT], 0);
    cr_assert_gt(all.failures[REDIS_FAILURE_LOST], 0);
    cr_assert_gt(all.failures[REDIS_FAILURE_BROKEN], 0);
}
