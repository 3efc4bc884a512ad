/* SPDX-License-Identifier: Apache-2.0 */
/* A connection and its calls, against a server that answers as the test says. */
#include "service/base/clock.h"
#include "tests/unit/service/loop/redis_fixture.h"

#include <criterion/criterion.h>

TestSuite(redis_loop, .timeout = 60, .init = set_up, .fini = tear_down);

Test(redis_loop, is_up_once_ping_was_answered_and_carries_calls)
{
    struct redis_waiter w;
    open_redis();
    cr_assert_not(redis_loop_is_up(redis));
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_eq(health.n_up, 1);
    cr_assert_eq(health.n_down, 0);
    fake.says = SLICE_LIT("$5\r\nhello\r\n");
    waiter_call(&w, redis, l, "GET k");
    cr_assert_eq(w.n_done, 0);
    WAIT_FOR(l, w.n_done);
    cr_assert_eq(w.call.op.result, ERR_OK);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_NONE);
    cr_assert_eq(w.kind, REDIS_TEXT);
    cr_assert_str_eq(w.text, "hello");
    cr_assert_str_eq(dynbuf_text(&fake.log), "PING\nGET k\n");
    cr_assert_eq(stats().calls, 1);
    cr_assert_eq(stats().connects, 1);
}

Test(redis_loop, says_who_it_is_first)
{
    static const struct {
        const char *user, *password;
        int database;
        const char *log;
    } ROWS[] = {
        {"", "", 0, "PING\n"},
        {"", "p", 0, "AUTH p\nPING\n"},
        {"u", "p", 0, "AUTH u p\nPING\n"},
        {"u", "", 0, "AUTH u \nPING\n"},
        {"u", "p", 15, "AUTH u p\nSELECT 15\nPING\n"},
        {"", "", 3, "SELECT 3\nPING\n"},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        strcpy(fake.address.user, ROWS[i].user);
        strcpy(fake.address.password, ROWS[i].password);
        fake.address.database = ROWS[i].database;
        open_up();
        cr_expect_str_eq(dynbuf_text(&fake.log), ROWS[i].log);
        cr_expect_eq(stats().writes, 1, "in one write");
        redis_loop_free(redis);
        redis = NULL;
        dynbuf_cut(&fake.log, 0);
    }
}

Test(redis_loop, anything_but_the_expected_answers_is_refused)
{
    static const char ERROR[] = "-WRONGPASS invalid username-password pair\r\n";
    static const struct {
        const char *to_connect, *to_auth, *to_select, *to_ping;
    } ROWS[] = {
        {NULL, ERROR, "+OK\r\n", "+PONG\r\n"},
        {NULL, "+OK\r\n", ERROR, "+PONG\r\n"},
        {NULL, "+OK\r\n", "+OK\r\n", "-LOADING\r\n"},
        {NULL, "+OK\r\n", "+OK\r\n", "$4\r\nPONG\r\n"},
        {NULL, "+OK\r\n", "+OK\r\n", ":1\r\n"},
        {NULL, "+OK\r\n", "+OK\r\n", "*1\r\n+PONG\r\n"},
        {NULL, "+OK\r\n", "+OK\r\n", "$-1\r\n"},
        {NULL, "+PONG\r\n", "+OK\r\n", "+PONG\r\n"},
        {"-ERR max number of clients reached\r\n", "+OK\r\n", "+OK\r\n", "+PONG\r\n"},
    };
    strcpy(fake.address.password, "p");
    fake.address.database = 1;
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        fake.to_connect = ROWS[i].to_connect;
        fake.to_auth = ROWS[i].to_auth;
        fake.to_select = ROWS[i].to_select;
        fake.to_ping = ROWS[i].to_ping;
        health = (struct redis_health_log){.loop = l};
        open_redis();
        WAIT_FOR(l, health.n_down);
        cr_expect_eq(health.why, REDIS_FAILURE_REFUSED, "row %zu: %s", i,
                     redis_failure_name(health.why));
        cr_expect_eq(health.n_up, 0);
        redis_loop_free(redis);
    }
    redis = NULL;
}

