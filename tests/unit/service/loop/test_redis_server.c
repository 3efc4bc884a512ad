/* SPDX-License-Identifier: Apache-2.0 */
/* Against the real server. */
#include "service/base/clock.h"
#include "tests/unit/redis_server.h"
#include "tests/unit/service/loop/fake_redis.h"
#include "tests/unit/service/loop/names.h"
#include "tests/unit/service/loop/redis_waiter.h"

#include <criterion/criterion.h>

static struct loop *l;
static struct redis_server server;
static struct redis_health_log health;
static struct redis_loop *redis;

static void open_redis(int64_t connect_ms, int64_t command_ms)
{
    struct redis_loop_options options = {.address = &server.address,
                                         .connect_ms = connect_ms,
                                         .command_ms = command_ms,
                                         .seed = 3,
                                         .on_health = on_health_logged,
                                         .who = &health};
    redis = redis_loop_new(l, &options);
}

static void open_up(void)
{
    open_redis(5000, 5000);
    WAIT_FOR(l, redis_loop_is_up(redis));
}

static void set_up(void)
{
    signal(SIGPIPE, SIG_IGN);
    l = loop_new();
    health = (struct redis_health_log){.loop = l};
    server = (struct redis_server){.pid = 0};
}

static void tear_down(void)
{
    redis_loop_free(redis);
    if (server.folder[0]) {
        redis_server_stop(&server);
    }
    loop_free(l);
}

TestSuite(redis_server, .timeout = 60, .init = set_up, .fini = tear_down);

static struct redis_stats stats(void)
{
    struct redis_stats s;
    redis_loop_stats(redis, &s);
    return s;
}

static const char *ask(const char *words)
{
    static struct redis_waiter w;
    waiter_call(&w, redis, l, words);
    WAIT_FOR(l, w.n_done);
    return w.call.failure        ? redis_failure_name(w.call.failure)
           : w.kind == REDIS_NIL ? "nil"
                                 : w.text;
}

Test(redis_server, carries_any_bytes_there_and_back)
{
    enum { N = 100000 };
    char *bytes = mem_alloc(N);
    struct redis_waiter set, w;
    redis_server_start(&server, NULL);
    open_up();
    for (size_t i = 0; i < N; i++) {
        bytes[i] = (char)(i * 7 + i / 256);
    }
    waiter_init(&set, l);
    redis_loop_call(redis, (struct slice[]){SLICE_LIT("SET"), {bytes, 2}, {bytes, N}}, 3,
                    &set.call);
    memset(bytes, 0, 3); /* copied */
    waiter_init(&w, l);
    redis_loop_call(redis, (struct slice[]){SLICE_LIT("GET"), {"\0\7", 2}}, 2, &w.call);
    WAIT_FOR(l, w.n_done);
    cr_assert_eq(w.n_text, N);
    cr_assert_eq(memcmp(w.text, "\0\7\16\25", 4), 0);
    cr_assert_str_eq(ask("SET k v1 NX GET PX 60000"), "nil");
    cr_assert_str_eq(ask("SET k v2 NX GET PX 60000"), "v1");
    cr_assert_str_eq(ask("GET k"), "v1");
    free(bytes);
}

Test(redis_server, logs_in_and_selects)
{
    redis_server_start(&server, (const char *const[]){"--requirepass", "se cret", NULL});
    open_redis(5000, 5000);
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_REFUSED, "without a password");
    redis_loop_free(redis);
    strcpy(server.address.password, "wrong");
    open_redis(5000, 5000);
    WAIT_FOR(l, health.n_down == 2);
    cr_assert_eq(health.why, REDIS_FAILURE_REFUSED, "with another");
    redis_loop_free(redis);
    strcpy(server.address.password, "se cret");
    strcpy(server.address.user, "default");
    server.address.database = 5;
    open_up();
    cr_assert_str_eq(ask("SET k v"), "OK");
    cr_assert_str_eq(ask("SELECT 0"), "OK");
    cr_assert_str_eq(ask("GET k"), "nil");
}

