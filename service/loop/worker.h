/* SPDX-License-Identifier: Apache-2.0 */
/* worker: threads that do what would block a loop, behind one bounded queue.
 *
 * Thread:    worker_submit from the thread of the loop it names, any number of them.
 * Blocking:  never, but worker_pool_free waits.
 * Ceiling:   max_queue waiting jobs; beyond it worker_submit says no and the request is shed. */
#ifndef LOOP_WORKER_H
#define LOOP_WORKER_H

#include "service/loop/loop.h"

/* Workers run at a lower priority than loops, so that a loop that wakes need not wait for the end
 * of a search's time slice; not so low that busy loops starve them. */
enum { WORKER_NICENESS = 5 };

struct worker_pool; /* opaque */

/* One job, embedded in its own state; alive until done() was called. */
struct work {
    void (*run)(struct work *w, unsigned worker); /* on worker thread 0 .. n_threads-1 */
    void (*done)(struct work *w);                 /* on the submitting loop */
    struct loop *loop;
    struct loop_message message; /* the rest is the pool's */
    struct work *next;
};

struct worker_pool *worker_pool_new(unsigned n_threads, size_t max_queue);

/* Finishes what is queued, then ends the threads. The loops that submitted must still be there. */
void worker_pool_free(struct worker_pool *p);

unsigned worker_pool_size(const struct worker_pool *p);

/* Queues w, filled but for its pool fields. False: the queue is full, nothing will be called. */
bool worker_submit(struct worker_pool *p, struct loop *l, struct work *w);

/* Jobs waiting now, for metrics. */
size_t worker_queue_length(struct worker_pool *p);

#endif
