/* SPDX-License-Identifier: Apache-2.0 */
/* Against a server that answers as the test says, on the same loop. */
#include "service/base/clock.h"
#include "tests/unit/service/loop/fake_redis.h"
#include "tests/unit/service/loop/redis_waiter.h"

#include <criterion/criterion.h>
#include <signal.h>

static struct loop *l;
static struct fake_redis fake;
static struct redis_health_log health;
static struct redis_loop *redis;

static void open_redis(void)
{
    struct redis_loop_options options = {.address = &fake.address,
                                         .connect_ms = 2000,
                                         .command_ms = 2000,
                                         .seed = 7,
                                         .on_health = on_health_logged,
                                         .who = &health};
    redis = redis_loop_new(l, &options);
}

static void open_impatient_redis(int64_t connect_ms, int64_t command_ms)
{
    struct redis_loop_options options = {.address = &fake.address,
                                         .connect_ms = connect_ms,
                                         .command_ms = command_ms,
                                         .on_health = on_health_logged,
                                         .who = &health};
    redis = redis_loop_new(l, &options);
}

static void set_up(void)
{
    signal(SIGPIPE, SIG_IGN); /* as the program does */
    l = loop_new();
    health = (struct redis_health_log){.loop = l};
    fake_open(&fake, l, 0);
}

static void tear_down(void)
{
    redis_loop_free(redis);
    fake_close(&fake);
    loop_free(l);
}

TestSuite(redis_loop, .timeout = 60, .init = set_up, .fini = tear_down);

static void open_up(void)
{
    open_redis();
    WAIT_FOR(l, redis_loop_is_up(redis));
}

static struct redis_stats stats(void)
{
    struct redis_stats s;
    redis_loop_stats(redis, &s);
    return s;
}

Test(redis_loop, is_up_once_ping_was_answered_and_carries_calls)
{
    struct redis_waiter w;
    open_redis();
    cr_assert_not(redis_loop_is_up(redis));
    waiter_call(&w, redis, l, "GET k");
    cr_assert_eq(w.n_done, 1, "at once");
    cr_assert_eq(w.call.op.result, ERR_BACKEND_DOWN);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_DOWN);
    cr_assert_null(w.call.reply);
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
    cr_assert_eq(stats().failures[REDIS_FAILURE_DOWN], 1);
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

Test(redis_loop, reads_every_kind_of_reply_in_any_pieces)
{
    static const struct {
        struct slice bytes;
        enum redis_kind kind;
        const char *text;
        int64_t integer;
        size_t n_items;
    } ROWS[] = {
        {SLICE_LIT("$-1\r\n"), REDIS_NIL, "", 0, 0},
        {SLICE_LIT("*-1\r\n"), REDIS_NIL, "", 0, 0},
        {SLICE_LIT("$0\r\n\r\n"), REDIS_TEXT, "", 0, 0},
        {SLICE_LIT("$3\r\na\r\n\r\n"), REDIS_TEXT, "a\r\n", 0, 0},
        {SLICE_LIT("+OK\r\n"), REDIS_STATUS, "OK", 0, 0},
        {SLICE_LIT("-OOM no\r\n"), REDIS_ERROR, "OOM no", 0, 0},
        {SLICE_LIT(":-9223372036854775808\r\n"), REDIS_INTEGER, "", INT64_MIN, 0},
        {SLICE_LIT("*0\r\n"), REDIS_LIST, "", 0, 0},
        {SLICE_LIT("*4\r\n:1\r\n$1\r\nx\r\n$-1\r\n-E\r\n"), REDIS_LIST, "", 0, 4},
    };
    open_up();
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        for (size_t cut = 0; cut < ROWS[i].bytes.n; cut++) {
            struct redis_waiter w;
            unsigned n = fake.n_commands;
            waiter_call(&w, redis, l, "EVAL s 0");
            WAIT_FOR(l, fake.n_commands > n);
            fake_says_now(&fake, (struct slice){ROWS[i].bytes.p, cut});
            if (cut) {
                struct redis_waiter other; /* its command is a turn in which the half arrives */
                waiter_call(&other, redis, l, "GET k");
                WAIT_FOR(l, fake.n_commands > n + 1);
                cr_assert_eq(w.n_done, 0);
                op_cancel(&other.call.op);
                fake_says_now(&fake, slice_skip(ROWS[i].bytes, cut));
                fake_says_now(&fake, SLICE_LIT("$-1\r\n"));
            } else {
                fake_says_now(&fake, ROWS[i].bytes);
            }
            WAIT_FOR(l, w.n_done);
            cr_expect_eq(w.call.op.result, ERR_OK);
            cr_expect_eq(w.kind, ROWS[i].kind, "row %zu cut %zu", i, cut);
            cr_expect_str_eq(w.text, ROWS[i].text);
            cr_expect_eq(w.integer, ROWS[i].integer);
            cr_expect_eq(w.n_items, ROWS[i].n_items);
        }
    }
    cr_assert_eq(health.n_down, 0);
}

