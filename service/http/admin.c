/* SPDX-License-Identifier: Apache-2.0 */
/* The admin port's handler. /livez sends a tick through every serving loop: a loop that hangs is
 * found by a probe and not only by its clients. Host and Origin are not looked at, since a kubelet
 * sends the address of the pod; the port is read-only and never the public one. */
#include "service/pipeline/admin.h"
#include "service/base/dynbuf.h"
#include "service/http/exchange.h"
#include "service/http/server_private.h"

enum { LIVENESS_MS = 1000, PAGE_MAX_BYTES = 4 * 1024 * 1024 };
#define PLAIN SLICE_LIT("text/plain; charset=utf-8")

/* One GET /livez that waits. */
struct probe {
    struct exchange exchange;
    struct http_server *server;
    struct timer late;
    struct probe *next;
};

static void probe_end(struct exchange *e)
{
    struct probe *p = (struct probe *)e;
    timer_stop(&p->late);
    for (struct probe **at = &p->server->liveness.probes; *at; at = &(*at)->next) {
        if (*at == p) {
            *at = p->next;
            return;
        }
    }
}

static void probe_answer(struct probe *p, bool alive)
{
    probe_end(&p->exchange);
    p->exchange.end = NULL;
    if (alive) {
        exchange_reply_text(&p->exchange, 200, PLAIN, SLICE_LIT("ok\n"));
    } else {
        exchange_reply_text(&p->exchange, 503, PLAIN, SLICE_LIT("a serving loop does not turn\n"));
    }
}

static void on_late(struct timer *t)
{
    probe_answer(H2O_STRUCT_FROM_MEMBER(struct probe, late, t), false);
}

static void on_tick_back(struct loop_message *m)
{
    struct http_thread *t = H2O_STRUCT_FROM_MEMBER(struct http_thread, tick, m);
    struct liveness *l = &t->port->server->liveness;
    if (--l->n_ticking) {
        return;
    }
    while (l->probes) {
        probe_answer(l->probes, true);
    }
}

/* On the serving loop. */
static void on_tick(struct loop_message *m)
{
    struct http_thread *t = H2O_STRUCT_FROM_MEMBER(struct http_thread, tick, m);
    m->run = on_tick_back;
    loop_post(t->port->server->admin.loop, m);
}

static void start_ticks(struct http_server *s)
{
    s->liveness.n_ticking = s->options.n_threads;
    for (unsigned i = 0; i < s->options.n_threads; i++) {
        s->threads[i].tick.run = on_tick;
        loop_post(s->threads[i].loop, &s->threads[i].tick);
    }
}

static void answer_livez(struct probe *p)
{
    struct liveness *l = &p->server->liveness;
    p->next = l->probes;
    l->probes = p;
    p->exchange.end = probe_end;
    p->late.on_expired = on_late;
    timer_start(p->exchange.connection->thread->loop, &p->late, LIVENESS_MS);
    if (!l->n_ticking) {
        start_ticks(p->server);
    }
    exchange_wait(&p->exchange);
}

static void answer_readyz(struct probe *p, bool verbose)
{
    struct dynbuf reasons;
    dynbuf_init(&reasons, PAGE_MAX_BYTES);
    bool ready = gate_is_ready(p->server->gate, &reasons);
    struct slice body = ready ? SLICE_LIT("ok\n") : SLICE_LIT("not ready\n");
    if (verbose) {
        body = exchange_copy(&p->exchange, dynbuf_get(&reasons));
    }
    exchange_reply_text(&p->exchange, ready ? 200 : 503, PLAIN, body);
    dynbuf_done(&reasons);
}

static void add_metric(struct dynbuf *out, const char *name, const char *type, atomic_size_t *value)
{
    dynbuf_add_text(out, "# TYPE ");
    dynbuf_add_text(out, name);
    dynbuf_add_byte(out, ' ');
    dynbuf_add_text(out, type);
    dynbuf_add_byte(out, '\n');
    dynbuf_add_text(out, name);
    dynbuf_add_byte(out, ' ');
    dynbuf_add_int(out, (int64_t)atomic_load_explicit(value, memory_order_relaxed));
    dynbuf_add_byte(out, '\n');
}

/* What the pipeline never sees. */
static void add_door_metrics(struct http_server *s, struct dynbuf *out)
{
    add_metric(out, "kbgate_http_connections", "gauge", &s->public_port.n_connections);
    add_metric(out, "kbgate_http_connections_refused_total", "counter", &s->public_port.n_refused);
    add_metric(out, "kbgate_http_shed_total", "counter", &s->n_shed);
}

static void answer_metrics(struct probe *p)
{
    struct dynbuf out;
    dynbuf_init(&out, PAGE_MAX_BYTES);
    gate_metrics(p->server->gate, &out);
    add_door_metrics(p->server, &out);
    exchange_reply_text(&p->exchange, 200, SLICE_LIT("text/plain; version=0.0.4"),
                        exchange_copy(&p->exchange, dynbuf_get(&out)));
    dynbuf_done(&out);
}

int admin_on_request(h2o_handler_t *self, h2o_req_t *req)
{
    (void)self;
    struct probe *p = exchange_begin(req, sizeof(*p));
    struct slice target = {req->input.path.base, req->input.path.len};
    p->server = http_thread_of(req)->port->server;
    if (!h2o_memis(req->input.method.base, req->input.method.len, H2O_STRLIT("GET"))) {
        exchange_reply_empty(&p->exchange, 405, &(struct header){"allow", SLICE_LIT("GET")}, 1);
    } else if (slice_is(target, "/livez")) {
        answer_livez(p);
    } else if (slice_is(target, "/readyz") || slice_is(target, "/readyz?verbose")) {
        answer_readyz(p, slice_is(target, "/readyz?verbose"));
    } else if (slice_is(target, "/metrics")) {
        answer_metrics(p);
    } else {
        exchange_reply_empty(&p->exchange, 404, NULL, 0);
    }
    return 0;
}
