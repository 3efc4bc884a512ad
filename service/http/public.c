/* SPDX-License-Identifier: Apache-2.0 */
/* The public port's handler: what can be said without the token is said here, everything else goes
 * through the pipeline. */
#include "service/http/exchange.h"
#include "service/http/head_check.h"
#include "service/http/route.h"
#include "service/http/server_private.h"
#include "service/pipeline/admin.h"

#define JSON SLICE_LIT("application/json")
#define REFUSAL(message)                                                                           \
    SLICE_LIT("{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32600,\"message\":\"" message "\"}}")

enum { METADATA_MAX_BYTES = 16 * 1024 };

/* A request that the pipeline works on. */
struct call {
    struct exchange exchange;
    struct http_server *server;
    struct request *request;
};

static void leave_flight(struct call *c)
{
    atomic_fetch_sub_explicit(&c->server->n_in_flight, 1, memory_order_relaxed);
}

static void on_reply(struct request *r, const struct reply *reply, void *door)
{
    (void)r;
    struct call *c = door;
    leave_flight(c); /* a client that reads slowly holds no slot */
    exchange_reply(&c->exchange, reply, NULL, 0);
}

static void call_end(struct exchange *e)
{
    struct call *c = (struct call *)e;
    if (e->is_answered) {
        request_free(c->request);
    } else {
        leave_flight(c);
        request_cancel(c->request);
    }
}

static void begin_call(struct call *c, const struct request_input *in)
{
    size_t others = atomic_fetch_add_explicit(&c->server->n_in_flight, 1, memory_order_relaxed);
    if (others >= c->server->options.max_in_flight) {
        leave_flight(c);
        atomic_fetch_add_explicit(&c->server->n_shed, 1, memory_order_relaxed);
        exchange_reply_empty(&c->exchange, 503, &(struct header){"retry-after", SLICE_LIT("1")}, 1);
        return;
    }
    c->request = request_new(c->exchange.connection->thread->gate_loop, in, on_reply, c);
    c->exchange.end = call_end;
    request_run(c->request);
    if (!c->exchange.is_answered) {
        exchange_wait(&c->exchange);
    }
}

static struct slice slice_from(h2o_iovec_t v)
{
    return (struct slice){v.base, v.len};
}

/* A list header that came in several lines is one list (RFC 9110 §5.3). */
static struct slice join(h2o_req_t *req, struct slice a, struct slice b)
{
    h2o_iovec_t joined = h2o_concat(&req->pool, h2o_iovec_init(a.p, a.n),
                                    h2o_iovec_init(H2O_STRLIT(", ")), h2o_iovec_init(b.p, b.n));
    return slice_from(joined);
}

static void take_header(h2o_req_t *req, struct slice name, struct slice value,
                        struct request_input *in, struct route_input *route)
{
    const struct {
        const char *name;
        struct slice *ret_value;
    } WANTED[] = {
        {"authorization", &in->authorization},
        {"content-type", &in->content_type},
        {"accept", &in->accept},
        {"if-none-match", &in->if_none_match},
        {"mcp-protocol-version", &in->mcp_version},
        {"mcp-method", &in->mcp_method},
        {"mcp-name", &in->mcp_name},
        {"origin", &route->origin},
    };
    for (size_t i = 0; i < sizeof(WANTED) / sizeof(WANTED[0]); i++) {
        struct slice *ret = WANTED[i].ret_value;
        if (!slice_is(name, WANTED[i].name)) {
            continue;
        }
        in->n_authorization += ret == &in->authorization;
        route->n_origins += ret == &route->origin;
        if (!ret->p) {
            *ret = value;
        } else if (ret == &in->accept) {
            *ret = join(req, *ret, value);
        }
        return;
    }
}

static void read_target(h2o_req_t *req, struct request_input *in, struct route_input *route)
{
    struct slice target = slice_from(req->input.path);
    const char *mark = target.n ? memchr(target.p, '?', target.n) : NULL;
    route->path = target;
    in->query_string = SLICE_LIT("");
    if (mark) {
        route->path.n = (size_t)(mark - target.p);
        in->query_string = slice_skip(target, route->path.n + 1);
    }
}

