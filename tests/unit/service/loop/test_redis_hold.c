/* SPDX-License-Identifier: Apache-2.0 */
/* Calls that come before the first news of a server: they wait for it, once. */
#include "service/base/clock.h"
#include "tests/unit/service/loop/names.h"
#include "tests/unit/service/loop/redis_fixture.h"

#include <criterion/criterion.h>

TestSuite(redis_hold, .timeout = 60, .init = set_up, .fini = tear_down);

Test(redis_hold, what_came_first_is_sent_in_order_once_it_is_up)
{
    struct redis_waiter a, b, c, cancelled;
    struct redis_script script;
    char log[256];
    struct slice key = SLICE_LIT("k"), arg = SLICE_LIT("v");
    redis_script_init(&script, SLICE_LIT("return 1"));
    fake.says = SLICE_LIT("+x\r\n");
    open_redis();
    waiter_call(&a, redis, l, "GET a");
    redis_loop_send(redis, (struct slice[]){SLICE_LIT("DEL"), SLICE_LIT("d")}, 2);
    waiter_init(&b, l);
    redis_loop_eval(redis, &script, &key, 1, &arg, 1, &b.call);
    waiter_call(&cancelled, redis, l, "GET never");
    redis_loop_eval_send(redis, &script, &key, 1, &arg, 1);
    waiter_call(&c, redis, l, "GET c");
    op_cancel(&cancelled.call.op);
    op_cancel(&cancelled.call.op);
    cr_assert_eq(stats().calls, 0);
    cr_assert_eq(a.n_done + b.n_done + c.n_done, 0);
    WAIT_FOR(l, c.n_done);
    snprintf(log, sizeof(log), "PING\nGET a\nDEL d\nEVALSHA %s 1 k v\nEVALSHA %s 1 k v\nGET c\n",
             script.sha1_hex, script.sha1_hex);
    cr_assert_str_eq(dynbuf_text(&fake.log), log);
    cr_assert_eq(a.call.op.result, ERR_OK);
    cr_assert_eq(b.call.op.result, ERR_OK);
    cr_assert_eq(c.call.op.result, ERR_OK);
    cr_assert_eq(cancelled.n_done, 0);
    cr_assert_eq(stats().calls, 5);
}

Test(redis_hold, a_script_the_server_does_not_know_is_sent_to_it)
{
    struct redis_waiter w;
    struct redis_script script;
    struct slice key = SLICE_LIT("k");
    redis_script_init(&script, SLICE_LIT("text"));
    open_redis();
    waiter_init(&w, l);
    redis_loop_eval(redis, &script, &key, 1, NULL, 0, &w.call);
    WAIT_FOR(l, fake.n_commands == 1);
    fake_says_now(&fake, SLICE_LIT("-NOSCRIPT no\r\n"));
    WAIT_FOR(l, fake.n_commands == 2);
    cr_assert(strstr(dynbuf_text(&fake.log), "\nEVAL text 1 k\n"));
    fake_says_now(&fake, SLICE_LIT(":1\r\n"));
    WAIT_FOR(l, w.n_done);
    cr_assert_eq(w.kind, REDIS_INTEGER);
}

Test(redis_hold, the_time_for_a_reply_begins_when_it_is_sent)
{
    enum { COMMAND_MS = 20 };
    struct redis_waiter w;
    fake.to_ping = NULL;
    fake.says = SLICE_LIT("+x\r\n");
    open_impatient_redis(5000, COMMAND_MS);
    waiter_call(&w, redis, l, "GET k");
    WAIT_FOR(l, fake.log.n);
    usleep(3000 * COMMAND_MS);
    cr_assert_eq(w.n_done, 0);
    fake_says_now(&fake, SLICE_LIT("+PONG\r\n"));
    fake.to_ping = "+PONG\r\n";
    WAIT_FOR(l, w.n_done);
    cr_assert_eq(w.call.op.result, ERR_OK);
}

