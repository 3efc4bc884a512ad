/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/mem.h"
#include "service/loop/watch.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

TestSuite(watch, .timeout = 30);

struct end {
    struct watch watch;
    int fd, peer, calls;
    uint32_t events;
    struct end *victim; /* stopped and freed by the callback */
};

static void on_ready(struct watch *w, uint32_t events)
{
    struct end *e = (struct end *)w;
    e->calls++;
    e->events = events;
    loop_stop(w->loop);
}

static struct end *end_new(struct loop *l, void (*callback)(struct watch *, uint32_t),
                           uint32_t events)
{
    struct end *e = mem_alloc(sizeof(*e));
    int fds[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fds), 0);
    e->watch.on_ready = callback;
    e->fd = fds[0];
    e->peer = fds[1];
    cr_assert(watch_start(l, &e->watch, e->fd, events));
    return e;
}

static void end_free(struct end *e)
{
    watch_stop(&e->watch);
    close(e->fd);
    if (e->peer >= 0) {
        close(e->peer);
    }
    free(e);
}

Test(watch, tells_what_happened_and_leaves_the_descriptor_open)
{
    struct loop *l = loop_new();
    struct end *e = end_new(l, on_ready, EPOLLIN);
    cr_assert_eq(write(e->peer, "x", 1), 1);
    loop_run(l);
    cr_assert_eq(e->calls, 1);
    cr_assert_eq(e->events, EPOLLIN);
    watch_stop(&e->watch);
    cr_assert_neq(fcntl(e->fd, F_GETFD), -1);
    end_free(e);
    loop_free(l);
}

Test(watch, change_replaces_the_events)
{
    struct loop *l = loop_new();
    struct end *e = end_new(l, on_ready, EPOLLIN);
    cr_assert(watch_change(&e->watch, EPOLLOUT));
    loop_run(l);
    cr_assert_eq(e->events, EPOLLOUT);
    watch_stop(&e->watch);
    cr_assert_not(watch_change(&e->watch, EPOLLIN), "not running");
    end_free(e);
    loop_free(l);
}

Test(watch, edge_triggered_hang_up_is_seen_without_reading)
{
    struct loop *l = loop_new();
    struct end *e = end_new(l, on_ready, EPOLLRDHUP | EPOLLET);
    cr_assert_eq(write(e->peer, "unread", 6), 6);
    close(e->peer);
    e->peer = -1;
    loop_run(l);
    cr_assert_eq(e->calls, 1);
    cr_assert(e->events & EPOLLRDHUP);
    end_free(e);
    loop_free(l);
}

Test(watch, refuses_what_epoll_refuses)
{
    struct loop *l = loop_new();
    struct watch w = {.on_ready = on_ready};
    int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    cr_assert_not(watch_start(l, &w, -1, EPOLLIN));
    cr_assert_not(watch_start(l, &w, file, EPOLLIN), "a regular file cannot be polled");
    watch_stop(&w);
    watch_stop(&w);
    close(file);
    loop_free(l);
}

static struct end *survivor;
static bool close_first;

static void close_and_free(struct end *e)
{
    close(e->fd);
    watch_forget(&e->watch);
    close(e->peer);
    free(e);
}

static void on_ready_free_victim(struct watch *w, uint32_t events)
{
    struct end *e = (struct end *)w;
    (void)events;
    e->calls++;
    survivor = e;
    if (e->victim) {
        e->victim->victim = NULL;
        close_first
            ? close_and_free(e->victim)
            : end_free(
                  e->victim); /* stands in the same batch: a later call would use freed memory */
        e->victim = NULL;
        watch_change(w, 0);
    }
    loop_stop(w->loop);
}

static void stop_one_of_two_ready_watches(void)
{
    struct loop *l = loop_new();
    struct end *a = end_new(l, on_ready_free_victim, EPOLLIN);
    struct end *b = end_new(l, on_ready_free_victim, EPOLLIN);
    a->victim = b;
    b->victim = a;
    cr_assert_eq(write(a->peer, "x", 1), 1);
    cr_assert_eq(write(b->peer, "x", 1), 1);
    loop_run(l);
    cr_assert_eq(survivor->calls, 1);
    end_free(survivor);
    loop_free(l);
}

Test(watch, stopping_another_watch_of_the_same_batch_prevents_its_callback)
{
    stop_one_of_two_ready_watches();
}

Test(watch, forgetting_one_whose_descriptor_is_closed_prevents_its_callback)
{
    close_first = true;
    stop_one_of_two_ready_watches();
}

static void on_ready_restart(struct watch *w, uint32_t events)
{
    struct end *e = (struct end *)w;
    struct loop *l = w->loop;
    (void)events;
    if (++e->calls == 2) {
        loop_stop(l);
        return;
    }
    watch_stop(w);
    cr_assert(watch_start(l, w, e->fd, EPOLLIN));
}

Test(watch, may_be_stopped_and_started_again_in_its_own_callback)
{
    struct loop *l = loop_new();
    struct end *e = end_new(l, on_ready_restart, EPOLLIN);
    cr_assert_eq(write(e->peer, "x", 1), 1);
    loop_run(l);
    cr_assert_eq(e->calls, 2);
    end_free(e);
    loop_free(l);
}

Test(watch, more_ready_descriptors_than_a_batch_holds_are_all_told)
{
    enum { N = 150 };
    static struct end *ends[N];
    struct loop *l = loop_new();
    int told = 0;
    for (int i = 0; i < N; i++) {
        ends[i] = end_new(l, on_ready, EPOLLIN | EPOLLET);
        cr_assert_eq(write(ends[i]->peer, "x", 1), 1);
    }
    for (int turn = 0; turn < 3; turn++) {
        loop_run(l); /* each batch stops the loop */
    }
    for (int i = 0; i < N; i++) {
        told += ends[i]->calls;
        cr_assert_eq(ends[i]->calls, 1);
        end_free(ends[i]);
    }
    cr_assert_eq(told, N);
    loop_free(l);
}