Test(redis_loop, commands_of_one_turn_leave_in_one_write)
{
    enum { N = 100 };
    static struct redis_waiter w[N];
    open_up();
    fake.says = SLICE_LIT(":1\r\n");
    uint64_t before = stats().writes;
    for (int i = 0; i < N; i++) {
        waiter_call(&w[i], redis, l, "INCR k");
    }
    cr_assert_eq(stats().writes, before, "not before the turn ends");
    WAIT_FOR(l, w[N - 1].n_done);
    cr_assert_eq(stats().writes, before + 1);
    cr_assert_eq(stats().calls, N);
    for (int i = 0; i < N; i++) {
        cr_assert_eq(w[i].n_done, 1);
        cr_assert_eq(w[i].kind, REDIS_INTEGER);
    }
}

Test(redis_loop, calls_in_flight_are_bounded)
{
    static struct redis_waiter w[REDIS_LOOP_MAX_CALLS + 1];
    open_up();
    for (size_t i = 0; i < REDIS_LOOP_MAX_CALLS; i++) {
        waiter_call(&w[i], redis, l, "GET k");
        cr_assert_eq(w[i].n_done, 0);
    }
    op_cancel(&w[0].call.op); /* its reply is still to come: it counts */
    waiter_call(&w[REDIS_LOOP_MAX_CALLS], redis, l, "GET k");
    cr_assert_eq(w[REDIS_LOOP_MAX_CALLS].call.failure, REDIS_FAILURE_FULL);
    redis_loop_send(redis, &SLICE_LIT("GET"), 1);
    cr_assert_eq(stats().failures[REDIS_FAILURE_FULL], 2);
    cr_assert_eq(stats().calls, REDIS_LOOP_MAX_CALLS);
    fake.says = SLICE_LIT("$1\r\nx\r\n");
    WAIT_FOR(l, w[REDIS_LOOP_MAX_CALLS - 1].n_done);
    cr_assert_eq(w[0].n_done, 0);
    cr_assert(redis_loop_is_up(redis));
    waiter_call(&w[0], redis, l, "GET k");
    WAIT_FOR(l, w[0].n_done);
    cr_assert_eq(w[0].call.op.result, ERR_OK);
}

/* "*2\r\n" "$3\r\nGET\r\n" "$4194276\r\n" … "\r\n": 28 bytes around the key. */
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

Test(redis_loop, queued_bytes_are_bounded)
{
    enum { FRAMING = 4 + 9 + 10 + 2, FITS = REDIS_LOOP_MAX_QUEUED_BYTES - FRAMING };
    struct redis_waiter w;
    open_up();
    cr_assert_eq(call_with_key_of(FITS + 1), REDIS_FAILURE_FULL);
    cr_assert_eq(call_with_key_of((size_t)1 << 32), REDIS_FAILURE_FULL);
    cr_assert_eq(call_with_key_of(FITS), REDIS_FAILURE_NONE);
    waiter_call(&w, redis, l, "GET k");
    cr_assert_eq(w.call.failure, REDIS_FAILURE_FULL, "the queue is full");
    redis_loop_free(redis);
    open_up();
    cr_assert_eq(call_with_key_of(FITS - 1), REDIS_FAILURE_NONE);
    fake.says = SLICE_LIT(":1\r\n");
    WAIT_FOR(l, fake.n_commands);
    waiter_call(&w, redis, l, "GET k");
    WAIT_FOR(l, w.n_done);
    cr_assert_eq(w.call.op.result, ERR_OK, "once the queue has drained");
    cr_assert_gt(stats().writes, 2, "in parts");
}

