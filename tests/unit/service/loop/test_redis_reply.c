/* SPDX-License-Identifier: Apache-2.0 */
/* What a server may say, and what ends the connection instead of the process. */
#include "tests/unit/service/loop/redis_fixture.h"

#include <criterion/criterion.h>

TestSuite(redis_reply, .timeout = 60, .init = set_up, .fini = tear_down);

Test(redis_reply, reads_every_kind_of_reply_in_any_pieces)
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

Test(redis_reply, garbage_ends_the_connection_and_fails_what_is_in_flight)
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

Test(redis_reply, a_reply_to_a_command_that_has_not_left_is_unasked_for)
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

Test(redis_reply, a_reply_is_bounded)
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

Test(redis_reply, a_list_is_bounded_in_items_and_in_their_bytes_together)
{
    check_list(REDIS_LOOP_MAX_ITEMS - 1, 1, true);
    check_list(REDIS_LOOP_MAX_ITEMS, 1, true);
    check_list(REDIS_LOOP_MAX_ITEMS + 1, 1, false);
    check_list(4, REDIS_LOOP_MAX_REPLY_BYTES / 4, true);
    check_list(4, REDIS_LOOP_MAX_REPLY_BYTES / 4 + 1, false);
}

Test(redis_reply, a_line_without_an_end_and_an_announced_gigabyte_are_bounded)
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