Test(redis_loop, garbage_ends_the_connection_and_fails_what_is_in_flight)
{
    static const struct slice ROWS[] = {
        SLICE_LIT("HTTP/1.1 400 Bad Request\r\n\r\n"),
        SLICE_LIT("%1\r\n+a\r\n+b\r\n"),
        SLICE_LIT("_\r\n"),
        SLICE_LIT(">1\r\n+a\r\n"),
        SLICE_LIT("\r\n"),
        SLICE_LIT("\0\0\0\0"),
        SLICE_LIT(":x\r\n"),
        SLICE_LIT(":\r\n"),
        SLICE_LIT(":9223372036854775808\r\n"),
        SLICE_LIT("$-2\r\n"),
        SLICE_LIT("$x\r\n"),
        SLICE_LIT("*-2\r\n"),
        SLICE_LIT("*2147483648\r\n"),
        SLICE_LIT("*2147483647\r\n"),
        SLICE_LIT("*33\r\n"),
        SLICE_LIT("*1\r\n*1\r\n:1\r\n"),
        SLICE_LIT("*2\r\n$1\r\na\r\n*0\r\n"),
        SLICE_LIT("*2\r\n$1\r\na\r\n~"),
        SLICE_LIT("*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n*1\r\n"),
        SLICE_LIT(":1\r\n:2\r\n:3\r\n"), /* one more than there are commands */
        SLICE_LIT(":1\r\n:2\r\n-ERR bye\r\n"),
        SLICE_LIT(":1\r\n:2\r\n*2\r\n:1\r\n"),
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        struct redis_waiter a, b;
        health = (struct redis_health_log){.loop = l};
        open_up();
        unsigned n = fake.n_commands;
        waiter_call(&a, redis, l, "GET a");
        waiter_call(&b, redis, l, "GET b");
        WAIT_FOR(l, fake.n_commands == n + 2);
        fake_says_now(&fake, ROWS[i]);
        WAIT_FOR(l, health.n_down);
        cr_expect_eq(health.why, REDIS_FAILURE_BROKEN, "row %zu", i);
        cr_expect_eq(a.n_done, 1);
        cr_expect_eq(b.n_done, 1);
        cr_expect(ROWS[i].p[0] == ':' || a.call.failure == REDIS_FAILURE_BROKEN, "row %zu", i);
        cr_expect(a.call.op.result == (a.call.failure ? ERR_BACKEND_DOWN : ERR_OK));
        WAIT_FOR(l, health.n_up == 2); /* and it comes back */
        redis_loop_free(redis);
    }
    redis = NULL;
}

static struct redis_waiter early;

static void on_message_calls(struct loop_message *m)
{
    (void)m;
    waiter_call(&early, redis, l, "GET k");
}

Test(redis_loop, a_reply_to_a_command_that_has_not_left_is_unasked_for)
{
    struct loop_message message = {.run = on_message_calls};
    open_up();
    loop_post(l, &message); /* this wakes the loop first, so both are of one turn */
    fake_says_now(&fake, SLICE_LIT("$6\r\npoison\r\n"));
    WAIT_FOR(l, early.n_done);
    cr_assert_eq(early.call.failure, REDIS_FAILURE_BROKEN);
    cr_assert_null(early.call.reply);
    cr_assert_eq(fake.n_commands, 0);
}

static struct slice reply_of(size_t n_bytes)
{
    char head[32];
    int n = snprintf(head, sizeof(head), "$%zu\r\n", n_bytes);
    char *p = mem_alloc((size_t)n + n_bytes + 2);
    memcpy(p, head, (size_t)n);
    memset(p + n, 'x', n_bytes);
    memcpy(p + (size_t)n + n_bytes, "\r\n", 2);
    return (struct slice){p, (size_t)n + n_bytes + 2};
}

