/* SPDX-License-Identifier: Apache-2.0 */
/* libh2o may free a request for any reason, but always through its pool: the exchange is a shared
 * chunk of that pool, whose dispose hook ends the work. Nothing is copied on the way: while a
 * request is worked on libh2o does not read, so the buffer that head and body lie in stays where it
 * is; and the answer's bytes stay until end(), which comes after the last of them was written. */
#include "service/http/exchange.h"

#include <stdio.h>
#include <sys/socket.h>

static void end_once(struct exchange *e)
{
    void (*end)(struct exchange *) = e->end;
    e->end = NULL;
    if (end) {
        end(e);
    }
}

static void on_dispose(void *chunk)
{
    struct exchange *e = chunk;
    timer_stop(&e->write_deadline);
    e->connection->exchange = NULL;
    end_once(e);
}

static void on_write_deadline(struct timer *t)
{
    connection_cut(H2O_STRUCT_FROM_MEMBER(struct exchange, write_deadline, t)->connection);
}

void *exchange_begin(h2o_req_t *req, size_t size)
{
    struct exchange *e = h2o_mem_alloc_shared(&req->pool, size, on_dispose);
    memset(e, 0, size);
    e->req = req;
    e->connection = connection_of(req);
    e->connection->exchange = e;
    e->write_deadline.on_expired = on_write_deadline;
    if (e->connection->thread->draining) {
        req->http1_is_persistent = 0;
    }
    return e;
}

static const char *reason_of(int status)
{
    static const struct {
        int status;
        const char *reason;
    } REASONS[] = {
        {200, "OK"},
        {202, "Accepted"},
        {204, "No Content"},
        {304, "Not Modified"},
        {400, "Bad Request"},
        {401, "Unauthorized"},
        {403, "Forbidden"},
        {404, "Not Found"},
        {405, "Method Not Allowed"},
        {406, "Not Acceptable"},
        {413, "Content Too Large"},
        {415, "Unsupported Media Type"},
        {429, "Too Many Requests"},
        {431, "Request Header Fields Too Large"},
        {500, "Internal Server Error"},
        {503, "Service Unavailable"},
    };
    for (size_t i = 0; i < sizeof(REASONS) / sizeof(REASONS[0]); i++) {
        if (REASONS[i].status == status) {
            return REASONS[i].reason;
        }
    }
    return "Unknown";
}

static void add(h2o_req_t *req, const char *name, struct slice value)
{
    if (value.p) {
        h2o_add_header_by_str(&req->pool, &req->res.headers, name, strlen(name), 1, NULL, value.p,
                              value.n);
    }
}

static void add_retry_after(struct exchange *e, int64_t retry_after_ms)
{
    if (retry_after_ms < 0) {
        return;
    }
    char text[24];
    int n = snprintf(text, sizeof(text), "%lld", (long long)((retry_after_ms + 999) / 1000));
    add(e->req, "retry-after", exchange_copy(e, (struct slice){text, (size_t)n}));
}

static void add_cors(struct exchange *e)
{
    if (e->cors_origin.p) {
        add(e->req, "access-control-allow-origin", e->cors_origin);
        add(e->req, "access-control-expose-headers", SLICE_LIT("WWW-Authenticate, Retry-After"));
        add(e->req, "vary", SLICE_LIT("Origin"));
    }
}

static void add_headers(struct exchange *e, const struct reply *reply)
{
    h2o_req_t *req = e->req;
    add(req, "content-type", reply->content_type);
    if (reply->private_no_cache) {
        add(req, "cache-control", SLICE_LIT("private, no-cache"));
        add(req, "vary", SLICE_LIT("Authorization"));
    }
    add(req, "www-authenticate", reply->www_authenticate);
    add(req, "etag", reply->etag);
    add_retry_after(e, reply->retry_after_ms);
    add(req, "x-request-id", reply->request_id);
    add(req, "x-content-type-options", SLICE_LIT("nosniff"));
    add_cors(e);
}

static bool has_no_length(int status)
{
    return status == 204 || status == 304; /* RFC 9110 §8.6: none, or that of the 200 */
}

static void write_out(struct exchange *e, int status, struct slice body)
{
    static h2o_generator_t nothing_more = {NULL, NULL};
    h2o_req_t *req = e->req;
    h2o_iovec_t bytes = h2o_iovec_init(body.p, body.n);
    bool is_head = h2o_memis(req->input.method.base, req->input.method.len, H2O_STRLIT("HEAD"));
    req->res.status = status;
    req->res.reason = reason_of(status);
    req->res.content_length = has_no_length(status) ? SIZE_MAX : body.n;
    e->is_answered = true;
    timer_start(e->connection->thread->loop, &e->write_deadline,
                e->connection->thread->port->write_timeout_ms);
    h2o_start_response(req, &nothing_more);
    h2o_send(req, &bytes, is_head || body.n == 0 ? 0 : 1, H2O_SEND_STATE_FINAL);
}

void exchange_reply(struct exchange *e, const struct reply *reply, const struct header *extra,
                    size_t n_extra)
{
    add_headers(e, reply);
    for (size_t i = 0; i < n_extra; i++) {
        add(e->req, extra[i].name, extra[i].value);
    }
    write_out(e, reply->status, reply->content_type.p ? reply->body : SLICE_NONE);
}

void exchange_reply_empty(struct exchange *e, int status, const struct header *extra,
                          size_t n_extra)
{
    exchange_reply(e, &(struct reply){.status = status, .retry_after_ms = -1}, extra, n_extra);
}

void exchange_reply_text(struct exchange *e, int status, struct slice content_type,
                         struct slice body)
{
    exchange_reply(
        e,
        &(struct reply){
            .status = status, .content_type = content_type, .body = body, .retry_after_ms = -1},
        NULL, 0);
}

void exchange_wait(struct exchange *e)
{
    if (!connection_watch(e->connection)) {
        exchange_abandon(e);
    }
}

void exchange_abandon(struct exchange *e)
{
    end_once(e);
    e->req->http1_is_persistent = 0;
    shutdown(h2o_socket_get_fd(e->connection->socket), SHUT_RDWR); /* not even a status line */
    write_out(e, 503, SLICE_NONE);                                 /* makes libh2o tear down */
}

struct slice exchange_copy(struct exchange *e, struct slice bytes)
{
    return (struct slice){h2o_strdup(&e->req->pool, bytes.p, bytes.n).base, bytes.n};
}