Test(redis_server, a_socket_that_is_not_there_is_a_failure_to_connect)
{
    redis_server_start(&server, NULL);
    redis_server_signal(&server, SIGKILL);
    open_redis(5000, 5000);
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_CONNECT);
    redis_server_run(&server);
    int64_t begun = clock_mono_ms();
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_leq(clock_mono_ms() - begun, 2000);
}

Test(redis_server, a_killed_server_fails_what_is_in_flight_and_is_found_again)
{
    struct redis_waiter w;
    redis_server_start(&server, NULL);
    open_up();
    for (unsigned round = 1; round <= 3; round++) {
        redis_server_signal(&server, SIGSTOP);
        waiter_call(&w, redis, l, "GET k");
        redis_server_signal(&server, SIGKILL);
        WAIT_FOR(l, w.n_done);
        cr_assert_eq(w.call.failure, REDIS_FAILURE_LOST);
        redis_server_run(&server);
        int64_t begun = clock_mono_ms();
        WAIT_FOR(l, redis_loop_is_up(redis));
        cr_assert_leq(clock_mono_ms() - begun, 2000);
        cr_assert_str_eq(ask("GET k"), "nil");
    }
}

Test(redis_server, what_was_sent_without_waiting_leaves_before_it_is_freed)
{
    redis_server_start(&server, NULL);
    open_up();
    redis_loop_send(redis, (struct slice[]){SLICE_LIT("LPUSH"), SLICE_LIT("list"), SLICE_LIT("x")},
                    3);
    redis_loop_free(redis);
    redis = NULL;
    redisReply *reply = redis_server_say(&server, "BLPOP list 10"); /* if need be it waits */
    cr_assert_eq(reply->type, REDIS_REPLY_ARRAY);
    freeReplyObject(reply);
}

static void on_tick(struct timer *t)
{
    timer_start(l, t, 1);
    loop_stop(l);
}

Test(redis_server, a_paused_server_is_down_after_few_misses_and_back_once_it_goes_on)
{
    struct timer tick = {.on_expired = on_tick};
    redis_server_start(&server, NULL);
    open_redis(100, 30);
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_str_eq(ask("SET k v"), "OK");
    redis_server_signal(&server, SIGSTOP);
    for (int i = 0; i < REDIS_LOOP_MAX_MISSES; i++) {
        cr_assert_str_eq(ask("GET k"), "timeout");
    }
    cr_assert_str_eq(ask("GET k"), "down", "no call waits any more");
    cr_assert_eq(health.why, REDIS_FAILURE_TIMEOUT);
    uint64_t before = stats().connects;
    timer_start(l, &tick, 1);
    WAIT_FOR(l, stats().connects == before + 2);
    redis_server_signal(&server, SIGCONT);
    int64_t begun = clock_mono_ms();
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_leq(clock_mono_ms() - begun, 2000);
    timer_stop(&tick);
    cr_assert_str_eq(ask("GET k"), "v");
}

#define SCRIPT "return {KEYS[1], ARGV[1], #KEYS, #ARGV, redis.call('INCR', 'n')}"

static void eval(struct redis_waiter *w, const struct redis_script *s)
{
    struct slice key = SLICE_LIT("key"), args[] = {SLICE_LIT("a\0b"), SLICE_LIT("")};
    waiter_init(w, l);
    redis_loop_eval(redis, s, &key, 1, args, 2, &w->call);
}

