/* SPDX-License-Identifier: Apache-2.0 */
/* How a connection comes and goes. A Redis that is back is found within a delay and a handshake, so
 * the delay has a ceiling. It begins anew only once a call was answered in time: a server that
 * takes connections and then answers too late is tried ever less often, which spares its callers.
 */
#include "service/loop/redis_private.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>

enum { DATABASE_BYTES = 12 };

/* xorshift64*: replicas must not knock at the same moment, no more. */
static uint64_t next_random(struct redis_loop *r)
{
    r->random ^= r->random >> 12;
    r->random ^= r->random << 25;
    r->random ^= r->random >> 27;
    return r->random * 0x2545F4914F6CDD1DU;
}

void redis_connect_later(struct redis_loop *r)
{
    int64_t delay = REDIS_LOOP_RETRY_MIN_MS;
    if (r->next_address >= r->addresses.n) { /* all addresses of the host were tried */
        int64_t doubled = 2 * r->retry_ms;
        delay = doubled < REDIS_LOOP_RETRY_MIN_MS   ? REDIS_LOOP_RETRY_MIN_MS
                : doubled > REDIS_LOOP_RETRY_MAX_MS ? REDIS_LOOP_RETRY_MAX_MS
                                                    : doubled;
        r->retry_ms = delay;
    }
    r->state = REDIS_WAITING;
    int64_t jitter = (int64_t)(next_random(r) % (uint64_t)(delay / 2 + 1));
    timer_start(r->loop, &r->timer, delay - jitter);
}

/* The owner may free r meanwhile: it lives until redis_leave. */
static void tell(struct redis_loop *r, bool up, enum redis_failure why)
{
    enum redis_health now = up ? REDIS_HEALTH_UP : REDIS_HEALTH_DOWN;
    bool is_first = redis_is_holding(r);
    bool is_news = r->health != now || (why == REDIS_FAILURE_REFUSED && r->told != why);
    if (!is_news || r->is_freed) {
        return;
    }
    r->health = now;
    r->told = why;
    if (is_first) {
        redis_release(r);
    }
    if (r->options.on_health && !r->is_freed) {
        r->options.on_health(r->options.who, up, why);
    }
}

/* An attempt, or what came of it. The first attempt is over once all addresses were tried. */
static void tell_failure(struct redis_loop *r, enum redis_failure why)
{
    if (!redis_is_holding(r) || r->next_address >= r->addresses.n) {
        tell(r, false, why);
    }
}

static void attempt_failed(struct redis_loop *r, enum redis_failure why)
{
    redis_connect_later(r);
    redis_count(r, why);
    tell_failure(r, why);
}

static void send_step(struct redis_loop *r, enum redis_step step, const struct slice *args,
                      size_t n_args)
{
    struct redis_shell *s = redis_shell_new(r, NULL, 0, 0);
    s->step = step;
    if (redis_send(s, args, n_args) != REDIS_FAILURE_NONE) {
        abort(); /* nothing is in flight, and hiredis refuses only when it is ending */
    }
}

/* A user without a password says so too: whoever forgot the password must not become the default
 * user. */
static void shake_hands(struct redis_loop *r)
{
    const struct redis_address *a = r->options.address;
    struct slice user = slice_of(a->user), password = slice_of(a->password);
    char database[DATABASE_BYTES];
    if (user.n) {
        send_step(r, REDIS_STEP_AUTH, (struct slice[]){SLICE_LIT("AUTH"), user, password}, 3);
    } else if (password.n) {
        send_step(r, REDIS_STEP_AUTH, (struct slice[]){SLICE_LIT("AUTH"), password}, 2);
    }
    if (a->database) {
        snprintf(database, sizeof(database), "%d", a->database);
        send_step(r, REDIS_STEP_SELECT, (struct slice[]){SLICE_LIT("SELECT"), slice_of(database)},
                  2);
    }
    send_step(r, REDIS_STEP_PING, &SLICE_LIT("PING"), 1);
}

void redis_on_step(struct redis_loop *r, enum redis_step step, const struct redis_reply *reply)
{
    const char *expected = step == REDIS_STEP_PING ? "PONG" : "OK";
    if (reply->kind != REDIS_STATUS || !slice_is(reply->text, expected)) {
        redis_drop(r, REDIS_FAILURE_REFUSED);
    } else if (step == REDIS_STEP_PING) {
        r->state = REDIS_UP;
        redis_check_later(r);
        r->addresses.n = 0; /* look it up anew when this one is lost */
        tell(r, true, REDIS_FAILURE_NONE);
    }
}

/* NULL: it failed at once. hiredis' connect does not wait: the host is numeric, and a socket whose
 * backlog is full refuses. */
