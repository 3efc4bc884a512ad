/* SPDX-License-Identifier: Apache-2.0 */
/* redis_waiter: what a test learns of one call and of a connection's health. */
#ifndef TESTS_LOOP_REDIS_WAITER_H
#define TESTS_LOOP_REDIS_WAITER_H

#include "service/loop/redis_loop.h"

struct redis_waiter {
    struct redis_call call;
    struct loop *loop;
    unsigned n_done;
    enum redis_kind kind;
    int64_t integer;
    size_t n_text, n_items;
    char text[256]; /* the beginning */
    enum redis_kind item_kinds[REDIS_LOOP_MAX_ITEMS];
    struct redis_loop *frees; /* by on_done */
};

static inline void on_waiter_done(struct op *op)
{
    struct redis_waiter *w = (struct redis_waiter *)(void *)op;
    const struct redis_reply *reply = w->call.reply;
    w->n_done++;
    if (reply) {
        w->kind = reply->kind;
        w->integer = reply->integer;
        w->n_text = reply->text.n;
        w->n_items = reply->n_items;
        size_t n = w->n_text < sizeof(w->text) ? w->n_text : sizeof(w->text) - 1;
        memcpy(w->text, n ? reply->text.p : "", n);
        w->text[n] = '\0';
        for (size_t i = 0; i < reply->n_items; i++) {
            w->item_kinds[i] = reply->items[i].kind;
        }
    }
    if (w->frees) {
        redis_loop_free(w->frees);
    }
    loop_stop(w->loop);
}

static inline void waiter_init(struct redis_waiter *w, struct loop *l)
{
    *w = (struct redis_waiter){.call.op.on_done = on_waiter_done, .loop = l};
}

/* words: "GET k" */
static inline void waiter_call(struct redis_waiter *w, struct redis_loop *r, struct loop *l,
                               const char *words)
{
    struct slice args[16];
    size_t n = 0;
    for (const char *p = words; *p && n < 16; n++) {
        args[n] = (struct slice){p, strcspn(p, " ")};
        p += args[n].n + (p[args[n].n] == ' ');
    }
    waiter_init(w, l);
    redis_loop_call(r, args, n, &w->call);
}

struct redis_health_log {
    struct loop *loop;
    unsigned n_up, n_down;
    enum redis_failure why;   /* of the last */
    struct redis_loop *frees; /* when it goes down */
};

static inline void on_health_logged(void *who, bool up, enum redis_failure why)
{
    struct redis_health_log *h = who;
    h->n_up += up;
    h->n_down += !up;
    h->why = why;
    if (h->frees && !up) {
        redis_loop_free(h->frees);
        h->frees = NULL;
    }
    loop_stop(h->loop);
}

#endif