Test(redis_server, a_script_the_server_does_not_know_is_sent_to_it_once_a_call)
{
    enum { N = 5 };
    struct redis_script script;
    struct redis_waiter w[N];
    redis_script_init(&script, SLICE_LIT(SCRIPT));
    cr_assert_eq(strlen(script.sha1_hex), 40);
    redis_server_start(&server, NULL);
    open_up();
    for (int round = 0; round < 2; round++) {
        uint64_t before = stats().calls;
        for (int i = 0; i < N; i++) {
            eval(&w[i], &script);
        }
        WAIT_FOR(l, w[N - 1].n_done);
        for (int i = 0; i < N; i++) {
            cr_assert_eq(w[i].n_done, 1);
            cr_assert_eq(w[i].call.op.result, ERR_OK);
            cr_assert_eq(w[i].kind, REDIS_LIST);
            cr_assert_eq(w[i].n_items, 5);
            cr_assert_eq(w[i].item_kinds[0], REDIS_TEXT);
            cr_assert_eq(w[i].item_kinds[2], REDIS_INTEGER);
        }
        cr_assert_eq(stats().calls - before, round ? N : 2 * N);
    }
    cr_assert_str_eq(ask("GET n"), "10", "each ran once");
    redis_server_do(&server, "SCRIPT FLUSH");
    eval(&w[0], &script);
    eval(&w[1], &script);
    op_cancel(&w[0].call.op); /* nothing is sent again for it */
    struct slice key = SLICE_LIT("key"), arg = SLICE_LIT("x");
    redis_loop_eval_send(redis, &script, &key, 1, &arg, 1); /* for this it is */
    WAIT_FOR(l, w[1].n_done);
    cr_assert_str_eq(ask("GET n"), "12");
}

Test(redis_server, an_error_of_a_script_is_its_reply)
{
    struct redis_script script;
    struct redis_waiter w;
    redis_script_init(&script, SLICE_LIT("return redis.error_reply('NOSCRIPT mine')"));
    redis_server_start(&server, NULL);
    open_up();
    eval(&w, &script);
    WAIT_FOR(l, w.n_done);
    cr_assert_eq(w.call.op.result, ERR_OK);
    cr_assert_eq(w.kind, REDIS_ERROR);
    cr_assert_str_eq(w.text, "NOSCRIPT mine");
    cr_assert_eq(stats().calls, 2, "once, even if it says so itself");
}

Test(redis_server, a_script_has_a_bounded_number_of_arguments)
{
    struct redis_script script;
    struct redis_waiter w;
    struct slice many[REDIS_LOOP_MAX_ARGS];
    redis_script_init(&script, SLICE_LIT("return #KEYS + #ARGV"));
    redis_server_start(&server, NULL);
    open_up();
    for (size_t i = 0; i < REDIS_LOOP_MAX_ARGS; i++) {
        many[i] = SLICE_LIT("x");
    }
    for (size_t n = REDIS_LOOP_MAX_ARGS - 4; n <= REDIS_LOOP_MAX_ARGS - 2; n++) {
        waiter_init(&w, l);
        redis_loop_eval(redis, &script, many, 10, many, n - 10, &w.call);
        WAIT_FOR(l, w.n_done);
        bool fits = n + 3 <= REDIS_LOOP_MAX_ARGS;
        cr_assert_eq(w.call.failure, fits ? REDIS_FAILURE_NONE : REDIS_FAILURE_FULL);
        cr_assert(!fits || w.integer == (int64_t)n);
    }
    waiter_init(&w, l);
    redis_loop_eval(redis, &script, many, SIZE_MAX, many, 2, &w.call);
    cr_assert_eq(w.call.failure, REDIS_FAILURE_FULL);
}

Test(redis_server, names_are_resolved_off_the_loop_and_each_address_is_tried)
{
    struct fake_redis fake;
    names_init();
    fake_open(&fake, l, 0);
    server.address = fake.address; /* of 127.0.0.1 alone */
    strcpy(server.address.host, "two.test");
    open_redis(5000, 5000);
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_eq(stats().connects, 2);
    redis_loop_free(redis);
    strcpy(server.address.host, "slow.test");
    open_redis(5000, 5000);
    health.n_down = 0;
    sem_post(&names_may_resolve);
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_RESOLVE);
    redis_loop_free(redis);
    redis = NULL;
    fake_close(&fake);
}

static void on_tick_frees(struct timer *t)
{
    if (sem_trywait(&names_resolving) != 0) {
        timer_start(l, t, 1);
        return;
    }
    redis_loop_free(redis);
    redis = NULL;
    loop_stop(l);
}

