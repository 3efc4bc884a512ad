/* SPDX-License-Identifier: Apache-2.0 */
/* Loops run on the test's own thread: the last message or timer of a test stops the loop, and the
 * suite's time limit catches a loop that is deaf. */
#include "service/base/clock.h"
#include "service/base/mem.h"
#include "service/loop/loop.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>

TestSuite(loop, .timeout = 30);
TestSuite(timer, .timeout = 30);

struct numbered {
    struct loop_message message;
    struct loop *loop;
    int number, *ret_seen, *ret_count;
};

static void on_numbered(struct loop_message *m)
{
    struct numbered *n = (struct numbered *)m;
    n->ret_seen[(*n->ret_count)++] = n->number;
}

static void on_stop(struct loop_message *m)
{
    loop_stop(((struct numbered *)m)->loop);
}

Test(loop, runs_messages_in_the_order_they_were_posted)
{
    enum { N = 1000 };
    static int seen[N];
    static struct numbered messages[N + 1];
    int count = 0;
    struct loop *l = loop_new();
    for (int i = 0; i < N; i++) {
        messages[i] = (struct numbered){{.run = on_numbered}, l, i, seen, &count};
        loop_post(l, &messages[i].message);
    }
    messages[N] = (struct numbered){{.run = on_stop}, l, 0, NULL, NULL};
    loop_post(l, &messages[N].message);
    loop_run(l);
    cr_assert_eq(count, N);
    for (int i = 0; i < N; i++) {
        cr_assert_eq(seen[i], i);
    }
    loop_free(l);
}

Test(loop, stop_before_run_is_not_lost_and_still_runs_what_was_posted)
{
    int seen[1], count = 0;
    struct loop *l = loop_new();
    struct numbered m = {{.run = on_numbered}, l, 7, seen, &count};
    loop_post(l, &m.message);
    loop_stop(l);
    loop_run(l);
    cr_assert_eq(count, 1);
    cr_assert_eq(seen[0], 7);
    loop_free(l);
}

Test(loop, runs_again_after_a_stop)
{
    struct loop *l = loop_new();
    struct numbered m = {{.run = on_stop}, l, 0, NULL, NULL};
    for (int i = 0; i < 3; i++) {
        loop_post(l, &m.message);
        loop_run(l);
    }
    loop_free(l);
}

struct poster {
    pthread_t thread;
    struct loop *loop;
    struct numbered *messages;
    int n;
};

static void *post_all(void *arg)
{
    struct poster *p = arg;
    for (int i = 0; i < p->n; i++) {
        loop_post(p->loop, &p->messages[i].message);
    }
    return NULL;
}

enum { POSTERS = 4, EACH = 2000 };

static void on_counted(struct loop_message *m)
{
    struct numbered *n = (struct numbered *)m;
    cr_assert_eq(n->ret_seen[n->number / EACH]++, n->number % EACH, "order within one thread");
    if (++*n->ret_count == POSTERS * EACH) {
        loop_stop(n->loop);
    }
}

Test(loop, other_threads_wake_it_and_no_message_is_lost)
{
    static struct numbered messages[POSTERS * EACH];
    struct poster posters[POSTERS];
    int next[POSTERS] = {0}, count = 0;
    struct loop *l = loop_new();
    for (int i = 0; i < POSTERS * EACH; i++) {
        messages[i] = (struct numbered){{.run = on_counted}, l, i, next, &count};
    }
    for (int i = 0; i < POSTERS; i++) {
        posters[i] = (struct poster){.loop = l, .messages = messages + i * EACH, .n = EACH};
        pthread_create(&posters[i].thread, NULL, post_all, &posters[i]);
    }
    loop_run(l);
    for (int i = 0; i < POSTERS; i++) {
        pthread_join(posters[i].thread, NULL);
    }
    cr_assert_eq(count, POSTERS * EACH);
    loop_free(l);
}

static void on_freed(struct loop_message *m)
{
    struct numbered *n = (struct numbered *)m;
    ++*n->ret_count;
    free(n);
}

Test(loop, a_message_may_free_itself)
{
    int count = 0;
    struct loop *l = loop_new();
    for (int i = 0; i < 10; i++) {
        struct numbered *n = mem_alloc(sizeof(*n));
        *n = (struct numbered){.message.run = on_freed, .ret_count = &count};
        loop_post(l, &n->message);
    }
    loop_stop(l);
    loop_run(l);
    cr_assert_eq(count, 10);
    loop_free(l);
}

static void on_signal(int number)
{
    (void)number;
}

struct signaller {
    struct timer timer;
    struct loop *loop;
    int left;
};

static void on_raise(struct timer *t)
{
    struct signaller *s = (struct signaller *)t;
    raise(SIGUSR1);
    if (s->left-- > 0) {
        timer_start(s->loop, t, 1);
    } else {
        loop_stop(s->loop);
    }
}

static void *interrupt(void *arg)
{
    for (int i = 0; i < 200; i++) {
        pthread_kill(*(pthread_t *)arg, SIGUSR1);
        sched_yield();
    }
    return NULL;
}

Test(loop, signals_do_not_end_it)
{
    struct sigaction action = {.sa_handler = on_signal};
    sigaction(SIGUSR1, &action, NULL);
    pthread_t self = pthread_self(), other;
    struct loop *l = loop_new();
    struct signaller s = {.timer.on_expired = on_raise, .loop = l, .left = 20};
    pthread_create(&other, NULL, interrupt, &self);
    timer_start(l, &s.timer, 1);
    loop_run(l);
    pthread_join(other, NULL);
    cr_assert_eq(s.left, -1);
    loop_free(l);
}