Test(redis_loop, arguments_are_bounded)
{
    struct slice args[REDIS_LOOP_MAX_ARGS + 1];
    struct redis_waiter w;
    open_up();
    fake.says = SLICE_LIT(":1\r\n");
    for (size_t i = 0; i < REDIS_LOOP_MAX_ARGS + 1; i++) {
        args[i] = i ? SLICE_NONE : SLICE_LIT("MGET");
    }
    for (size_t n = REDIS_LOOP_MAX_ARGS - 1; n <= REDIS_LOOP_MAX_ARGS + 1; n++) {
        waiter_init(&w, l);
        redis_loop_call(redis, args, n, &w.call);
        WAIT_FOR(l, w.n_done);
        cr_assert_eq(w.call.failure,
                     n <= REDIS_LOOP_MAX_ARGS ? REDIS_FAILURE_NONE : REDIS_FAILURE_FULL);
    }
    waiter_init(&w, l);
    redis_loop_call(redis, args, 0, &w.call);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_FULL);
}

Test(redis_loop, a_cancelled_call_is_not_told_and_its_reply_goes_to_nobody_else)
{
    struct redis_waiter a, b;
    open_up();
    waiter_call(&a, redis, l, "GET a");
    waiter_call(&b, redis, l, "GET b");
    op_cancel(&a.call.op);
    op_cancel(&a.call.op);
    WAIT_FOR(l, fake.n_commands == 2);
    fake_says_now(&fake, SLICE_LIT("+a\r\n+b\r\n"));
    WAIT_FOR(l, b.n_done);
    cr_assert_str_eq(b.text, "b");
    cr_assert_eq(a.n_done, 0);
    redis_loop_send(redis, (struct slice[]){SLICE_LIT("DEL"), SLICE_LIT("a")}, 2);
    WAIT_FOR(l, fake.n_commands == 3);
    fake_says_now(&fake, SLICE_LIT("-ERR no\r\n"));
    waiter_call(&b, redis, l, "GET b");
    WAIT_FOR(l, fake.n_commands == 4);
    fake_says_now(&fake, SLICE_LIT("+c\r\n"));
    WAIT_FOR(l, b.n_done);
    cr_assert_str_eq(b.text, "c", "what was sent without waiting took its own reply");
}

Test(redis_loop, a_late_reply_goes_to_nobody)
{
    struct redis_waiter a, b;
    open_impatient_redis(5000, 20);
    WAIT_FOR(l, redis_loop_is_up(redis));
    int64_t begun = clock_mono_ms();
    waiter_call(&a, redis, l, "GET a");
    WAIT_FOR(l, a.n_done);
    cr_assert_geq(clock_mono_ms() - begun, 20);
    cr_assert_eq(a.call.failure, REDIS_FAILURE_TIMEOUT);
    cr_assert_eq(a.call.op.result, ERR_BACKEND_DOWN);
    cr_assert(redis_loop_is_up(redis), "one miss is no outage");
    fake_says_now(&fake, SLICE_LIT("+a\r\n"));
    waiter_call(&b, redis, l, "GET b");
    fake.says = SLICE_LIT("+b\r\n");
    WAIT_FOR(l, b.n_done);
    cr_assert_str_eq(b.text, "b");
    cr_assert_eq(a.n_done, 1);
    cr_assert_eq(stats().failures[REDIS_FAILURE_TIMEOUT], 1);
}

Test(redis_loop, misses_in_a_row_take_it_down_with_all_that_is_in_flight)
{
    struct redis_waiter w[REDIS_LOOP_MAX_MISSES + 2];
    open_impatient_redis(5000, 30);
    WAIT_FOR(l, redis_loop_is_up(redis));
    for (int i = 0; i < REDIS_LOOP_MAX_MISSES - 1; i++) {
        waiter_call(&w[i], redis, l, "GET k");
    }
    WAIT_FOR(l, w[REDIS_LOOP_MAX_MISSES - 2].n_done);
    cr_assert(redis_loop_is_up(redis));
    fake_says_now(&fake, SLICE_LIT("+late\r\n+late\r\n"));
    fake.says = SLICE_LIT("+in time\r\n");
    waiter_call(&w[0], redis, l, "GET k");
    WAIT_FOR(l, w[0].n_done);
    cr_assert_str_eq(w[0].text, "in time");
    fake.says = SLICE_NONE;
    for (int i = 0; i < REDIS_LOOP_MAX_MISSES + 2; i++) {
        waiter_call(&w[i], redis, l, "GET k");
    }
    op_cancel(&w[1].call.op); /* a silent server is silent, whoever listens */
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_TIMEOUT);
    for (int i = 0; i < REDIS_LOOP_MAX_MISSES + 2; i++) {
        cr_assert_eq(w[i].n_done, i != 1);
        cr_assert(i == 1 || w[i].call.failure == REDIS_FAILURE_TIMEOUT);
    }
}