static void on_tick_stops(struct timer *t)
{
    if (sem_trywait(&names_resolving) != 0) {
        timer_start(l, t, 1);
        return;
    }
    loop_stop(l);
}

/* Until the stand-in for a name server lets it go, a lookup blocks: who waited for it would hang.
 */
Test(redis_server, may_be_freed_while_its_name_is_being_resolved)
{
    struct timer tick = {.on_expired = on_tick_frees};
    names_init();
    strcpy(server.address.host, "slow.test");
    open_redis(5000, 5000);
    timer_start(l, &tick, 1);
    loop_run(l);
    loop_free(l);
    cr_assert_null(redis);
    cr_assert_neq(sem_trywait(&names_resolved), 0, "nobody has waited for it");
    cr_assert_eq(health.n_down, 0);
    sem_post(&names_may_resolve);
    sem_wait(&names_resolved); /* with nobody there to be told */
    l = loop_new();
}

Test(redis_server, a_lookup_that_ends_after_the_loop_tells_nobody)
{
    names_init();
    strcpy(server.address.host, "slow.test");
    open_redis(5000, 5000);
    struct timer tick = {.on_expired = on_tick_stops};
    timer_start(l, &tick, 1);
    loop_run(l);
    sem_post(&names_may_resolve);
    sem_wait(&names_resolved); /* and what it says is never read */
    redis_loop_free(redis);
    redis = NULL;
    cr_assert_eq(health.n_down, 0);
}

Test(redis_server, a_server_that_is_full_refuses_and_is_up_once_it_has_room)
{
    redis_server_start(&server, (const char *const[]){"--maxclients", "1", NULL});
    redisContext *other = redisConnectUnix(server.address.path);
    cr_assert_eq(other->err, 0);
    freeReplyObject(redisCommand(other, "PING"));
    open_redis(5000, 5000);
    WAIT_FOR(l, health.n_down);
    cr_assert(health.why == REDIS_FAILURE_REFUSED || health.why == REDIS_FAILURE_LOST);
    redisFree(other);
    int64_t begun = clock_mono_ms();
    WAIT_FOR(l, redis_loop_is_up(redis));
    cr_assert_leq(clock_mono_ms() - begun, 2000);
    cr_assert_str_eq(ask("SET k v"), "OK");
}

Test(redis_server, a_socket_with_a_full_backlog_fails_at_once)
{
    char folder[] = "/tmp/redis_server.XXXXXX";
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fds[2];
    cr_assert_not_null(mkdtemp(folder));
    server.address.is_unix = true;
    snprintf(server.address.path, sizeof(server.address.path), "%s/s", folder);
    memcpy(address.sun_path, server.address.path, sizeof(server.address.path));
    for (int i = 0; i < 2; i++) {
        fds[i] = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    }
    cr_assert_eq(bind(fds[0], (struct sockaddr *)&address, sizeof(address)), 0);
    cr_assert_eq(listen(fds[0], 0), 0);
    cr_assert_eq(connect(fds[1], (struct sockaddr *)&address, sizeof(address)), 0);
    open_redis(5000, 5000);
    WAIT_FOR(l, health.n_down);
    cr_assert_eq(health.why, REDIS_FAILURE_CONNECT);
    close(fds[0]);
    close(fds[1]);
    unlink(server.address.path);
    rmdir(folder);
}

Test(redis_server, the_longest_path_reaches_its_socket)
{
    char folder[] = "/tmp/redis_server.XXXXXX", path[REDIS_PATH_MAX_BYTES + 1];
    struct fake_redis fake;
    cr_assert_not_null(mkdtemp(folder));
    memset(path, 's', sizeof(path));
    memcpy(path, folder, strlen(folder));
    path[strlen(folder)] = '/';
    path[REDIS_PATH_MAX_BYTES] = '\0';
    fake_open_at(&fake, l, path);
    server.address = fake.address;
    open_up();
    redis_loop_free(redis);
    redis = NULL;
    fake_close(&fake);
    unlink(path);
    rmdir(folder);
}
