/* SPDX-License-Identifier: Apache-2.0 */
/* h2o's own loop, woken by an eventfd in the private epoll set. h2o's message queue would do, but
 * its per-thread memory cannot be freed and its receivers tie messages to h2o types. */
#include "service/loop/loop.h"

#include "service/base/mem.h"
#include "service/loop/loop_private.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

static void wake(struct loop *l)
{
    uint64_t one = 1;
    ssize_t n = write(l->wake_fd, &one, sizeof(one));
    (void)n; /* it fails only when the counter is full: then the loop is awake anyway */
}

static struct loop_message *take_messages(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    struct loop_message *first = l->first;
    l->first = NULL;
    l->last = &l->first;
    pthread_mutex_unlock(&l->lock);
    return first;
}

static void run_messages(struct loop *l)
{
    for (struct loop_message *m = take_messages(l), *next; m; m = next) {
        next = m->next; /* run may free m */
        m->run(m);
    }
}

static void on_wake(struct watch *w, uint32_t epoll_events)
{
    (void)epoll_events;
    uint64_t count;
    ssize_t n = read(w->fd, &count, sizeof(count));
    (void)n;
    run_messages(w->loop);
}

struct loop *loop_new(void)
{
    struct loop *l = mem_alloc(sizeof(*l));
    l->native = h2o_evloop_create();
    pthread_mutex_init(&l->lock, NULL);
    l->last = &l->first;
    l->last_deferred = &l->deferred;
    watch_set_init(l);
    timer_heap_init(l);
    l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    l->wake.on_ready = on_wake;
    if (l->wake_fd < 0 || !watch_start(l, &l->wake, l->wake_fd, EPOLLIN)) {
        abort();
    }
    return l;
}

void loop_free(struct loop *l)
{
    if (!l) {
        return;
    }
    watch_stop(&l->wake);
    close(l->wake_fd);
    timer_heap_done(l);
    watch_set_done(l);
    h2o_evloop_destroy(l->native);
    pthread_mutex_destroy(&l->lock);
    free(l);
}

static bool is_stopping(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    bool stopping = l->stopping;
    pthread_mutex_unlock(&l->lock);
    return stopping;
}

void loop_defer(struct loop *l, struct loop_deferred *d)
{
    if (!d->link) {
        d->loop = l;
        d->next = NULL;
        d->link = l->last_deferred;
        *d->link = d;
        l->last_deferred = &d->next;
    }
}

void loop_undefer(struct loop_deferred *d)
{
    if (!d->link) {
        return;
    }
    *d->link = d->next;
    if (d->next) {
        d->next->link = d->link;
    } else if (d->loop->last_deferred == &d->next) {
        d->loop->last_deferred = d->link;
    }
    d->link = NULL;
}

/* Those that wait now: one that defers itself again waits for the next turn, so that no hook can
 * keep the loop from its events. */
static void run_deferred(struct loop *l)
{
    struct loop_deferred *first = l->deferred;
    if (!first) {
        return;
    }
    first->link = &first;
    l->deferred = NULL;
    l->last_deferred = &l->deferred;
    while (first) {
        struct loop_deferred *d = first;
        loop_undefer(d);
        d->run(d); /* may free d, and take others out of the list */
    }
}

void loop_run(struct loop *l)
{
    run_deferred(l);
    while (!is_stopping(l) || l->n_jobs) { /* a job that ended must find its loop alive */
        if (h2o_evloop_run(l->native, l->deferred ? 0 : INT32_MAX) != 0 && errno != EINTR) {
            abort();
        }
        run_deferred(l);
    }
    run_messages(l); /* those posted before loop_stop */
    run_deferred(l);
    pthread_mutex_lock(&l->lock);
    l->stopping = false;
    pthread_mutex_unlock(&l->lock);
}

void loop_stop(struct loop *l)
{
    pthread_mutex_lock(&l->lock);
    l->stopping = true;
    wake(l); /* under the lock: once loop_run returned, l may be freed */
    pthread_mutex_unlock(&l->lock);
}

void *loop_native(struct loop *l)
{
    return l->native;
}

void loop_post(struct loop *l, struct loop_message *m)
{
    m->next = NULL;
    pthread_mutex_lock(&l->lock);
    bool was_empty = !l->first;
    *l->last = m;
    l->last = &m->next;
    if (was_empty) {
        wake(l); /* under the lock, as in loop_stop */
    }
    pthread_mutex_unlock(&l->lock);
}