static void read_request(h2o_req_t *req, struct request_input *in, struct route_input *route)
{
    read_target(req, in, route);
    route->method = slice_from(req->input.method);
    route->host = slice_from(req->input.authority);
    in->body = req->entity.base ? slice_from(req->entity) : SLICE_LIT("");
    route->body_bytes = in->body.n;
    for (size_t i = 0; i < req->headers.size; i++) {
        const h2o_header_t *h = &req->headers.entries[i];
        take_header(req, slice_from(*h->name), slice_from(h->value), in, route);
    }
}

static void reply_preflight(struct exchange *e)
{
    static const struct header ALLOWED[] = {
        {"access-control-allow-methods", SLICE_LIT("GET, POST")},
        {"access-control-allow-headers",
         SLICE_LIT("Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, "
                   "Mcp-Name")},
        {"access-control-max-age", SLICE_LIT("86400")},
    };
    exchange_reply_empty(e, 204, ALLOWED, sizeof(ALLOWED) / sizeof(ALLOWED[0]));
}

static void reply_metadata(struct call *c)
{
    struct dynbuf out;
    dynbuf_init(&out, METADATA_MAX_BYTES);
    gate_resource_metadata(c->server->gate, &out);
    exchange_reply_text(&c->exchange, 200, JSON, exchange_copy(&c->exchange, dynbuf_get(&out)));
    dynbuf_done(&out);
}

static void reply_only(struct exchange *e, struct slice methods)
{
    exchange_reply_empty(e, 405, &(struct header){"allow", methods}, 1);
}

static void refuse_head(struct exchange *e, enum head_verdict v)
{
    e->req->http1_is_persistent = 0; /* where the next request begins is not certain */
    if (v == HEAD_TOO_LARGE) {
        exchange_reply_text(e, 431, JSON, REFUSAL("the request head is too large"));
    } else {
        exchange_reply_text(e, 400, JSON, REFUSAL("the request head is malformed"));
    }
}

static void answer(struct call *c, enum route route, struct request_input *in)
{
    struct exchange *e = &c->exchange;
    switch (route) {
    case ROUTE_MCP:
        in->surface = SURFACE_MCP;
        begin_call(c, in);
        return;
    case ROUTE_SEARCH_GET: in->is_get = true; /* fall through */
    case ROUTE_SEARCH_POST:
        in->surface = SURFACE_REST;
        begin_call(c, in);
        return;
    case ROUTE_METADATA: reply_metadata(c); return;
    case ROUTE_PREFLIGHT: reply_preflight(e); return;
    case ROUTE_BAD_ORIGIN:
        exchange_reply_text(e, 403, JSON, REFUSAL("this Origin is not served"));
        return;
    case ROUTE_BAD_HOST:
        exchange_reply_text(e, 403, JSON, REFUSAL("this Host is not served"));
        return;
    case ROUTE_NOT_FOUND: exchange_reply_empty(e, 404, NULL, 0); return;
    case ROUTE_ONLY_POST: reply_only(e, SLICE_LIT("POST")); return;
    case ROUTE_ONLY_GET_POST: reply_only(e, SLICE_LIT("GET, POST")); return;
    case ROUTE_BODY_TOO_LARGE:
        exchange_reply_text(e, 413, JSON, REFUSAL("the request body is too large"));
        return;
    }
}

int public_on_request(h2o_handler_t *self, h2o_req_t *req)
{
    (void)self;
    struct call *c = exchange_begin(req, sizeof(*c));
    const h2o_buffer_t *received = c->exchange.connection->socket->input;
    struct head_facts facts;
    enum head_verdict v = head_check((struct slice){received->bytes, received->size}, &facts);
    c->server = http_thread_of(req)->port->server;
    if (v != HEAD_OK) {
        refuse_head(&c->exchange, v);
        return 0;
    }
    if (facts.has_chunked_body) {
        req->http1_is_persistent = 0;
    }
    struct request_input in = {0};
    struct route_input route = {0};
    read_request(req, &in, &route);
    enum route found = route_find(&c->server->options, &route);
    if (found != ROUTE_BAD_ORIGIN) {
        c->exchange.cors_origin = route.origin;
    }
    answer(c, found, &in);
    return 0;
}