Test(redis_loop, a_reply_is_bounded)
{
    static const struct {
        size_t n_bytes;
        bool fits;
    } ROWS[] = {
        {REDIS_LOOP_MAX_REPLY_BYTES - 1, true},
        {REDIS_LOOP_MAX_REPLY_BYTES, true},
        {REDIS_LOOP_MAX_REPLY_BYTES + 1, false},
        {10 * 1024 * 1024, false},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        struct redis_waiter w;
        struct slice bytes = reply_of(ROWS[i].n_bytes);
        open_up();
        fake.says = bytes;
        waiter_call(&w, redis, l, "GET k");
        WAIT_FOR(l, w.n_done);
        cr_expect_eq(w.call.failure, ROWS[i].fits ? REDIS_FAILURE_NONE : REDIS_FAILURE_BROKEN);
        cr_expect(!ROWS[i].fits || w.n_text == ROWS[i].n_bytes);
        redis_loop_free(redis);
        fake_close_peers(&fake);
        free((char *)bytes.p);
    }
    redis = NULL;
}

static void check_list(size_t n_items, size_t n_bytes, bool fits)
{
    struct redis_waiter w;
    struct dynbuf list;
    struct slice item = reply_of(n_bytes);
    dynbuf_init(&list, FAKE_MAX_BYTES);
    dynbuf_add_byte(&list, '*');
    dynbuf_add_int(&list, (int64_t)n_items);
    dynbuf_add_text(&list, "\r\n");
    for (size_t i = 0; i < n_items; i++) {
        dynbuf_add(&list, item);
    }
    fake.says = dynbuf_get(&list);
    open_up();
    waiter_call(&w, redis, l, "EVAL s 0");
    WAIT_FOR(l, w.n_done);
    cr_expect_eq(w.call.failure, fits ? REDIS_FAILURE_NONE : REDIS_FAILURE_BROKEN);
    cr_expect(!fits || w.n_items == n_items);
    redis_loop_free(redis);
    redis = NULL;
    fake_close_peers(&fake);
    free((char *)item.p);
    dynbuf_done(&list);
}

Test(redis_loop, a_list_is_bounded_in_items_and_in_their_bytes_together)
{
    check_list(REDIS_LOOP_MAX_ITEMS - 1, 1, true);
    check_list(REDIS_LOOP_MAX_ITEMS, 1, true);
    check_list(REDIS_LOOP_MAX_ITEMS + 1, 1, false);
    check_list(4, REDIS_LOOP_MAX_REPLY_BYTES / 4, true);
    check_list(4, REDIS_LOOP_MAX_REPLY_BYTES / 4 + 1, false);
}

Test(redis_loop, a_line_without_an_end_and_an_announced_gigabyte_are_bounded)
{
    static const char *const HEADS[] = {"+", "-", ":", "$", "*", "$9223372036854775807\r\n"};
    size_t n = REDIS_LOOP_MAX_REPLY_BYTES + 100000;
    for (size_t i = 0; i < sizeof(HEADS) / sizeof(HEADS[0]); i++) {
        struct redis_waiter w;
        struct dynbuf line;
        dynbuf_init(&line, FAKE_MAX_BYTES);
        dynbuf_add_text(&line, HEADS[i]);
        memset(dynbuf_extend(&line, n), '1', n);
        fake.says = dynbuf_get(&line);
        open_up();
        waiter_call(&w, redis, l, "GET k");
        WAIT_FOR(l, w.n_done);
        cr_expect_eq(w.call.failure, REDIS_FAILURE_BROKEN, "row %zu", i);
        redis_loop_free(redis);
        fake_close_peers(&fake);
        dynbuf_done(&line);
    }
    redis = NULL;
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
    cr_assert_geq(clock_mono_ms() - begun, REDIS_LOOP_MAX_MISSES * 30);
    cr_assert_lt(clock_mono_ms() - begun, 1000);
    cr_assert_eq(stats().failures[REDIS_FAILURE_TIMEOUT], 0, "of calls: there was none");
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
    cr_assert_eq(stats().failures[REDIS_FAILURE_TIMEOUT], 3);
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
    cr_assert_eq(w.call.failure, REDIS_FAILURE_DOWN);
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_eq(health.n_up, 2);
    cr_assert_eq(stats().connects, 2);
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