struct due {
    struct timer timer;
    int64_t after_ms;
    struct due **ret_order;
    size_t *ret_n;
    size_t stop_at;
};

static void on_due(struct timer *t)
{
    struct due *d = (struct due *)t;
    d->ret_order[(*d->ret_n)++] = d;
    if (*d->ret_n == d->stop_at) {
        loop_stop(t->loop);
    }
}

Test(timer, expires_once_never_early_and_earliest_first)
{
    enum { N = 200 };
    static struct due timers[N], *order[N];
    size_t n = 0;
    unsigned seed = 20261130;
    struct loop *l = loop_new();
    int64_t start_us = clock_mono_us();
    for (size_t i = 0; i < N; i++) {
        int64_t after_ms = 1 + rand_r(&seed) % 40;
        timers[i] = (struct due){{.on_expired = on_due}, after_ms, order, &n, N};
        timer_start(l, &timers[i].timer, after_ms);
    }
    loop_run(l);
    int64_t took_us = clock_mono_us() - start_us;
    cr_assert_eq(n, N);
    for (size_t i = 0; i < N; i++) {
        cr_assert_eq(order[i]->timer.slot, 0, "no longer running");
        cr_assert(i == 0 || order[i - 1]->timer.due_mono_ms <= order[i]->timer.due_mono_ms);
        cr_assert_leq(order[i]->after_ms * 1000, took_us);
    }
    loop_free(l);
}

Test(timer, stopped_and_restarted_ones_keep_the_heap_in_order)
{
    enum { N = 500 };
    static struct due timers[N], *order[N];
    size_t n = 0, n_running = 0;
    unsigned seed = 4711;
    struct loop *l = loop_new();
    for (size_t i = 0; i < N; i++) {
        timers[i] = (struct due){{.on_expired = on_due}, 0, order, &n, 0};
    }
    for (int step = 0; step < 5000; step++) {
        struct timer *t = &timers[(size_t)rand_r(&seed) % N].timer;
        if (rand_r(&seed) % 3) {
            timer_start(l, t, 100 + rand_r(&seed) % 50); /* none is due while this runs */
        } else {
            timer_stop(t);
        }
    }
    for (size_t i = 0; i < N; i++) {
        n_running += timers[i].timer.slot != 0;
    }
    for (size_t i = 0; i < N; i++) {
        timers[i].stop_at = n_running;
    }
    loop_run(l);
    cr_assert_eq(n, n_running, "seed 4711");
    for (size_t i = 1; i < n; i++) {
        cr_assert(order[i - 1]->timer.due_mono_ms <= order[i]->timer.due_mono_ms, "seed 4711");
    }
    loop_free(l);
}

static void on_never(struct timer *t)
{
    (void)t;
    cr_assert_fail("a stopped timer expired");
}

Test(timer, stopping_is_safe_twice_and_before_start_and_no_callback_follows)
{
    struct due *order[1];
    size_t n = 0;
    struct loop *l = loop_new();
    struct timer never = {.on_expired = on_never};
    struct due last = {{.on_expired = on_due}, 20, order, &n, 1};
    timer_stop(&never);
    timer_start(l, &never, 1);
    timer_stop(&never);
    timer_stop(&never);
    timer_start(l, &last.timer, 20);
    loop_run(l);
    cr_assert_eq(n, 1);
    loop_free(l);
}

struct pair {
    struct timer timer;
    struct timer *other;
};

static void on_stop_other(struct timer *t)
{
    timer_stop(((struct pair *)t)->other);
    loop_stop(t->loop);
}

Test(timer, one_may_stop_another_that_is_due_in_the_same_turn)
{
    struct loop *l = loop_new();
    struct timer never = {.on_expired = on_never};
    struct pair first = {{.on_expired = on_stop_other}, &never};
    timer_start(l, &first.timer, 1);
    timer_start(l, &never, 2);
    for (int64_t until = clock_mono_ms() + 10; clock_mono_ms() < until;) {
        /* both are due before the loop looks */
    }
    loop_run(l);
    loop_run((loop_stop(l), l)); /* a further turn: still nothing */
    loop_free(l);
}

struct again {
    struct timer timer;
    int left;
    int64_t last_us;
};

static void on_again(struct timer *t)
{
    struct again *a = (struct again *)t;
    cr_assert_geq(clock_mono_us() - a->last_us, 1000, "0 ms means 1 ms: the loop must not spin");
    a->last_us = clock_mono_us();
    if (--a->left) {
        timer_start(t->loop, t, 0);
    } else {
        loop_stop(t->loop);
    }
}

Test(timer, restarting_itself_with_zero_waits_a_millisecond)
{
    struct loop *l = loop_new();
    struct again a = {{.on_expired = on_again}, 10, clock_mono_us()};
    timer_start(l, &a.timer, -5);
    loop_run(l);
    cr_assert_eq(a.left, 0);
    loop_free(l);
}

Test(timer, an_absurd_time_does_not_overflow)
{
    struct due *order[1];
    size_t n = 0;
    struct loop *l = loop_new();
    struct timer never = {.on_expired = on_never};
    struct due last = {{.on_expired = on_due}, 5, order, &n, 1};
    timer_start(l, &never, INT64_MAX);
    timer_start(l, &last.timer, 5);
    loop_run(l);
    cr_assert_eq(n, 1);
    cr_assert_gt(never.due_mono_ms, clock_mono_ms());
    timer_stop(&never);
    loop_free(l);
}
