/* SPDX-License-Identifier: Apache-2.0 */
/* h2o 2.2 keeps one fixed duration a list and reckons in wall-clock time, which may jump; so timers
 * are a binary heap of our own on one timerfd of the monotonic clock. The timerfd is armed again
 * only for an earlier time: stopping a timer, the common end of a deadline, costs no system call,
 * only a wake-up for nothing now and then. */
#include "service/base/clock.h"
#include "service/base/mem.h"
#include "service/loop/loop_private.h"

#include <stdlib.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { FIRST_CAPACITY = 64 };
#define LONGEST_MS ((int64_t)1 << 40) /* 34 years: due times cannot overflow */

static void put(struct timer_heap *h, size_t at, struct timer *t)
{
    h->slots[at] = t;
    t->slot = at + 1;
}

static void sift_up(struct timer_heap *h, size_t at, struct timer *t)
{
    while (at > 0 && t->due_mono_ms < h->slots[(at - 1) / 2]->due_mono_ms) {
        put(h, at, h->slots[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    put(h, at, t);
}

static void sift_down(struct timer_heap *h, size_t at, struct timer *t)
{
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && h->slots[child + 1]->due_mono_ms < h->slots[child]->due_mono_ms) {
            child++;
        }
        if (t->due_mono_ms <= h->slots[child]->due_mono_ms) {
            break;
        }
        put(h, at, h->slots[child]);
    }
    put(h, at, t);
}

static void insert(struct timer_heap *h, struct timer *t)
{
    if (h->n == h->cap) {
        h->cap = h->cap ? 2 * h->cap : FIRST_CAPACITY;
        h->slots = mem_realloc(h->slots, h->cap * sizeof(struct timer *));
    }
    sift_up(h, h->n++, t);
}

static void take_out(struct timer_heap *h, struct timer *t)
{
    size_t at = t->slot - 1;
    struct timer *last = h->slots[--h->n];
    t->slot = 0;
    if (last == t) {
        return;
    }
    if (last->due_mono_ms < t->due_mono_ms) {
        sift_up(h, at, last);
    } else {
        sift_down(h, at, last);
    }
}

static void arm(struct timer_heap *h)
{
    if (h->n == 0 || h->slots[0]->due_mono_ms >= h->armed_mono_ms) {
        return;
    }
    h->armed_mono_ms = h->slots[0]->due_mono_ms;
    struct itimerspec at = {.it_value = {.tv_sec = h->armed_mono_ms / 1000,
                                         .tv_nsec = h->armed_mono_ms % 1000 * 1000000}};
    timerfd_settime(h->fd, TFD_TIMER_ABSTIME, &at, NULL);
}

static void on_due(struct watch *w, uint32_t epoll_events)
{
    (void)epoll_events;
    struct timer_heap *h = &w->loop->timers;
    uint64_t expirations;
    if (read(h->fd, &expirations, sizeof(expirations)) < 0) {
        return;
    }
    h->armed_mono_ms = INT64_MAX;
    int64_t now = clock_mono_ms(); /* once: a timer that restarts itself waits for the next turn */
    while (h->n && h->slots[0]->due_mono_ms <= now) {
        struct timer *t = h->slots[0];
        take_out(h, t);
        t->on_expired(t);
    }
    arm(h);
}

void timer_heap_init(struct loop *l)
{
    struct timer_heap *h = &l->timers;
    h->fd = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
    h->armed_mono_ms = INT64_MAX;
    h->watch.on_ready = on_due;
    if (h->fd < 0 || !watch_start(l, &h->watch, h->fd, EPOLLIN)) {
        abort();
    }
}

void timer_heap_done(struct loop *l)
{
    watch_stop(&l->timers.watch);
    close(l->timers.fd);
    free(l->timers.slots);
}

void timer_start(struct loop *l, struct timer *t, int64_t after_ms)
{
    timer_stop(t);
    if (after_ms < 1) {
        after_ms = 1;
    } else if (after_ms > LONGEST_MS) {
        after_ms = LONGEST_MS;
    }
    t->loop = l;
    t->due_mono_ms = (clock_mono_us() + 999) / 1000 + after_ms; /* never early */
    insert(&l->timers, t);
    arm(&l->timers);
}

void timer_stop(struct timer *t)
{
    if (t->slot) {
        take_out(&t->loop->timers, t);
    }
}
