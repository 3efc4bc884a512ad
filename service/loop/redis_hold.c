/* SPDX-License-Identifier: Apache-2.0 */
/* The first calls of a process come before its connection can be up. That says nothing of Redis, so
 * they wait for the first news of it: a handshake, a failure, or connect_ms without either. From
 * then on nothing waits. A held call is a shell with its arguments, sent in the order it came. */
#include "service/loop/redis_private.h"

#include <stdlib.h>

bool redis_is_holding(const struct redis_loop *r)
{
    return r->health == REDIS_HEALTH_UNKNOWN;
}

size_t redis_args_bytes(const struct slice *args, size_t n_args)
{
    size_t n = 0;
    for (size_t i = 0; i < n_args && n <= REDIS_LOOP_MAX_QUEUED_BYTES; i++) {
        n = args[i].n > REDIS_LOOP_MAX_QUEUED_BYTES ? SIZE_MAX : n + args[i].n;
    }
    return n;
}

char *redis_keep_arg(struct redis_shell *s, struct slice arg, char *to)
{
    if (arg.n) {
        memcpy(to, arg.p, arg.n);
    }
    s->args[s->n_args++] = (struct slice){to, arg.n};
    return to + arg.n;
}

static bool has_room(const struct redis_loop *r, size_t n_bytes)
{
    return r->n_held < REDIS_LOOP_MAX_CALLS &&
           n_bytes <= REDIS_LOOP_MAX_QUEUED_BYTES - r->held_bytes;
}

void redis_hold(struct redis_shell *s)
{
    struct redis_loop *r = s->owner;
    size_t n_bytes = redis_args_bytes(s->args, s->n_args);
    if (!has_room(r, n_bytes)) {
        redis_fail(s, REDIS_FAILURE_FULL);
        free(s);
        return;
    }
    r->n_held++;
    r->held_bytes += n_bytes;
    s->next = NULL;
    *r->last_held = s;
    r->last_held = &s->next;
    redis_begin(s);
}

void redis_hold_call(struct redis_loop *r, const struct slice *args, size_t n_args,
                     struct redis_call *call)
{
    bool few = n_args >= 1 && n_args <= REDIS_LOOP_MAX_ARGS;
    size_t n_bytes = few ? redis_args_bytes(args, n_args) : SIZE_MAX;
    if (!few || !has_room(r, n_bytes)) {
        redis_refuse(r, call, REDIS_FAILURE_FULL);
        return;
    }
    struct redis_shell *s = redis_shell_new(r, call, n_args, n_bytes);
    char *to = (char *)&s->args[n_args];
    for (size_t i = 0; i < n_args; i++) {
        to = redis_keep_arg(s, args[i], to);
    }
    redis_hold(s);
}

static struct redis_shell *take_held(struct redis_loop *r)
{
    struct redis_shell *s = r->held;
    if (s) {
        r->held = s->next;
        r->last_held = r->held ? r->last_held : &r->held;
    }
    return s;
}

/* A caller may free r meanwhile, which ends the list. */
void redis_release(struct redis_loop *r)
{
    timer_stop(&r->hold);
    for (struct redis_shell *s; (s = take_held(r));) {
        if (r->state == REDIS_UP && !s->is_settled) {
            redis_start(s, s->args, s->n_args);
        } else {
            redis_fail(s, REDIS_FAILURE_DOWN);
            free(s);
        }
    }
}

void redis_hold_end(struct redis_loop *r)
{
    timer_stop(&r->hold);
    for (struct redis_shell *s; (s = take_held(r));) {
        if (s->call) {
            s->call->op.active = false;
        }
        free(s);
    }
}
