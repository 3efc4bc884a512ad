/* SPDX-License-Identifier: Apache-2.0 */
/* The limit is asked here, on the request's own thread: a flood of unknown keys costs the fetcher's
 * thread nothing. Waiters are posted to their loops under the lock, so one that is cancelled either
 * stands in the list and is taken out or has its message in a loop that is still there. */
#include "service/pipeline/jwks_source.h"

#include "service/base/clock.h"
#include "service/base/mem.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

struct jwks_waiter {
    struct loop_message message;
    struct loop *loop;
    struct op *op; /* NULL: cancelled */
    struct jwks_source *source;
    struct digest asked_for;
    struct jwks_waiter *next;
    bool is_listed;
};

struct jwks_source *jwks_source_new(const struct jwks_wanted *w)
{
    struct jwks_source *s = mem_alloc(sizeof(*s));
    pthread_condattr_t monotonic;
    s->refs = 1;
    s->name = mem_text(w->name);
    s->uri = mem_text(w->uri);
    dynbuf_init(&s->ca_pem, w->ca_pem.n);
    dynbuf_add(&s->ca_pem, w->ca_pem);
    s->algs = w->algs;
    pthread_mutex_init(&s->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&s->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);
    return s;
}

struct jwks_source *jwks_source_ref(struct jwks_source *s)
{
    atomic_fetch_add(&s->refs, 1);
    return s;
}

void jwks_source_unref(struct jwks_source *s)
{
    if (!s || atomic_fetch_sub(&s->refs, 1) != 1) {
        return;
    }
    jwks_unref(s->keys);
    dynbuf_done(&s->ca_pem);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->ended);
    free(s->name);
    free(s->uri);
    free(s);
}

struct jwks *jwks_source_keys(struct jwks_source *s)
{
    pthread_mutex_lock(&s->lock);
    struct jwks *keys = s->keys ? jwks_ref(s->keys) : NULL;
    pthread_mutex_unlock(&s->lock);
    return keys;
}

void jwks_source_poke(struct jwks_source *s)
{
    if (!s->poked) {
        s->poked = true;
        jwks_source_ref(s); /* the message's */
        loop_post(s->loop, &s->poke);
    }
}

static void on_told(struct loop_message *m)
{
    struct jwks_waiter *w = (struct jwks_waiter *)m;
    struct op *op = w->op;
    jwks_source_unref(w->source);
    free(w);
    if (op) {
        op_done(op, ERR_OK);
    }
}

void jwks_source_tell_waiters(struct jwks_source *s, bool is_fresh)
{
    int64_t now = s->now_mono_ms();
    for (struct jwks_waiter *w = s->waiters, *next; w; w = next) {
        next = w->next;
        if (is_fresh) { /* a key that did come is found without asking here */
            refresh_limit_add_absent(&s->limit, &w->asked_for, now);
        }
        w->is_listed = false;
        loop_post(w->loop, &w->message); /* w is its loop's from here */
    }
    s->waiters = NULL;
    s->n_waiters = 0;
}

static void take_out(struct jwks_waiter *w)
{
    struct jwks_waiter **at = &w->source->waiters;
    while (*at != w) {
        at = &(*at)->next;
    }
    *at = w->next;
    w->source->n_waiters--;
}

static void on_cancelled(void *work)
{
    struct jwks_waiter *w = work;
    struct jwks_source *s = w->source;
    pthread_mutex_lock(&s->lock);
    bool listed = w->is_listed;
    if (listed) {
        take_out(w);
    }
    w->op = NULL;
    pthread_mutex_unlock(&s->lock);
    if (listed) {
        free(w);
        jwks_source_unref(s);
    }
}

static void add_waiter(struct jwks_source *s, struct loop *loop, const struct digest *asked_for,
                       struct op *op)
{
    struct jwks_waiter *w = mem_alloc(sizeof(*w));
    *w = (struct jwks_waiter){.message.run = on_told,
                              .loop = loop,
                              .op = op,
                              .source = jwks_source_ref(s),
                              .asked_for = *asked_for,
                              .next = s->waiters,
                              .is_listed = true};
    s->waiters = w;
    s->n_waiters++;
    op_start(op, on_cancelled, w);
}

/* Whether a fetch that w could wait for is on its way, started here if need be. Locked. */
static bool may_wait(struct jwks_source *s, const struct digest *asked_for)
{
    int64_t now = s->now_mono_ms();
    if (s->closed || s->n_waiters >= JWKS_MAX_WAITERS ||
        refresh_limit_is_absent(&s->limit, asked_for, now)) {
        return false;
    }
    if (s->asked || s->fetching) {
        return true;
    }
    s->asked = refresh_limit_take(&s->limit, now);
    if (s->asked) {
        jwks_source_poke(s);
    }
    return s->asked;
}

static void name_key(struct slice kid, struct digest *ret)
{
    struct hasher h;
    hasher_init(&h);
    if (kid.p) {
        hasher_part(&h, kid);
    }
    hasher_done(&h, ret);
}

bool jwks_source_refresh(struct jwks_source *s, struct loop *loop, struct slice kid, struct op *op)
{
    struct digest asked_for;
    name_key(kid, &asked_for);
    pthread_mutex_lock(&s->lock);
    bool waits = may_wait(s, &asked_for);
    if (waits) {
        add_waiter(s, loop, &asked_for, op);
    }
    pthread_mutex_unlock(&s->lock);
    return waits;
}

void jwks_source_await(struct jwks_source *s, int64_t wait_ms)
{
    int64_t until = clock_mono_ms() + wait_ms;
    const struct timespec end = {.tv_sec = until / 1000, .tv_nsec = until % 1000 * 1000000};
    pthread_mutex_lock(&s->lock);
    while (s->n_ended == 0 && !s->closed) {
        if (pthread_cond_timedwait(&s->ended, &s->lock, &end) == ETIMEDOUT) {
            break;
        }
    }
    pthread_mutex_unlock(&s->lock);
}

void jwks_source_stats(struct jwks_source *s, struct jwks_source_stats *ret_stats)
{
    pthread_mutex_lock(&s->lock);
    *ret_stats = s->stats;
    ret_stats->age_ms = s->now_mono_ms() - s->fetched_ms;
    pthread_mutex_unlock(&s->lock);
}
