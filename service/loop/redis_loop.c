/* SPDX-License-Identifier: Apache-2.0 */
/* Commands in flight. hiredis holds a shell for each until it is answered, so a caller may cancel
 * or be told that its time is over; the late reply then finds a shell without a caller. All have
 * the same time to be answered and are answered in order, so one timer watches over the first that
 * is not late yet. A call that nobody waits for any more counts as missed all the same: callers
 * with short deadlines of their own must not hide that Redis is silent. */
#include "service/loop/redis_loop.h"

#include "service/base/clock.h"
#include "service/base/dynbuf.h"
#include "service/base/mem.h"
#include "service/loop/redis_private.h"

#include <hiredis/sds.h>
#include <stdlib.h>

const char *redis_failure_name(enum redis_failure failure)
{
    static const char *const NAMES[] = {
#define X(name, text) text,
        REDIS_FAILURE_TABLE(X)
#undef X
    };
    return NAMES[failure];
}

void redis_enter(struct redis_loop *r)
{
    r->depth++;
}

void redis_leave(struct redis_loop *r)
{
    if (--r->depth == 0 && r->is_freed) {
        free(r);
    }
}

struct redis_shell *redis_shell_new(struct redis_loop *r, struct redis_call *call, size_t n_args,
                                    size_t n_bytes)
{
    struct redis_shell *s = mem_alloc(sizeof(*s) + n_args * sizeof(struct slice) + n_bytes);
    s->owner = r;
    s->call = call;
    return s;
}

static void detach(void *work)
{
    struct redis_shell *s = work;
    s->call = NULL;
    s->is_settled = true;
}

void redis_count(struct redis_loop *r, enum redis_failure failure)
{
    atomic_fetch_add_explicit(&r->failures[failure], 1, memory_order_relaxed);
}

void redis_refuse(struct redis_loop *r, struct redis_call *call, enum redis_failure failure)
{
    redis_count(r, failure);
    if (call) {
        call->reply = NULL;
        call->failure = failure;
        op_done(&call->op, ERR_BACKEND_DOWN);
    }
}

void redis_fail(struct redis_shell *s, enum redis_failure failure)
{
    struct redis_call *call = s->call;
    if (!s->is_settled && s->step == REDIS_STEP_NONE) {
        detach(s);
        redis_refuse(s->owner, call, failure);
    }
}

static void append(struct redis_loop *r, struct redis_shell *s)
{
    s->next = NULL;
    s->due_mono_ms = clock_mono_ms() + r->options.command_ms;
    *r->last = s;
    r->last = &s->next;
    r->due = r->due ? r->due : s;
    r->n_calls++;
    if (r->state == REDIS_UP && (r->is_quiet || !r->timer.slot)) {
        r->is_quiet = false;
        timer_start(r->loop, &r->timer, r->options.command_ms);
    }
}

/* hiredis ends each shell in the order it was sent. */
static void take_first(struct redis_loop *r)
{
    struct redis_shell *s = r->first;
    r->first = s->next;
    r->last = r->first ? r->last : &r->first;
    r->due = r->due == s ? s->next : r->due;
    r->n_calls--;
}

static void answered(struct redis_shell *s, const struct redis_reply *reply)
{
    struct redis_loop *r = s->owner;
    struct redis_call *call = s->call;
    if (!s->is_late) {
        r->misses = r->silences = 0;
        r->retry_ms = 0;
    }
    if (redis_script_retry(s, reply)) {
        return;
    }
    free(s);
    if (call) {
        call->reply = reply;
        op_done(&call->op, ERR_OK);
    }
}

static void on_reply(redisAsyncContext *c, void *from, void *arg)
{
    struct redis_shell *s = arg;
    struct redis_loop *r = s->owner;
    struct redis_reply items[REDIS_LOOP_MAX_ITEMS], reply;
    (void)c;
    take_first(r);
    if (!from) {
        redis_note_end(r);
        redis_fail(s, r->why);
        free(s);
        return;
    }
    redis_reply_read(from, items, &reply);
    if (s->step == REDIS_STEP_NONE) {
        answered(s, &reply);
        return;
    }
    if (s->step == REDIS_STEP_CHECK) { /* whatever it says, it speaks */
        r->silences = s->is_late ? r->silences : 0;
    } else {
        redis_on_step(r, s->step, &reply);
    }
    free(s);
}

static void add_count(struct dynbuf *out, char kind, size_t n)
{
    dynbuf_add_byte(out, kind);
    dynbuf_add_int(out, (int64_t)n);
    dynbuf_add(out, SLICE_LIT("\r\n"));
}

/* As it is sent: "*2\r\n$3\r\nGET\r\n$1\r\nk\r\n". hiredis' own writer takes twice the time. */
static void encode(struct dynbuf *out, const struct slice *args, size_t n_args)
{
    add_count(out, '*', n_args);
    for (size_t i = 0; i < n_args; i++) {
        add_count(out, '$', args[i].n);
        dynbuf_add(out, args[i]);
        dynbuf_add(out, SLICE_LIT("\r\n"));
    }
}

static enum redis_failure hand_over(struct redis_shell *s, struct dynbuf *command)
{
    struct redis_loop *r = s->owner;
    const char *text = dynbuf_text(command); /* hiredis looks one byte behind it */
    if (!text) {
        return REDIS_FAILURE_FULL;
    }
    if (redisAsyncFormattedCommand(r->context, on_reply, s, text, command->n) != REDIS_OK) {
        return REDIS_FAILURE_DOWN;
    }
    r->n_queued += command->n;
    s->end = r->n_queued;
    append(r, s);
    return REDIS_FAILURE_NONE;
}

