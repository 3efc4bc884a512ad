/* SPDX-License-Identifier: Apache-2.0 */
/* loop: one event loop a thread, on h2o's own, with timers and messages from other threads.
 *
 * Thread:    loop_post and loop_stop from any; everything else on the loop's own thread, or before
 *            loop_run.      Blocking: only loop_run. */
#ifndef LOOP_LOOP_H
#define LOOP_LOOP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct loop; /* opaque */

/* Freed by the thread that made it: h2o ties buffers to that. */
struct loop *loop_new(void);
void loop_free(struct loop *l);

/* Runs until loop_stop was called, what was posted before that has run and the jobs this loop gave
 * to worker pools are done. */
void loop_run(struct loop *l);
void loop_stop(struct loop *l);

/* The h2o_loop_t, for service/http and the files of service/loop only. */
void *loop_native(struct loop *l);

/* Messages and timers start zeroed but for the function. A message is embedded in what it is about;
 * it must stay alive until run() is called on the loop. */
struct loop_message {
    void (*run)(struct loop_message *m);
    struct loop_message *next; /* the loop's */
};

/* Wakes the loop; messages run in the order they were posted. */
void loop_post(struct loop *l, struct loop_message *m);

/* What is left for the end of the turn, embedded in what it is about: work that many events of one
 * turn ask for and that is done once. Starts zeroed but for run. */
struct loop_deferred {
    void (*run)(struct loop_deferred *d); /* set by the owner */
    struct loop *loop;                    /* the rest is the loop's */
    struct loop_deferred *next, **link;   /* link: what points here; NULL: not waiting */
};

/* Calls d->run once, after what this turn of the loop has found and before the next would wait;
 * nothing where it waits already. */
void loop_defer(struct loop *l, struct loop_deferred *d);

/* Safe also when it does not wait. */
void loop_undefer(struct loop_deferred *d);

/* A one-shot timer, embedded in what it is about. */
struct timer {
    void (*on_expired)(struct timer *t); /* set by the owner */
    struct loop *loop;                   /* the rest is the loop's */
    int64_t due_mono_ms;
    size_t slot; /* in the loop's heap, + 1; 0: not running */
};

/* Starts or restarts it: at least 1 ms from now. */
void timer_start(struct loop *l, struct timer *t, int64_t after_ms);

/* Safe also when it is not running. */
void timer_stop(struct timer *t);

#endif