Test(redis_hold, calls_are_bounded)
{
    static struct redis_waiter w[REDIS_LOOP_MAX_CALLS + 2];
    struct redis_script script;
    redis_script_init(&script, SLICE_LIT("return 1"));
    fake.says = SLICE_LIT("+x\r\n");
    open_redis();
    for (size_t i = 0; i < REDIS_LOOP_MAX_CALLS; i++) {
        waiter_call(&w[i], redis, l, "GET k");
        cr_assert_eq(w[i].n_done, 0);
    }
    struct redis_waiter *more = &w[REDIS_LOOP_MAX_CALLS], *script_more = more + 1;
    waiter_call(more, redis, l, "GET k");
    cr_assert_eq(more->call.failure, REDIS_FAILURE_FULL);
    cr_assert_eq(more->call.op.result, ERR_BACKEND_DOWN);
    waiter_init(script_more, l);
    redis_loop_eval(redis, &script, NULL, 0, NULL, 0, &script_more->call);
    cr_assert_eq(script_more->call.failure, REDIS_FAILURE_FULL);
    redis_loop_send(redis, &SLICE_LIT("GET"), 1);
    cr_assert_eq(stats().failures[REDIS_FAILURE_FULL], 3);
    WAIT_FOR(l, w[REDIS_LOOP_MAX_CALLS - 1].n_done);
    for (size_t i = 0; i < REDIS_LOOP_MAX_CALLS; i++) {
        cr_assert_eq(w[i].n_done, 1);
        cr_assert_eq(w[i].call.op.result, ERR_OK);
    }
    cr_assert_eq(stats().calls, REDIS_LOOP_MAX_CALLS);
    cr_assert_eq(health.n_down, 0);
}

/* "GET" and a key of n bytes. */
static enum redis_failure call_with_key_of(size_t n_bytes)
{
    struct redis_waiter w;
    char *key = mem_alloc(n_bytes);
    waiter_init(&w, l);
    redis_loop_call(redis, (struct slice[]){SLICE_LIT("GET"), {key, n_bytes}}, 2, &w.call);
    free(key);
    enum redis_failure failure = w.n_done ? w.call.failure : REDIS_FAILURE_NONE;
    op_cancel(&w.call.op);
    return failure;
}

Test(redis_hold, bytes_and_arguments_are_bounded)
{
    enum { FITS = REDIS_LOOP_MAX_QUEUED_BYTES - 3 };
    struct slice args[REDIS_LOOP_MAX_ARGS + 1];
    struct redis_waiter w;
    open_redis();
    for (size_t i = 0; i < REDIS_LOOP_MAX_ARGS + 1; i++) {
        args[i] = i ? SLICE_NONE : SLICE_LIT("MGET");
    }
    for (size_t n = REDIS_LOOP_MAX_ARGS - 1; n <= REDIS_LOOP_MAX_ARGS + 1; n++) {
        waiter_init(&w, l);
        redis_loop_call(redis, args, n, &w.call);
        cr_assert_eq(w.n_done, n > REDIS_LOOP_MAX_ARGS);
        cr_assert_eq(w.call.failure,
                     n > REDIS_LOOP_MAX_ARGS ? REDIS_FAILURE_FULL : REDIS_FAILURE_NONE);
        op_cancel(&w.call.op);
    }
    waiter_init(&w, l);
    redis_loop_call(redis, args, 0, &w.call);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_FULL);
    redis_loop_free(redis);
    open_redis();
    cr_assert_eq(call_with_key_of((size_t)1 << 32), REDIS_FAILURE_FULL);
    cr_assert_eq(call_with_key_of(FITS + 1), REDIS_FAILURE_FULL);
    cr_assert_eq(call_with_key_of(FITS - 4), REDIS_FAILURE_NONE);
    cr_assert_eq(call_with_key_of(2), REDIS_FAILURE_FULL);
    cr_assert_eq(call_with_key_of(1), REDIS_FAILURE_NONE, "to the last byte");
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_eq(fake.n_commands, 0, "all were cancelled");
}