static bool was_told(const char *commands)
{
    return strcmp(dynbuf_text(&fake.log), commands) == 0;
}

Test(redis_loop, a_quiet_server_is_asked_now_and_then_and_stays_up)
{
    int64_t begun = clock_mono_ms();
    open_up();
    WAIT_FOR(l, was_told("PING\nPING\nPING\nPING\n"));
    cr_assert_geq(clock_mono_ms() - begun, 3 * REDIS_LOOP_CHECK_MS);
    cr_assert_eq(health.n_down, 0);
    cr_assert_eq(stats().calls, 0);
    cr_assert_eq(stats().writes, 1, "its own questions are no batches");
}

Test(redis_loop, a_silent_server_is_found_out_without_calls)
{
    open_impatient_redis(5000, 30);
    WAIT_FOR(l, redis_loop_is_up(redis));
    fake.to_ping = NULL;
    int64_t begun = clock_mono_ms();
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_TIMEOUT);
    cr_assert_geq(clock_mono_ms() - begun, (REDIS_LOOP_MAX_MISSES - 1) * REDIS_LOOP_CHECK_MS);
    cr_assert_lt(clock_mono_ms() - begun, 2000);
    cr_assert_eq(stats().failures[REDIS_FAILURE_TIMEOUT], 1, "of the connection: no call was");
    fake.to_ping = "+PONG\r\n";
    WAIT_FOR(l, redis_loop_is_up(redis));
}

Test(redis_loop, who_answers_checks_but_calls_too_late_is_found_out)
{
    static const char *const ASKED[] = {"PING\nGET k\nPING\n", "PING\nGET k\nPING\nGET k\nPING\n"};
    struct redis_waiter w;
    open_impatient_redis(5000, 30);
    WAIT_FOR(l, redis_loop_is_up(redis));
    fake.to_ping = NULL;
    for (size_t i = 0; i < sizeof(ASKED) / sizeof(ASKED[0]); i++) {
        waiter_call(&w, redis, l, "GET k");
        WAIT_FOR(l, was_told(ASKED[i]));
        cr_assert_eq(w.call.failure, REDIS_FAILURE_TIMEOUT);
        fake_says_now(&fake, SLICE_LIT("+late\r\n+PONG\r\n"));
    }
    cr_assert(redis_loop_is_up(redis));
    waiter_call(&w, redis, l, "GET k");
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(stats().failures[REDIS_FAILURE_TIMEOUT], 3 + 1);
    cr_assert_eq(health.why, REDIS_FAILURE_TIMEOUT);
}

Test(redis_loop, the_time_to_connect_ends_with_the_answer_to_ping)
{
    fake.to_ping = NULL;
    int64_t begun = clock_mono_ms();
    open_impatient_redis(30, 5000);
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_TIMEOUT);
    cr_assert_geq(clock_mono_ms() - begun, 30);
    cr_assert_eq(stats().connects, 1);
    fake.to_ping = "+PONG\r\n";
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_eq(health.n_down, 1, "told once");
}

Test(redis_loop, a_lost_connection_fails_what_is_in_flight_and_comes_back)
{
    struct redis_waiter w;
    open_up();
    waiter_call(&w, redis, l, "GET k");
    WAIT_FOR(l, fake.n_commands);
    fake_close_peers(&fake);
    WAIT_FOR(l, w.n_done);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_LOST);
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_LOST);
    waiter_call(&w, redis, l, "GET k");
    cr_assert_eq(w.n_done, 1, "at once");
    cr_assert_eq(w.call.op.result, ERR_BACKEND_DOWN);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_DOWN);
    cr_assert_null(w.call.reply);
    cr_assert_eq(stats().failures[REDIS_FAILURE_DOWN], 1);
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_eq(health.n_up, 2);
    cr_assert_eq(stats().connects, 2);
}

