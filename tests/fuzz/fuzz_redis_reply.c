/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes of a Redis server, sent to a connection of the real client. The first byte says how many
 * calls are in flight and whether the server answers PING at all, the second where what follows is
 * cut into two pieces. Whatever it is: each call ends once, and the client outlives it. */
#include "tests/fuzz/must.h"
#include "tests/unit/service/loop/fake_redis.h"
#include "tests/unit/service/loop/redis_waiter.h"

#include <signal.h>

enum { MAX_CALLS = 8, IN_HANDSHAKE = 0x08, CANCELS = 0x10, LONG_MS = 600000 };

static char folder[] = "/tmp/fuzz_redis.XXXXXX", path[sizeof(folder) + 2];
static struct redis_script script;

static void remove_folder(void)
{
    unlink(path);
    rmdir(folder);
}

static void prepare(void)
{
    signal(SIGPIPE, SIG_IGN);
    must(mkdtemp(folder) != NULL);
    snprintf(path, sizeof(path), "%s/s", folder);
    atexit(remove_folder);
    redis_script_init(&script, SLICE_LIT("return 1"));
}

struct stop {
    struct loop_message message;
    struct loop *loop;
};

static void on_stop(struct loop_message *m)
{
    loop_stop(((struct stop *)m)->loop);
}

/* A turn in which the loop sees all that has happened so far. */
static void run_turn(struct loop *l)
{
    struct stop stop = {{.run = on_stop}, l};
    loop_post(l, &stop.message);
    loop_run(l);
}

static void call(struct redis_loop *r, struct loop *l, struct redis_waiter *w, bool evals)
{
    struct slice key = SLICE_LIT("key");
    if (evals) {
        waiter_init(w, l);
        redis_loop_eval(r, &script, &key, 1, &key, 1, &w->call);
    } else {
        waiter_call(w, r, l, "GET key");
    }
}

static void feed(struct loop *l, struct fake_redis *fake, struct slice bytes, size_t cut)
{
    fake_says_now(fake, (struct slice){bytes.p, cut});
    run_turn(l);
    run_turn(l);
    fake_says_now(fake, slice_skip(bytes, cut));
    run_turn(l);
    run_turn(l);
    fake_close_peers(fake);
}

static void run(struct loop *l, struct fake_redis *fake, uint8_t how, struct slice bytes,
                size_t cut)
{
    struct redis_health_log health = {.loop = l};
    struct redis_waiter w[MAX_CALLS];
    struct redis_loop_options options = {.address = &fake->address,
                                         .connect_ms = LONG_MS,
                                         .command_ms = LONG_MS,
                                         .on_health = on_health_logged,
                                         .who = &health};
    struct redis_loop *r = redis_loop_new(l, &options);
    unsigned n = how & IN_HANDSHAKE ? 0 : how % MAX_CALLS;
    fake->to_ping = how & IN_HANDSHAKE ? NULL : "+PONG\r\n";
    WAIT_FOR(l, how & IN_HANDSHAKE ? fake->log.n > 0 : redis_loop_is_up(r));
    for (unsigned i = 0; i < n; i++) {
        call(r, l, &w[i], i % 2);
    }
    WAIT_FOR(l, fake->n_commands == n);
    if (n && how & CANCELS) {
        op_cancel(&w[0].call.op);
    }
    feed(l, fake, bytes, cut);
    WAIT_FOR(l, health.n_down);
    for (unsigned i = 0; i < n; i++) {
        must(w[i].n_done == (i || !(how & CANCELS)) && !w[i].call.op.active);
        must(!w[i].n_done || (w[i].call.op.result == ERR_OK) == !w[i].call.failure);
    }
    redis_loop_free(r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fake_redis fake;
    if (size < 2) {
        return 0;
    }
    if (!path[0]) {
        prepare();
    }
    struct slice bytes = {(const char *)data + 2, size - 2};
    struct loop *l = loop_new();
    fake_open_at(&fake, l, path);
    run(l, &fake, data[0], bytes, bytes.n * data[1] / 256);
    fake_close(&fake);
    unlink(path);
    loop_free(l);
    return 0;
}