static redisAsyncContext *open_context(const struct redis_address *a, const char *host)
{
    redisAsyncContext *c =
        a->is_unix ? redisAsyncConnectUnix(a->path) : redisAsyncConnect(host, a->port);
    if (!c) {
        abort(); /* no memory */
    }
    if (c->err) {
        redisAsyncFree(c);
        return NULL;
    }
    (void)fcntl(c->c.fd, F_SETFD, FD_CLOEXEC);
    return c;
}

/* One attempt, at this numeric address, which a socket's path does without. */
static void begin(struct redis_loop *r, const char *host)
{
    atomic_fetch_add_explicit(&r->connects, 1, memory_order_relaxed);
    r->why = REDIS_FAILURE_NONE;
    r->n_queued = 0;
    r->misses = r->silences = 0;
    r->context = open_context(r->options.address, host);
    if (r->context && !redis_watch_begin(r)) {
        redisAsyncFree(r->context);
        r->context = NULL;
    }
    if (!r->context) {
        attempt_failed(r, REDIS_FAILURE_CONNECT);
        return;
    }
    r->state = REDIS_CONNECTING;
    redis_reply_guard(r);
    timer_start(r->loop, &r->timer, r->options.connect_ms);
    shake_hands(r);
}

void redis_resolved(struct redis_loop *r)
{
    r->next_address = 0;
    if (r->addresses.n == 0) {
        attempt_failed(r, REDIS_FAILURE_RESOLVE);
    } else {
        begin(r, r->addresses.text[r->next_address++]);
    }
}

static bool is_numeric(const char *host)
{
    unsigned char address[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

static void attempt(struct redis_loop *r)
{
    const struct redis_address *a = r->options.address;
    if (redis_is_holding(r) && !r->hold.slot) {
        timer_start(r->loop, &r->hold, r->options.connect_ms);
    }
    if (a->is_unix || is_numeric(a->host)) {
        begin(r, a->host);
    } else if (r->next_address < r->addresses.n) {
        begin(r, r->addresses.text[r->next_address++]);
    } else if (redis_resolve(r)) {
        r->state = REDIS_RESOLVING;
    } else {
        attempt_failed(r, REDIS_FAILURE_RESOLVE);
    }
}

static bool is_shaking_hands(const struct redis_loop *r)
{
    return r->state == REDIS_CONNECTING && (r->context->c.flags & REDIS_CONNECTED);
}

static void on_connect_deadline(struct redis_loop *r)
{
    redis_watch_catch_up(r, is_shaking_hands);
    if (r->state == REDIS_CONNECTING) {
        redis_drop(r, REDIS_FAILURE_TIMEOUT);
    }
}

/* Neither up nor failed after so long: its callers must go on without. */
void redis_on_hold_expired(struct timer *t)
{
    struct redis_loop *r =
        (struct redis_loop *)(void *)((char *)t - offsetof(struct redis_loop, hold));
    redis_enter(r);
    redis_watch_catch_up(r, is_shaking_hands);
    if (redis_is_holding(r)) {
        bool is_resolving = r->state == REDIS_RESOLVING;
        tell(r, false, is_resolving ? REDIS_FAILURE_RESOLVE : REDIS_FAILURE_TIMEOUT);
    }
    redis_leave(r);
}

void redis_on_timer(struct timer *t)
{
    struct redis_loop *r =
        (struct redis_loop *)(void *)((char *)t - offsetof(struct redis_loop, timer));
    redis_enter(r);
    switch (r->state) {
    case REDIS_WAITING: attempt(r); break;
    case REDIS_CONNECTING: on_connect_deadline(r); break;
    case REDIS_UP: redis_on_deadline(r); break;
    case REDIS_RESOLVING:
    case REDIS_ENDING: break;
    }
    redis_leave(r);
}

static enum redis_failure why_it_ended(const redisContext *c)
{
    if (!(c->flags & REDIS_CONNECTED)) {
        return REDIS_FAILURE_CONNECT;
    }
    return c->err == REDIS_ERR_PROTOCOL || c->err == REDIS_ERR_OOM ? REDIS_FAILURE_BROKEN
                                                                   : REDIS_FAILURE_LOST;
}

void redis_note_end(struct redis_loop *r)
{
    if (r->state != REDIS_ENDING) {
        r->state = REDIS_ENDING;
        r->why = why_it_ended(&r->context->c);
        timer_stop(&r->timer);
    }
}

void redis_drop(struct redis_loop *r, enum redis_failure why)
{
    if (r->context && r->state != REDIS_ENDING) {
        redis_note_end(r);
        r->why = why;
        redisAsyncFree(r->context);
    }
}

void redis_ended(struct redis_loop *r)
{
    redis_note_end(r);
    r->context = NULL;
    if (!r->is_freed) {
        attempt_failed(r, r->why);
    }
}