Test(redis_loop, each_connection_that_ends_is_counted_under_its_reason)
{
    struct redis_waiter w;
    open_up();
    fake_close_peers(&fake);
    WAIT_FOR(l, health.n_down == 1);
    cr_assert_eq(stats().failures[REDIS_FAILURE_LOST], 1);
    fake.to_ping = "-ERR\r\n";
    WAIT_FOR(l, fake.n_closed == 3);
    cr_assert_eq(stats().failures[REDIS_FAILURE_REFUSED], 2);
    fake.to_ping = "+PONG\r\n";
    WAIT_FOR(l, redis_loop_is_up(redis));
    fake.says = SLICE_LIT("garbage\r\n");
    waiter_call(&w, redis, l, "GET k");
    fake.to_ping = NULL;
    WAIT_FOR(l, w.n_done);
    WAIT_FOR(l, health.why == REDIS_FAILURE_BROKEN);
    cr_assert_eq(stats().failures[REDIS_FAILURE_BROKEN], 2, "the call's and the connection's");
    cr_assert_eq(stats().failures[REDIS_FAILURE_LOST], 1);
    cr_assert_eq(stats().failures[REDIS_FAILURE_CONNECT], 0);
}

/* A password that is wrong is for people to mend: said in the midst of an outage too, but once. */
Test(redis_loop, that_it_is_refused_is_told_once_while_it_is_down)
{
    open_up();
    fake.to_ping = "-WRONGPASS\r\n";
    fake_close_peers(&fake);
    WAIT_FOR(l, health.n_down == 1);
    cr_assert_eq(health.why, REDIS_FAILURE_LOST);
    WAIT_FOR(l, health.n_down == 2);
    cr_assert_eq(health.why, REDIS_FAILURE_REFUSED);
    WAIT_FOR(l, stats().failures[REDIS_FAILURE_REFUSED] == 3);
    cr_assert_eq(health.n_down, 2);
    fake.to_ping = "+PONG\r\n";
    WAIT_FOR(l, health.n_up == 2);
    fake.to_ping = "-WRONGPASS\r\n";
    fake_close_peers(&fake);
    WAIT_FOR(l, health.n_down == 4);
    cr_assert_eq(health.why, REDIS_FAILURE_REFUSED, "again in the next outage");
}

static void on_tick(struct timer *t)
{
    timer_start(l, t, 1);
    loop_stop(l);
}

/* How long some attempts take says how they are spaced: each delay lies in its second half. */
Test(redis_loop, attempts_are_spaced_ever_wider_up_to_a_ceiling)
{
    enum { ATTEMPTS = 6, LEAST_MS = (50 + 100 + 200 + 400 + 800) / 2 };
    struct timer tick = {.on_expired = on_tick};
    uint16_t port = fake.address.port;
    fake_close(&fake);
    int64_t begun = clock_mono_ms();
    open_redis();
    timer_start(l, &tick, 1);
    WAIT_FOR(l, stats().connects == ATTEMPTS);
    cr_assert_geq(clock_mono_ms() - begun, LEAST_MS);
    cr_assert_eq(health.n_down, 1, "told once");
    cr_assert_eq(health.why, REDIS_FAILURE_CONNECT);
    cr_assert_geq(stats().failures[REDIS_FAILURE_CONNECT], ATTEMPTS - 1);
    fake_open(&fake, l, port);
    begun = clock_mono_ms();
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_leq(clock_mono_ms() - begun, 2000, "back within two seconds");
    timer_stop(&tick);
}

