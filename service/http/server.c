/* SPDX-License-Identifier: Apache-2.0 */
/* Starts and stops the threads of both ports. While the public port drains every loop still turns
 * and the admin port still answers, so that a liveness probe does not kill a process that ends in
 * order. Loops are freed last, since threads post to each other's. */
#include "service/http/server.h"

#include "service/base/mem.h"
#include "service/http/listener.h"
#include "service/http/server_private.h"

#include <stdlib.h>
#include <unistd.h>

enum {
    ADMIN_MAX_CONNECTIONS = 64,
    ADMIN_MAX_BODY_BYTES = 1024,
    ADMIN_DRAIN_MS = 100,
};

static const struct slice *copy_list(struct arena *a, const struct slice *items, size_t n)
{
    struct slice *copy = arena_alloc(a, n * sizeof(*copy));
    for (size_t i = 0; i < n; i++) {
        copy[i] = arena_copy(a, items[i]);
    }
    return copy;
}

static void copy_options(struct http_server *s, const struct http_options *o)
{
    s->options = *o;
    s->options.host = arena_copy(&s->memory, slice_of(o->host)).p;
    s->options.admin_host = arena_copy(&s->memory, slice_of(o->admin_host)).p;
    s->options.hosts = copy_list(&s->memory, o->hosts, o->n_hosts);
    s->options.origins = copy_list(&s->memory, o->origins, o->n_origins);
}

/* libh2o's own limit lies above ours: a body a little too large still gets our answer, and what is
 * far too large is not read to its end. */
static void init_ports(struct http_server *s, uint16_t number, uint16_t admin_number)
{
    const struct http_options *o = &s->options;
    http_port_init(&s->public_port, s, o->deadline_ms, 2 * o->max_body_bytes, public_on_request);
    s->public_port.number = number;
    s->public_port.max_connections = o->max_connections;
    s->public_port.write_timeout_ms = o->write_timeout_ms;
    http_port_init(&s->admin_port, s, o->deadline_ms, ADMIN_MAX_BODY_BYTES, admin_on_request);
    s->admin_port.number = admin_number;
    s->admin_port.max_connections = ADMIN_MAX_CONNECTIONS;
    s->admin_port.write_timeout_ms = o->write_timeout_ms;
}

static void start_threads(struct http_server *s, const int *fds, int admin_fd)
{
    for (unsigned i = 0; i < s->options.n_threads; i++) {
        http_thread_start(&s->threads[i], &s->public_port, fds[i], s->gate);
    }
    http_thread_start(&s->admin, &s->admin_port, admin_fd, NULL);
}

static void close_all(const int *fds, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        close(fds[i]);
    }
}

struct http_server *http_server_start(const struct http_options *options, struct gate *gate,
                                      struct err_detail *detail)
{
    unsigned n = options->n_threads;
    uint16_t number = options->port, admin_number = options->admin_port;
    struct http_server *s = NULL;
    int admin_fd, *fds = mem_array(n, sizeof(*fds));
    if (!listener_open(options->host, &number, "listen", n, fds, detail)) {
        goto out;
    }
    if (!listener_open(options->admin_host, &admin_number, "admin_listen", 1, &admin_fd, detail)) {
        close_all(fds, n);
        goto out;
    }
    s = mem_alloc(sizeof(*s) + n * sizeof(struct http_thread));
    s->gate = gate;
    copy_options(s, options);
    init_ports(s, number, admin_number);
    start_threads(s, fds, admin_fd);
out:
    free(fds);
    return s;
}

uint16_t http_server_port(const struct http_server *s)
{
    return s->public_port.number;
}

uint16_t http_server_admin_port(const struct http_server *s)
{
    return s->admin_port.number;
}

void http_server_stop(struct http_server *s, int64_t drain_ms)
{
    if (!s) {
        return;
    }
    for (unsigned i = 0; i < s->options.n_threads; i++) {
        http_thread_drain(&s->threads[i], drain_ms);
    }
    for (unsigned i = 0; i < s->options.n_threads; i++) {
        http_thread_wait_drained(&s->threads[i]);
    }
    http_thread_drain(&s->admin, ADMIN_DRAIN_MS);
    http_thread_wait_drained(&s->admin);
    http_thread_join(&s->admin);
    for (unsigned i = 0; i < s->options.n_threads; i++) {
        http_thread_join(&s->threads[i]);
    }
    for (unsigned i = 0; i < s->options.n_threads; i++) {
        http_thread_done(&s->threads[i]);
    }
    http_thread_done(&s->admin);
    http_port_done(&s->public_port);
    http_port_done(&s->admin_port);
    arena_done(&s->memory);
    free(s);
}
