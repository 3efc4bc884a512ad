/* SPDX-License-Identifier: Apache-2.0 */
/* h2o owns every descriptor it polls and closes it with its socket, so descriptors of other
 * libraries go into an epoll set of our own, which is itself one h2o socket. A watch that is
 * stopped while a batch is being dispatched may still stand later in that batch: watch_stop takes
 * it out there too, so its owner may be freed at once. */
#include "service/loop/watch.h"

#include "service/loop/loop_private.h"

#include <stdlib.h>

static void on_set_ready(h2o_socket_t *socket, const char *error)
{
    (void)error;
    struct loop *l = socket->data;
    struct watch_set *set = &l->watches;
    int n = epoll_wait(set->fd, set->batch, WATCH_BATCH, 0);
    set->n_batch = n > 0 ? n : 0;
    for (int i = 0; i < set->n_batch; i++) {
        struct watch *w = set->batch[i].data.ptr;
        if (w) {
            w->on_ready(w, set->batch[i].events);
        }
    }
    set->n_batch = 0;
}

void watch_set_init(struct loop *l)
{
    l->watches.fd = epoll_create1(EPOLL_CLOEXEC);
    if (l->watches.fd < 0) {
        abort();
    }
    l->watches.socket =
        h2o_evloop_socket_create(l->native, l->watches.fd, H2O_SOCKET_FLAG_DONT_READ);
    l->watches.socket->data = l;
    h2o_socket_read_start(l->watches.socket, on_set_ready);
}

void watch_set_done(struct loop *l)
{
    h2o_socket_close(l->watches.socket); /* closes the set's descriptor too */
}

static bool control(struct watch *w, int operation, uint32_t epoll_events)
{
    struct epoll_event event = {.events = epoll_events, .data.ptr = w};
    return epoll_ctl(w->loop->watches.fd, operation, w->fd, &event) == 0;
}

bool watch_start(struct loop *l, struct watch *w, int fd, uint32_t epoll_events)
{
    w->loop = l;
    w->fd = fd;
    if (control(w, EPOLL_CTL_ADD, epoll_events)) {
        return true;
    }
    w->loop = NULL;
    return false;
}

bool watch_change(struct watch *w, uint32_t epoll_events)
{
    return w->loop && control(w, EPOLL_CTL_MOD, epoll_events);
}

void watch_forget(struct watch *w)
{
    if (!w->loop) {
        return;
    }
    struct watch_set *set = &w->loop->watches;
    for (int i = 0; i < set->n_batch; i++) {
        if (set->batch[i].data.ptr == w) {
            set->batch[i].data.ptr = NULL;
        }
    }
    w->loop = NULL;
}

void watch_stop(struct watch *w)
{
    if (w->loop) {
        control(w, EPOLL_CTL_DEL, 0);
        watch_forget(w);
    }
}