enum redis_failure redis_send(struct redis_shell *s, const struct slice *args, size_t n_args)
{
    struct redis_loop *r = s->owner;
    if (r->state != REDIS_UP && s->step == REDIS_STEP_NONE) {
        return REDIS_FAILURE_DOWN;
    }
    if (n_args < 1 || n_args > REDIS_LOOP_MAX_ARGS || r->n_calls >= REDIS_LOOP_MAX_CALLS) {
        return REDIS_FAILURE_FULL;
    }
    struct dynbuf command;
    dynbuf_init(&command, REDIS_LOOP_MAX_QUEUED_BYTES - sdslen(r->context->c.obuf));
    encode(&command, args, n_args);
    enum redis_failure failure = hand_over(s, &command);
    dynbuf_done(&command);
    return failure;
}

void redis_begin(struct redis_shell *s)
{
    if (s->call) {
        s->call->reply = NULL;
        s->call->failure = REDIS_FAILURE_NONE;
        op_start(&s->call->op, detach, s);
    }
}

void redis_start(struct redis_shell *s, const struct slice *args, size_t n_args)
{
    struct redis_loop *r = s->owner;
    enum redis_failure failure = redis_send(s, args, n_args);
    if (failure != REDIS_FAILURE_NONE) {
        redis_fail(s, failure);
        free(s);
        return;
    }
    atomic_fetch_add_explicit(&r->calls, 1, memory_order_relaxed);
    r->is_idle = false;
    redis_begin(s);
}

void redis_check_later(struct redis_loop *r)
{
    r->is_quiet = true;
    timer_start(r->loop, &r->timer, REDIS_LOOP_CHECK_MS);
}

/* Its answer tells nothing of calls: they may be late all the same. */
static void check(struct redis_loop *r)
{
    struct redis_shell *s = redis_shell_new(r, NULL, 0, 0);
    s->step = REDIS_STEP_CHECK;
    r->is_quiet = false;
    r->is_idle = sdslen(r->context->c.obuf) == 0;
    if (redis_send(s, &SLICE_LIT("PING"), 1) != REDIS_FAILURE_NONE) {
        free(s);
        redis_check_later(r);
    }
}

static bool is_too_silent(struct redis_loop *r, const struct redis_shell *s)
{
    unsigned *in_a_row = s->step == REDIS_STEP_CHECK ? &r->silences : &r->misses;
    return ++*in_a_row == REDIS_LOOP_MAX_MISSES;
}

static bool is_due(const struct redis_loop *r)
{
    return r->state == REDIS_UP && r->due && r->due->due_mono_ms <= clock_mono_ms();
}

void redis_on_deadline(struct redis_loop *r)
{
    redis_watch_catch_up(r, is_due);
    while (is_due(r)) {
        struct redis_shell *s = r->due;
        if (is_too_silent(r, s)) {
            redis_drop(r, REDIS_FAILURE_TIMEOUT);
            return;
        }
        r->due = s->next;
        s->is_late = true;
        redis_fail(s, REDIS_FAILURE_TIMEOUT);
    }
    if (r->state != REDIS_UP) {
        return;
    }
    if (r->due) {
        timer_start(r->loop, &r->timer, r->due->due_mono_ms - clock_mono_ms());
    } else if (r->is_quiet) {
        check(r);
    } else {
        redis_check_later(r);
    }
}

struct redis_loop *redis_loop_new(struct loop *l, const struct redis_loop_options *options)
{
    struct redis_loop *r = mem_alloc(sizeof(*r));
    r->loop = l;
    r->options = *options;
    r->random = options->seed ? options->seed : 1; /* xorshift stays at 0 */
    r->last = &r->first;
    r->last_held = &r->held;
    r->hold.on_expired = redis_on_hold_expired;
    r->timer.on_expired = redis_on_timer;
    timer_start(l, &r->timer, 1);
    return r;
}

void redis_loop_free(struct redis_loop *r)
{
    if (!r) {
        return;
    }
    r->is_freed = true;
    for (struct redis_shell *s = r->first; s; s = s->next) {
        if (s->call) {
            s->call->op.active = false;
        }
        detach(s);
    }
    redis_hold_end(r);
    redis_resolve_cancel(r);
    timer_stop(&r->timer);
    bool may_write = r->depth == 0 && r->state == REDIS_UP;
    redis_enter(r);
    if (may_write) {
        redis_watch_write(r);
    }
    redis_drop(r, REDIS_FAILURE_DOWN);
    redis_leave(r);
}

bool redis_loop_is_up(const struct redis_loop *r)
{
    return r->state == REDIS_UP;
}

void redis_loop_call(struct redis_loop *r, const struct slice *args, size_t n_args,
                     struct redis_call *call)
{
    if (redis_is_holding(r)) {
        redis_hold_call(r, args, n_args, call);
    } else {
        redis_start(redis_shell_new(r, call, 0, 0), args, n_args);
    }
}

void redis_loop_send(struct redis_loop *r, const struct slice *args, size_t n_args)
{
    redis_loop_call(r, args, n_args, NULL);
}

void redis_loop_stats(const struct redis_loop *r, struct redis_stats *ret_stats)
{
    ret_stats->calls = atomic_load_explicit(&r->calls, memory_order_relaxed);
    ret_stats->writes = atomic_load_explicit(&r->writes, memory_order_relaxed);
    ret_stats->connects = atomic_load_explicit(&r->connects, memory_order_relaxed);
    for (int i = 0; i < REDIS_FAILURE_COUNT; i++) {
        ret_stats->failures[i] = atomic_load_explicit(&r->failures[i], memory_order_relaxed);
    }
}