Test(redis_loop, may_be_freed_at_any_time)
{
    struct redis_waiter w[3];
    open_redis();
    redis_loop_free(redis); /* before it has begun */
    fake.to_ping = NULL;
    unsigned n = fake.n_connections;
    open_redis();
    WAIT_FOR(l, fake.n_connections > n);
    redis_loop_free(redis); /* while it connects */
    fake.to_ping = "+PONG\r\n";
    open_up();
    for (int i = 0; i < 3; i++) {
        waiter_call(&w[i], redis, l, "GET k");
    }
    redis_loop_free(redis); /* with calls in flight */
    for (int i = 0; i < 3; i++) {
        cr_assert_eq(w[i].n_done, 0);
        cr_assert_not(w[i].call.op.active);
        op_cancel(&w[i].call.op);
    }
    redis_loop_free(NULL);
    redis = NULL;
}

Test(redis_loop, may_be_freed_by_what_it_calls)
{
    struct redis_waiter w[3];
    for (int cause = 0; cause < 4; cause++) {
        health = (struct redis_health_log){.loop = l};
        fake.says = SLICE_NONE;
        open_impatient_redis(2000, cause == 2 ? 20 : 2000);
        WAIT_FOR(l, redis_loop_is_up(redis));
        unsigned n = fake.n_commands;
        for (int i = 0; i < 3; i++) {
            waiter_call(&w[i], redis, l, "GET k");
        }
        w[0].frees = cause < 3 ? redis : NULL;
        health.frees = cause == 3 ? redis : NULL;
        WAIT_FOR(l, fake.n_commands == n + 3);
        if (cause == 0) {
            fake_says_now(&fake, SLICE_LIT("+a\r\n+b\r\n+c\r\n"));
        } else if (cause != 2) {
            fake_close_peers(&fake);
        } /* else its deadline passes */
        WAIT_FOR(l, cause == 3 ? health.n_down : w[0].n_done);
        cr_assert_eq(w[1].n_done, cause == 3, "cause %d", cause);
        cr_assert_not(w[1].call.op.active);
        cr_assert_eq(health.n_down, cause == 3);
    }
    redis = NULL;
}

static struct redis_waiter again;

static void on_done_calls_again(struct op *op)
{
    (void)op;
    waiter_call(&again, redis, l, "GET again");
}

Test(redis_loop, a_call_may_be_made_from_what_another_was_told)
{
    struct redis_waiter w;
    open_up();
    fake.says = SLICE_LIT("+x\r\n");
    waiter_call(&w, redis, l, "GET k");
    w.call.op.on_done = on_done_calls_again;
    WAIT_FOR(l, again.n_done);
    cr_assert_eq(again.call.op.result, ERR_OK);
    fake.says = SLICE_NONE;
    waiter_call(&w, redis, l, "GET k");
    w.call.op.on_done = on_done_calls_again;
    WAIT_FOR(l, fake.n_commands == 3);
    fake_close_peers(&fake);
    WAIT_FOR(l, again.n_done && again.call.op.result != ERR_OK);
    cr_assert_eq(again.call.failure, REDIS_FAILURE_DOWN, "no call of a dying connection");
}

Test(redis_loop, replies_that_wait_for_a_loop_that_was_late_are_in_time)
{
    enum { N = 10, N_BYTES = 4096, COMMAND_MS = 20 };
    struct redis_waiter w[N];
    struct dynbuf replies;
    dynbuf_init(&replies, FAKE_MAX_BYTES);
    for (int i = 0; i < N; i++) {
        dynbuf_add_byte(&replies, '+');
        memset(dynbuf_extend(&replies, N_BYTES), 'x', N_BYTES);
        dynbuf_add_text(&replies, "\r\n");
    }
    open_impatient_redis(5000, COMMAND_MS);
    WAIT_FOR(l, redis_loop_is_up(redis));
    for (int i = 0; i < N; i++) {
        waiter_call(&w[i], redis, l, "GET k");
    }
    WAIT_FOR(l, fake.n_commands == N);
    fake_says_now(&fake, dynbuf_get(&replies));
    usleep(2000 *
           COMMAND_MS); /* the loop is held up, with both the time over and the replies here */
    WAIT_FOR(l, w[N - 1].n_done);
    for (int i = 0; i < N; i++) {
        cr_assert_eq(w[i].call.op.result, ERR_OK);
    }
    dynbuf_done(&replies);
}
