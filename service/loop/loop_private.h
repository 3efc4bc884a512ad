/* SPDX-License-Identifier: Apache-2.0 */
/* loop_private: what the files of service/loop share of one loop. Thread: the loop's own, but for
 * the messages. */
#ifndef LOOP_LOOP_PRIVATE_H
#define LOOP_LOOP_PRIVATE_H

#include "service/loop/watch.h"

#include <h2o.h>
#include <pthread.h>
#include <sys/epoll.h>

enum { WATCH_BATCH = 64 };

/* The private epoll set (watch.c): one h2o socket for all foreign descriptors. */
struct watch_set {
    int fd;
    h2o_socket_t *socket;
    struct epoll_event batch[WATCH_BATCH];
    int n_batch; /* being dispatched now; 0 outside of a dispatch */
};

/* The timers (timer.c): a binary heap, earliest first, and one timerfd. */
struct timer_heap {
    struct timer **slots;
    size_t n, cap;
    int fd;
    int64_t armed_mono_ms; /* INT64_MAX: not armed */
    struct watch watch;
};

struct loop {
    h2o_loop_t *native;
    struct watch_set watches;
    struct timer_heap timers;
    struct watch wake;
    int wake_fd;
    struct loop_deferred *deferred, **last_deferred;
    size_t n_jobs;        /* submitted to a worker pool and not yet done */
    pthread_mutex_t lock; /* of the rest */
    struct loop_message *first, **last;
    bool stopping;
};

void watch_set_init(struct loop *l);
void watch_set_done(struct loop *l);

void timer_heap_init(struct loop *l);
void timer_heap_done(struct loop *l);

#endif
