/* SPDX-License-Identifier: Apache-2.0 */
#include "service/loop/loop.h"

#include <criterion/criterion.h>

TestSuite(loop_defer, .timeout = 30);

struct hook {
    struct loop_deferred deferred;
    struct loop *loop;
    unsigned n_run, again; /* again: so often it defers itself */
    struct hook *takes_out;
    bool stops;
};

static void on_hook(struct loop_deferred *d)
{
    struct hook *h = (struct hook *)d;
    h->n_run++;
    if (h->again) {
        h->again--;
        loop_defer(h->loop, d);
    }
    if (h->takes_out) {
        loop_undefer(&h->takes_out->deferred);
    }
    if (h->stops) {
        loop_stop(h->loop);
    }
}

struct event {
    struct loop_message message;
    struct hook *hook;
    unsigned n_seen; /* of its runs */
};

static void on_event(struct loop_message *m)
{
    struct event *e = (struct event *)m;
    e->n_seen = e->hook->n_run;
    loop_defer(e->hook->loop, &e->hook->deferred);
}

Test(loop_defer, runs_once_at_the_end_of_the_turn_that_asked_often)
{
    enum { N = 10 };
    struct loop *l = loop_new();
    struct hook h = {{.run = on_hook}, .loop = l, .stops = true};
    struct event events[N];
    for (int i = 0; i < N; i++) {
        events[i] = (struct event){{.run = on_event}, &h, 99};
        loop_post(l, &events[i].message);
    }
    loop_run(l);
    cr_assert_eq(h.n_run, 1);
    for (int i = 0; i < N; i++) {
        cr_assert_eq(events[i].n_seen, 0, "not within the turn");
    }
    loop_free(l);
}

Test(loop_defer, one_that_asks_again_lets_the_loop_see_its_events_first)
{
    struct loop *l = loop_new();
    struct hook h = {{.run = on_hook}, .loop = l, .again = 2, .stops = true};
    struct event event = {{.run = on_event}, &h, 99};
    loop_defer(l, &h.deferred); /* runs as the loop begins, and then waits again */
    loop_post(l, &event.message);
    loop_run(l);
    cr_assert_eq(event.n_seen, 1);
    loop_free(l);
}

Test(loop_defer, a_hook_that_waits_keeps_the_loop_from_blocking)
{
    struct loop *l = loop_new();
    struct hook h = {{.run = on_hook}, .loop = l, .again = 5};
    struct hook last = {{.run = on_hook}, .loop = l, .stops = true};
    loop_defer(l, &h.deferred);
    while (h.again) {
        loop_defer(l, &last.deferred);
        loop_run(l); /* nothing wakes it but the hooks themselves */
    }
    cr_assert_eq(h.n_run, 6);
    loop_free(l);
}

Test(loop_defer, can_be_taken_out_before_and_while_hooks_run)
{
    struct loop *l = loop_new();
    struct hook a = {{.run = on_hook}, .loop = l}, b = a, c = a, d = a;
    a.takes_out = &b;
    d.stops = true;
    loop_defer(l, &a.deferred);
    loop_defer(l, &b.deferred);
    loop_defer(l, &c.deferred);
    loop_undefer(&c.deferred); /* the last */
    loop_undefer(&c.deferred);
    loop_defer(l, &d.deferred);
    loop_run(l);
    cr_assert_eq(a.n_run, 1);
    cr_assert_eq(b.n_run, 0);
    cr_assert_eq(c.n_run, 0);
    cr_assert_eq(d.n_run, 1);
    loop_defer(l, &c.deferred); /* one that was taken out may come back */
    loop_stop(l);
    loop_run(l);
    cr_assert_eq(c.n_run, 1);
    loop_free(l);
}
