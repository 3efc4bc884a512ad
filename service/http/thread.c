/* SPDX-License-Identifier: Apache-2.0 */
/* Each thread has a context and a listener of its own (SO_REUSEPORT), so nothing is shared on the
 * way of a request but counters. HTTP/2 is off: this libh2o lacks the rapid-reset fixes; a proxy in
 * front may speak it. */
#include "service/http/thread.h"

#include "service/base/thread.h"
#include "service/http/connection.h"
#include "service/pipeline/gate_loop.h"

#include <unistd.h>

void http_port_init(struct http_port *p, struct http_server *server, int64_t deadline_ms,
                    size_t max_entity_bytes, int (*on_request)(h2o_handler_t *, h2o_req_t *))
{
    p->server = server;
    h2o_config_init(&p->conf);
    p->conf.server_name = h2o_iovec_init(NULL, 0);
    p->conf.http1.upgrade_to_http2 = 0;
    p->conf.http1.req_timeout = (uint64_t)deadline_ms;
    p->conf.max_request_entity_size = max_entity_bytes;
    p->host = h2o_config_register_host(&p->conf, h2o_iovec_init(H2O_STRLIT("default")), 65535);
    /* no path is registered, so the fallback sees every request as it came */
    h2o_create_handler(&p->host->fallback_path, sizeof(h2o_handler_t))->on_req = on_request;
}

void http_port_done(struct http_port *p)
{
    h2o_config_dispose(&p->conf);
}

static void close_listener(struct http_thread *t)
{
    if (t->listener) {
        connection_on_accept(t->listener, NULL); /* who already waits is still served */
        timer_stop(&t->accept_again);
        h2o_socket_close(t->listener);
        t->listener = NULL;
    }
}

static void on_drain_ended(struct timer *timer)
{
    struct http_thread *t = H2O_STRUCT_FROM_MEMBER(struct http_thread, drain_ended, timer);
    for (struct connection *c = t->connections, *next; c; c = next) {
        next = c->next;
        connection_cut(c);
    }
}

static void on_drain(struct loop_message *m)
{
    struct http_thread *t = H2O_STRUCT_FROM_MEMBER(struct http_thread, drain, m);
    close_listener(t);
    t->draining = true;
    h2o_context_request_shutdown(&t->context);
    for (struct connection *c = t->connections, *next; c; c = next) {
        next = c->next;
        connection_drain(c);
    }
    t->drain_ended.on_expired = on_drain_ended;
    timer_start(t->loop, &t->drain_ended, t->drain_ms);
    http_thread_tell_drained(t);
}

static void on_accept_again(struct timer *timer)
{
    struct http_thread *t = H2O_STRUCT_FROM_MEMBER(struct http_thread, accept_again, timer);
    h2o_socket_read_start(t->listener, connection_on_accept);
}

static void begin(struct http_thread *t)
{
    h2o_context_init(&t->context, loop_native(t->loop), &t->port->conf);
    t->accept = (h2o_accept_ctx_t){.ctx = &t->context, .hosts = t->port->conf.hosts};
    t->listener =
        h2o_evloop_socket_create(t->context.loop, t->listen_fd, H2O_SOCKET_FLAG_DONT_READ);
    t->listener->data = t;
    t->accept_again.on_expired = on_accept_again;
    h2o_socket_read_start(t->listener, connection_on_accept);
}

static void end(struct http_thread *t)
{
    timer_stop(&t->drain_ended);
    h2o_timeout_unlink(&t->context.http2._graceful_shutdown_timeout); /* else dispose asserts */
    h2o_context_dispose(&t->context);
}

static void *serve(void *arg)
{
    struct http_thread *t = arg;
    begin(t);
    loop_run(t->loop);
    end(t);
    return NULL;
}

void http_thread_start(struct http_thread *t, struct http_port *p, int listen_fd, struct gate *gate)
{
    t->port = p;
    t->listen_fd = listen_fd;
    t->loop = loop_new();
    t->gate_loop = gate ? gate_loop_open(gate, t->loop) : NULL;
    sem_init(&t->drained, 0, 0);
    thread_start(&t->thread, serve, t);
}

void http_thread_drain(struct http_thread *t, int64_t drain_ms)
{
    t->drain_ms = drain_ms;
    t->drain.run = on_drain;
    loop_post(t->loop, &t->drain);
}

void http_thread_tell_drained(struct http_thread *t)
{
    if (t->draining && !t->connections) {
        sem_post(&t->drained);
    }
}

void http_thread_wait_drained(struct http_thread *t)
{
    while (sem_wait(&t->drained) != 0) {
        /* a signal handler ran */
    }
}

void http_thread_join(struct http_thread *t)
{
    loop_stop(t->loop);
    pthread_join(t->thread, NULL);
}

void http_thread_done(struct http_thread *t)
{
    gate_loop_close(t->gate_loop);
    loop_free(t->loop);
    sem_destroy(&t->drained);
}
