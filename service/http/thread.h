/* SPDX-License-Identifier: Apache-2.0 */
/* thread: one serving thread with its loop, its h2o context and its listener; the admin port has
 * one of its own.
 *
 * Thread:    http_thread_start to http_thread_done from the thread that starts the server; the rest
 *            on the serving thread. */
#ifndef HTTP_THREAD_H
#define HTTP_THREAD_H

#include "service/loop/loop.h"

#include <h2o.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

struct connection;
struct gate;
struct gate_loop;
struct http_server;

/* What all threads of one port share. */
struct http_port {
    struct http_server *server;
    h2o_globalconf_t conf;
    h2o_hostconf_t *host;
    uint16_t number;
    size_t max_connections;
    int64_t write_timeout_ms;
    atomic_size_t n_connections, n_refused;
};

struct http_thread {
    struct http_port *port;
    struct loop *loop;
    struct gate_loop *gate_loop; /* NULL on the admin port, which asks the gate itself */
    pthread_t thread;
    int listen_fd; /* h2o's once it runs */
    h2o_context_t context;
    h2o_accept_ctx_t accept;
    h2o_socket_t *listener; /* NULL: no longer accepting */
    struct timer accept_again;
    struct connection *connections; /* doubly linked */
    bool draining;
    int64_t drain_ms;
    struct timer drain_ended;
    sem_t drained;
    struct loop_message drain, tick; /* tick: admin.c's, to see whether the loop turns */
};

/* on_request answers every request of the port. */
void http_port_init(struct http_port *p, struct http_server *server, int64_t deadline_ms,
                    size_t max_entity_bytes, int (*on_request)(h2o_handler_t *, h2o_req_t *));
void http_port_done(struct http_port *p);

/* gate: whose requests it serves; NULL: none. */
void http_thread_start(struct http_thread *t, struct http_port *p, int listen_fd,
                       struct gate *gate);

/* Asks it to stop accepting and to finish what is in flight within drain_ms. */
void http_thread_drain(struct http_thread *t, int64_t drain_ms);

/* Waits until its last connection is closed. Its loop still turns. */
void http_thread_wait_drained(struct http_thread *t);

/* Ends the thread. */
void http_thread_join(struct http_thread *t);

/* After every thread that posts to its loop was joined. */
void http_thread_done(struct http_thread *t);

/* The last connection is closed, or there was none. */
void http_thread_tell_drained(struct http_thread *t);

static inline struct http_thread *http_thread_of(h2o_req_t *req)
{
    return H2O_STRUCT_FROM_MEMBER(struct http_thread, context, req->conn->ctx);
}

#endif
