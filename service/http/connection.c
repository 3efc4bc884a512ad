/* SPDX-License-Identifier: Apache-2.0 */
/* A client that leaves is seen by an edge-triggered EPOLLRDHUP watch on the same descriptor, armed
 * once a connection and only when a request has to wait: a pair of epoll_ctl for each request would
 * cost a quarter of a cached answer. A client that closes only its sending side counts as gone.
 * libh2o has no call that closes a connection; shutdown(2) makes it see the end by itself. */
#include "service/http/connection.h"

#include "service/base/mem.h"
#include "service/http/exchange.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/socket.h>

enum { ACCEPT_BATCH = 64, ACCEPT_PAUSE_MS = 100 };

static void on_hang_up(struct watch *w, uint32_t events)
{
    (void)events;
    struct connection *c = H2O_STRUCT_FROM_MEMBER(struct connection, hang_up, w);
    if (c->reading_is_shut) {
        return;
    }
    c->is_gone = true;
    if (c->exchange && !c->exchange->is_answered) {
        exchange_abandon(c->exchange);
    }
}

static void unlink_connection(struct connection *c)
{
    if (c->previous) {
        c->previous->next = c->next;
    } else {
        c->thread->connections = c->next;
    }
    if (c->next) {
        c->next->previous = c->previous;
    }
}

/* libh2o has just closed the descriptor. */
static void on_closed(void *data)
{
    struct connection *c = data;
    struct http_thread *t = c->thread;
    watch_forget(&c->hang_up);
    unlink_connection(c);
    free(c);
    atomic_fetch_sub_explicit(&t->port->n_connections, 1, memory_order_relaxed);
    http_thread_tell_drained(t);
}

static void add_connection(struct http_thread *t, h2o_socket_t *socket)
{
    struct connection *c = mem_alloc(sizeof(*c));
    c->thread = t;
    c->socket = socket;
    c->hang_up.on_ready = on_hang_up;
    c->next = t->connections;
    if (c->next) {
        c->next->previous = c;
    }
    t->connections = c;
    socket->on_close.cb = on_closed;
    socket->on_close.data = c;
    h2o_accept(&t->accept, socket);
}

/* Out of descriptors: the listener stays ready, so polling it on would only burn the core. */
static void pause_accepting(struct http_thread *t)
{
    h2o_socket_read_stop(t->listener);
    timer_start(t->loop, &t->accept_again, ACCEPT_PAUSE_MS);
}

void connection_on_accept(h2o_socket_t *listener, const char *error)
{
    (void)error;
    struct http_thread *t = listener->data;
    for (int i = 0; i < ACCEPT_BATCH; i++) {
        h2o_socket_t *socket = h2o_evloop_socket_accept(listener);
        if (!socket) {
            if (errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM) {
                pause_accepting(t);
            }
            return;
        }
        size_t open = atomic_fetch_add_explicit(&t->port->n_connections, 1, memory_order_relaxed);
        if (open < t->port->max_connections) {
            add_connection(t, socket);
        } else {
            atomic_fetch_sub_explicit(&t->port->n_connections, 1, memory_order_relaxed);
            atomic_fetch_add_explicit(&t->port->n_refused, 1, memory_order_relaxed);
            h2o_socket_close(socket);
        }
    }
}

struct connection *connection_of(h2o_req_t *req)
{
    return req->conn->callbacks->get_socket(req->conn)->on_close.data;
}

bool connection_watch(struct connection *c)
{
    if (c->is_gone) {
        return false;
    }
    if (c->reading_is_shut || c->hang_up.loop) {
        return true;
    }
    return watch_start(c->thread->loop, &c->hang_up, h2o_socket_get_fd(c->socket),
                       EPOLLRDHUP | EPOLLET);
}

void connection_cut(struct connection *c)
{
    if (c->exchange && !c->exchange->is_answered) {
        exchange_abandon(c->exchange);
        return;
    }
    if (c->exchange) {
        c->exchange->req->http1_is_persistent = 0;
    }
    c->reading_is_shut = true;
    shutdown(h2o_socket_get_fd(c->socket), SHUT_RDWR);
}

void connection_drain(struct connection *c)
{
    if (c->exchange) {
        c->exchange->req->http1_is_persistent = 0;
    } else if (c->socket->input->size == 0) {
        c->reading_is_shut = true; /* a request that has just come is still read and answered */
        shutdown(h2o_socket_get_fd(c->socket), SHUT_RD);
    }
}
