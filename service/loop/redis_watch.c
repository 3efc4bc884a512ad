/* SPDX-License-Identifier: Apache-2.0 */
/* hiredis asks for writing with each command; we write once a turn instead, with all of its
 * commands, and wait for EPOLLOUT only while the socket takes no more or is not yet connected. A
 * socket that is not yet connected shows no error either, so hiredis must not be called before
 * epoll says that it is ready. */
#include "service/loop/redis_private.h"

#include <hiredis/sds.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

static void set_events(struct redis_loop *r, uint32_t events)
{
    if (r->watched != events) {
        r->watched = events;
        (void)watch_change(&r->watch, events); /* it is in the set: nothing to refuse */
    }
}

static void on_add_read(void *arg)
{
    struct redis_loop *r = arg;
    set_events(r, r->watched | EPOLLIN);
}

static void on_del_read(void *arg)
{
    struct redis_loop *r = arg;
    set_events(r, r->watched & ~(uint32_t)EPOLLIN);
}

static void on_add_write(void *arg)
{
    struct redis_loop *r = arg;
    if (r->is_writing || !(r->context->c.flags & REDIS_CONNECTED)) {
        set_events(r, r->watched | EPOLLOUT);
    } else {
        loop_defer(r->loop, &r->flush);
    }
}

static void on_del_write(void *arg)
{
    struct redis_loop *r = arg;
    set_events(r, r->watched & ~(uint32_t)EPOLLOUT);
}

static void on_cleanup(void *arg)
{
    struct redis_loop *r = arg;
    watch_stop(&r->watch);
    loop_undefer(&r->flush);
    redis_ended(r);
}

static void read_some(struct redis_loop *r)
{
    redisAsyncHandleRead(r->context);
    if (r->context && redis_reply_is_too_long(r)) {
        redis_drop(r, REDIS_FAILURE_BROKEN);
    }
}

static bool has_unread(const struct redis_loop *r)
{
    int n = 0;
    return ioctl(r->context->c.fd, FIONREAD, &n) == 0 && n > 0;
}

void redis_watch_catch_up(struct redis_loop *r, bool (*wants_more)(const struct redis_loop *r))
{
    while (wants_more(r) && has_unread(r)) {
        read_some(r);
    }
}

void redis_watch_write(struct redis_loop *r)
{
    size_t before = sdslen(r->context->c.obuf);
    r->is_writing = true;
    redisAsyncHandleWrite(r->context);
    r->is_writing = false;
    if (r->context && sdslen(r->context->c.obuf) < before) {
        atomic_fetch_add_explicit(&r->writes, !r->is_idle, memory_order_relaxed);
        r->is_idle = false;
    }
}

static void on_flush(struct loop_deferred *d)
{
    struct redis_loop *r =
        (struct redis_loop *)(void *)((char *)d - offsetof(struct redis_loop, flush));
    redis_enter(r);
    if (r->context && !(r->watched & EPOLLOUT)) {
        redis_watch_write(r);
    }
    redis_leave(r);
}

/* Reads first: a server that turns us away says why before it closes, and writing would find the
 * connection closed. */
static void on_ready(struct watch *w, uint32_t events)
{
    struct redis_loop *r =
        (struct redis_loop *)(void *)((char *)w - offsetof(struct redis_loop, watch));
    redis_enter(r);
    if (events & ~(uint32_t)EPOLLOUT) {
        read_some(r);
    }
    if (r->context && (events & EPOLLOUT)) {
        redis_watch_write(r);
    }
    redis_leave(r);
}

bool redis_watch_begin(struct redis_loop *r)
{
    redisAsyncContext *c = r->context;
    r->watched = EPOLLIN | EPOLLOUT;
    r->watch.on_ready = on_ready;
    r->flush.run = on_flush;
    if (!watch_start(r->loop, &r->watch, c->c.fd, r->watched)) {
        return false;
    }
    c->ev.data = r;
    c->ev.addRead = on_add_read;
    c->ev.delRead = on_del_read;
    c->ev.addWrite = on_add_write;
    c->ev.delWrite = on_del_write;
    c->ev.cleanup = on_cleanup;
    return true;
}
