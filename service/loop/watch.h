/* SPDX-License-Identifier: Apache-2.0 */
/* watch: foreign file descriptors on the loop, through one private epoll set a loop.
 *
 * Thread: the loop's own. */
#ifndef LOOP_WATCH_H
#define LOOP_WATCH_H

#include "service/loop/loop.h"

/* Embedded in what it is about. */
struct watch {
    void (*on_ready)(struct watch *w, uint32_t epoll_events); /* set by the owner */
    struct loop *loop;                                        /* the rest is the loop's */
    int fd;
};

/* Watches fd for the epoll(7) events; false when the kernel refuses. fd stays the caller's. */
bool watch_start(struct loop *l, struct watch *w, int fd, uint32_t epoll_events);
bool watch_change(struct watch *w, uint32_t epoll_events);

/* Safe at any time, also in a callback and when it is not running; no callback follows. Stop before
 * fd is closed: its number may soon name another file. */
void watch_stop(struct watch *w);

/* The same for a descriptor that its owner has just closed, which ended its watch. */
void watch_forget(struct watch *w);

#endif