Test(redis_hold, a_silent_server_holds_calls_for_connect_ms_and_no_longer)
{
    enum { CONNECT_MS = 60 };
    struct redis_waiter w, after;
    fake.to_ping = NULL;
    open_impatient_redis(CONNECT_MS, 5000);
    waiter_call(&w, redis, l, "GET k");
    usleep(2000 * CONNECT_MS); /* before the loop runs no time passes for it */
    int64_t begun = clock_mono_ms();
    WAIT_FOR(l, w.n_done);
    cr_assert_geq(clock_mono_ms() - begun, CONNECT_MS);
    cr_assert_lt(clock_mono_ms() - begun, 20 * CONNECT_MS);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_DOWN);
    cr_assert_eq(w.call.op.result, ERR_BACKEND_DOWN);
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_TIMEOUT);
    waiter_call(&after, redis, l, "GET k");
    cr_assert_eq(after.n_done, 1, "nothing is held twice");
    cr_assert_eq(after.call.failure, REDIS_FAILURE_DOWN);
    fake.to_ping = "+PONG\r\n";
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_eq(fake.n_commands, 0);
    fake_close_peers(&fake);
    WAIT_FOR(l, health.n_down == 2);
    waiter_call(&after, redis, l, "GET k");
    cr_assert_eq(after.n_done, 1);
}

Test(redis_hold, a_refused_password_fails_them)
{
    struct redis_waiter w[2];
    fake.to_auth = "-WRONGPASS\r\n";
    strcpy(fake.address.password, "p");
    open_redis();
    waiter_call(&w[0], redis, l, "GET a");
    waiter_call(&w[1], redis, l, "GET b");
    WAIT_FOR(l, health.n_down);
    for (int i = 0; i < 2; i++) {
        cr_assert_eq(w[i].n_done, 1);
        cr_assert_eq(w[i].call.failure, REDIS_FAILURE_DOWN);
    }
    cr_assert_eq(health.why, REDIS_FAILURE_REFUSED);
    cr_assert_eq(fake.n_commands, 0);
    cr_assert_eq(stats().calls, 0);
}

Test(redis_hold, the_first_attempt_is_at_all_addresses_of_the_host)
{
    struct redis_waiter w;
    strcpy(fake.address.host, "two.test");
    fake.says = SLICE_LIT("+x\r\n");
    open_redis();
    waiter_call(&w, redis, l, "GET k");
    WAIT_FOR(l, w.n_done);
    cr_assert_eq(w.call.op.result, ERR_OK);
    cr_assert_eq(health.n_down, 0);
    cr_assert_eq(stats().connects, 2);
}

Test(redis_hold, a_silent_name_server_holds_them_no_longer)
{
    struct redis_waiter w;
    names_init();
    strcpy(fake.address.host, "slow.test");
    open_impatient_redis(30, 5000);
    waiter_call(&w, redis, l, "GET k");
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_DOWN);
    cr_assert_eq(health.why, REDIS_FAILURE_RESOLVE);
    cr_assert_eq(stats().connects, 0);
    sem_post(&names_may_resolve);
    sem_wait(&names_resolved);
}

Test(redis_hold, may_be_freed_with_calls_held)
{
    struct redis_waiter w[3];
    struct redis_script script;
    redis_script_init(&script, SLICE_LIT("return 1"));
    open_redis();
    waiter_call(&w[0], redis, l, "GET a");
    waiter_call(&w[1], redis, l, "GET b");
    waiter_init(&w[2], l);
    redis_loop_eval(redis, &script, NULL, 0, NULL, 0, &w[2].call);
    redis_loop_send(redis, &SLICE_LIT("GET"), 1);
    op_cancel(&w[1].call.op);
    redis_loop_free(redis);
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(w[i].n_done, 0);
        cr_assert_not(w[i].call.op.active);
        op_cancel(&w[i].call.op);
    }
    fake.to_ping = "-ERR\r\n"; /* and by what one of them is told */
    open_redis();
    waiter_call(&w[0], redis, l, "GET a");
    waiter_call(&w[1], redis, l, "GET b");
    w[0].frees = redis;
    WAIT_FOR(l, w[0].n_done);
    cr_assert_eq(w[1].n_done, 0);
    cr_assert_not(w[1].call.op.active);
    cr_assert_eq(health.n_down, 0);
    redis = NULL;
}
