/* SPDX-License-Identifier: Apache-2.0 */
/* The door over real loopback sockets, with a pipeline that the test holds in its hand. */
#include "service/http/server.h"

#include "service/base/clock.h"
#include "service/base/mem.h"
#include "tests/unit/service/http/fake_gate.h"
#include "tests/unit/service/http/http_client.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

TestSuite(server, .timeout = 60);

#define HOST "Host: kb.example\r\n"
#define POST_MCP "POST /mcp HTTP/1.1\r\n" HOST
#define LENGTH(n) "Content-Length: " #n "\r\n\r\n"
#define REFUSED "\"code\":-32600"

struct fixture {
    struct gate *gate;
    struct http_server *server;
    uint16_t port, admin_port;
};

static struct http_options default_options(void)
{
    static const struct slice HOSTS[] = {{"kb.example", 10}};
    static const struct slice ORIGINS[] = {{"https://app.example", 19}};
    return (struct http_options){.host = "127.0.0.1",
                                 .admin_host = "127.0.0.1",
                                 .n_threads = 2,
                                 .max_body_bytes = 1000,
                                 .max_connections = 100,
                                 .max_in_flight = 100,
                                 .deadline_ms = 20000,
                                 .write_timeout_ms = 20000,
                                 .hosts = HOSTS,
                                 .n_hosts = 1,
                                 .origins = ORIGINS,
                                 .n_origins = 1};
}

static struct fixture start_with(const struct http_options *options)
{
    struct err_detail detail = {""};
    struct fixture f = {.gate = fake_gate_new()};
    f.server = http_server_start(options, f.gate, &detail);
    cr_assert(f.server, "%s", detail.text);
    f.port = http_server_port(f.server);
    f.admin_port = http_server_admin_port(f.server);
    return f;
}

static struct fixture start(void)
{
    struct http_options options = default_options();
    return start_with(&options);
}

static void stop(struct fixture *f)
{
    http_server_stop(f->server, 0);
    fake_gate_free(f->gate);
}

static void assert_answer(const struct response *r, int status, const char *in_body,
                          const char *what)
{
    cr_assert_eq(r->status, status, "%s: %d %s", what, r->status, r->text);
    cr_assert(strstr(r->body, in_body), "%s: %s", what, r->text);
}

static void assert_has(const struct response *r, const char *name, const char *value)
{
    const char *found = response_header(r, name);
    cr_assert(found, "%s in %s", name, r->text);
    cr_assert_str_eq(found, value);
}

static void assert_lacks(const struct response *r, const char *name)
{
    cr_assert_null(response_header(r, name), "%s in %s", name, r->text);
}

Test(server, answers_what_needs_no_token)
{
    static const struct {
        const char *request;
        int status;
        const char *in_body, *allow;
    } CASES[] = {
        {"GET /mcp HTTP/1.1\r\n" HOST "\r\n", 405, "", "POST"},
        {"DELETE /mcp/ HTTP/1.1\r\n" HOST "\r\n", 405, "", "POST"},
        {"HEAD /mcp HTTP/1.1\r\n" HOST "\r\n", 405, "", "POST"},
        {"PUT /v1/search HTTP/1.1\r\n" HOST LENGTH(0), 405, "", "GET, POST"},
        {"GET / HTTP/1.1\r\n" HOST "\r\n", 404, "", NULL},
        {"GET /livez HTTP/1.1\r\n" HOST "\r\n", 404, "", NULL},
        {"GET /metrics HTTP/1.1\r\n" HOST "\r\n", 404, "", NULL},
        {"GET /.well-known/oauth-protected-resource HTTP/1.1\r\nHost: evil\r\n\r\n", 200,
         "{\"resource\":\"x\"}", NULL},
        {"GET /.well-known/oauth-protected-resource/mcp HTTP/1.1\r\n" HOST "\r\n", 200,
         "{\"resource\":\"x\"}", NULL},
        {"POST /mcp HTTP/1.1\r\nHost: evil\r\n" LENGTH(0), 403, REFUSED, NULL},
        {"POST /mcp HTTP/1.1\r\n" LENGTH(0), 400, REFUSED, NULL},
        {POST_MCP "Origin: https://evil\r\n" LENGTH(0), 403, REFUSED, NULL},
        {POST_MCP "Origin: null\r\n" LENGTH(0), 403, REFUSED, NULL},
        {POST_MCP HOST LENGTH(0), 400, REFUSED, NULL},
        {"POST * HTTP/1.1\r\n" HOST LENGTH(0), 404, "", NULL},
    };
    struct fixture f = start();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct response r = client_ask(f.port, CASES[i].request);
        assert_answer(&r, CASES[i].status, CASES[i].in_body, CASES[i].request);
        cr_assert_eq(r.n_body == 0, CASES[i].in_body[0] == '\0', "%s", CASES[i].request);
        cr_assert_null(strstr(r.text, "\"id\""));
        if (CASES[i].allow) {
            assert_has(&r, "allow", CASES[i].allow);
        }
        assert_has(&r, "x-content-type-options", "nosniff");
        cr_assert(response_header(&r, "content-length"));
        assert_lacks(&r, "server");
        response_done(&r);
    }
    cr_assert_eq(fake_gate_begun(f.gate), 0, "none of these reaches the pipeline");
    stop(&f);
}

Test(server, hands_the_request_to_the_pipeline)
{
    static const struct {
        const char *request, *described;
    } CASES[] = {
        {POST_MCP "Authorization: Bearer a\r\nContent-Type: application/json\r\n"
                  "Accept: application/json\r\nMCP-Protocol-Version: 2025-11-25\r\n"
                  "Mcp-Method: tools/call\r\nMcp-Name: search_kb\r\n" LENGTH(5) "hello",
         "surface=0 get=0 query= auth=Bearer a/1 type=application/json accept=application/json "
         "inm=(none) version=2025-11-25 method=tools/call name=search_kb body=hello"},
        {"GET /v1/search?q=a%20b&top_k=3 HTTP/1.1\r\n" HOST "If-None-Match: \"e\"\r\n\r\n",
         "surface=1 get=1 query=q=a%20b&top_k=3 auth=(none)/0 type=(none) accept=(none) inm=\"e\" "
         "version=(none) method=(none) name=(none) body="},
        {"POST /v1/search HTTP/1.1\r\n" HOST LENGTH(2) "{}",
         "surface=1 get=0 query= auth=(none)/0 type=(none) accept=(none) inm=(none) "
         "version=(none) method=(none) name=(none) body={}"},
        {"POST /mcp/?access_token=x HTTP/1.1\r\n" HOST
         "Authorization: Bearer a\r\nAuthorization: Bearer b\r\nAccept: text/event-stream\r\n"
         "Accept: application/json\r\n\r\n",
         "surface=0 get=0 query=access_token=x auth=Bearer a/2 type=(none) "
         "accept=text/event-stream, application/json inm=(none) version=(none) "
         "method=(none) name=(none) body="},
    };
    struct fixture f = start();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct response r = client_ask(f.port, CASES[i].request);
        cr_assert_eq(r.status, 200, "%s", r.text);
        cr_assert_str_eq(r.body, CASES[i].described);
        response_done(&r);
    }
    stop(&f);
}

Test(server, writes_the_fields_of_a_reply)
{
    struct fixture f = start();
    struct response r = client_ask(f.port, POST_MCP LENGTH(4) "full");
    assert_answer(&r, 429, "{}", "full");
    cr_assert(strstr(r.text, "HTTP/1.1 429 Too Many Requests\r\n"));
    assert_has(&r, "content-type", "application/json");
    assert_has(&r, "content-length", "2");
    assert_has(&r, "www-authenticate", "Bearer x");
    assert_has(&r, "etag", "\"e\"");
    assert_has(&r, "cache-control", "private, no-cache");
    assert_has(&r, "vary", "Authorization");
    assert_has(&r, "retry-after", "2");
    assert_has(&r, "x-request-id", "r-1");
    assert_lacks(&r, "access-control-allow-origin");
    response_done(&r);

    r = client_ask(f.port, POST_MCP LENGTH(5) "empty");
    assert_answer(&r, 202, "", "empty");
    assert_has(&r, "content-length", "0");
    assert_has(&r, "retry-after", "0");
    assert_lacks(&r, "content-type");
    assert_lacks(&r, "cache-control");
    assert_lacks(&r, "etag");
    response_done(&r);

    r = client_ask(f.port, POST_MCP LENGTH(3) "304");
    assert_answer(&r, 304, "", "304");
    assert_has(&r, "etag", "\"e\"");
    assert_lacks(&r, "content-length");
    response_done(&r);
    stop(&f);
}

#define SERVED_ORIGIN "Origin: https://app.example\r\n"

Test(server, cors_headers_go_to_served_origins_only_and_on_errors_too)
{
    static const struct {
        const char *request;
        int status;
        bool has_cors;
    } CASES[] = {
        {POST_MCP SERVED_ORIGIN LENGTH(2) "hi", 200, true},
        {POST_MCP SERVED_ORIGIN LENGTH(4) "full", 429, true},
        {"GET /none HTTP/1.1\r\n" HOST SERVED_ORIGIN "\r\n", 404, true},
        {"GET /mcp HTTP/1.1\r\n" HOST SERVED_ORIGIN "\r\n", 405, true},
        {"GET /mcp HTTP/1.1\r\nHost: evil\r\n" SERVED_ORIGIN "\r\n", 403, true},
        {POST_MCP "Origin: https://evil\r\n" LENGTH(0), 403, false},
        {POST_MCP SERVED_ORIGIN SERVED_ORIGIN LENGTH(0), 403, false},
        {POST_MCP LENGTH(2) "hi", 200, false},
    };
    struct fixture f = start();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        struct response r = client_ask(f.port, CASES[i].request);
        assert_answer(&r, CASES[i].status, "", CASES[i].request);
        if (CASES[i].has_cors) {
            assert_has(&r, "access-control-allow-origin", "https://app.example");
            assert_has(&r, "access-control-expose-headers", "WWW-Authenticate, Retry-After");
        } else {
            assert_lacks(&r, "access-control-allow-origin");
        }
        response_done(&r);
    }
    stop(&f);
}

Test(server, preflight_is_answered_before_everything_but_origin_and_host)
{
    struct fixture f = start();
    struct response r = client_ask(f.port, "OPTIONS /mcp HTTP/1.1\r\n" HOST SERVED_ORIGIN
                                           "Access-Control-Request-Method: POST\r\n\r\n");
    assert_answer(&r, 204, "", "preflight");
    assert_has(&r, "access-control-allow-origin", "https://app.example");
    assert_has(&r, "access-control-allow-methods", "GET, POST");
    assert_has(&r, "access-control-allow-headers",
               "Authorization, Content-Type, Accept, MCP-Protocol-Version, Mcp-Method, Mcp-Name");
    response_done(&r);
    r = client_ask(f.port, "OPTIONS /mcp HTTP/1.1\r\n" HOST "Origin: https://evil\r\n\r\n");
    assert_answer(&r, 403, REFUSED, "evil");
    assert_lacks(&r, "access-control-allow-headers");
    response_done(&r);
    cr_assert_eq(fake_gate_begun(f.gate), 0);
    stop(&f);
}

Test(server, late_answers_reach_the_right_connection)
{
    enum { N = 8 };
    struct fixture f = start();
    struct client clients[N];
    for (int i = 0; i < N; i++) {
        char request[200];
        snprintf(request, sizeof(request), POST_MCP LENGTH(5) "wait%d", i);
        clients[i] = client_open(f.port);
        client_send(&clients[i], request);
    }
    fake_gate_await_waiting(f.gate, N);
    fake_gate_release(f.gate);
    for (int i = 0; i < N; i++) {
        char expected[32];
        snprintf(expected, sizeof(expected), "body=wait%d", i);
        struct response r = client_read(&clients[i]);
        assert_answer(&r, 200, expected, "late");
        response_done(&r);
        client_close(&clients[i]);
    }
    stop(&f);
}

Test(server, keeps_the_connection_for_sync_and_late_answers_alike)
{
    static const char *const BODIES[] = {"one1", "wait", "two2", "wait", "full"};
    struct fixture f = start();
    struct client c = client_open(f.port);
    fake_gate_release(f.gate);
    for (size_t i = 0; i < sizeof(BODIES) / sizeof(BODIES[0]); i++) {
        client_send(&c, POST_MCP LENGTH(4));
        client_send(&c, BODIES[i]);
        struct response r = client_read(&c);
        cr_assert_neq(r.status, 0, "closed at %zu", i);
        assert_has(&r, "connection", "keep-alive");
        response_done(&r);
    }
    client_close(&c);
    stop(&f);
}

Test(server, pipelined_requests_are_answered_in_order)
{
    struct fixture f = start();
    struct client c = client_open(f.port);
    client_send(&c, POST_MCP LENGTH(4) "wait" POST_MCP LENGTH(3) "two"
                                                                 "GET /none HTTP/1.1\r\n" HOST
                                                                 "\r\n" POST_MCP LENGTH(4) "four");
    fake_gate_await_waiting(f.gate, 1);
    cr_assert_eq(fake_gate_begun(f.gate), 1, "the second waits for the first");
    fake_gate_release(f.gate);
    static const struct {
        int status;
        const char *in_body;
    } EXPECTED[] = {{200, "body=wait"}, {200, "body=two"}, {404, ""}, {200, "body=four"}};
    for (size_t i = 0; i < 4; i++) {
        struct response r = client_read(&c);
        assert_answer(&r, EXPECTED[i].status, EXPECTED[i].in_body, "pipelined");
        response_done(&r);
    }
    client_close(&c);
    stop(&f);
}

Test(server, a_body_over_the_cap_gets_413_and_the_cap_itself_does_not)
{
    static const struct {
        size_t n;
        int status;
    } CASES[] = {{999, 200}, {1000, 200}, {1001, 413}, {2000, 413}, {100000, 413}};
    struct fixture f = start();
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        char head[200], *body = mem_alloc(CASES[i].n);
        struct client c = client_open(f.port);
        memset(body, 'x', CASES[i].n);
        snprintf(head, sizeof(head), POST_MCP "Content-Length: %zu\r\n\r\n", CASES[i].n);
        client_send(&c, head);
        struct response r;
        if (CASES[i].n > 2000) {
            r = client_read(&c); /* refused by its length */
        } else {
            client_send_n(&c, body, CASES[i].n);
            r = client_read(&c);
            assert_answer(&r, CASES[i].status, CASES[i].status == 413 ? REFUSED : "body=x", "cap");
        }
        cr_assert_eq(r.status, CASES[i].status, "%zu", CASES[i].n);
        response_done(&r);
        client_close(&c);
        free(body);
    }
    cr_assert_eq(fake_gate_begun(f.gate), 2);
    stop(&f);
}

Test(server, a_chunked_body_is_decoded_and_the_connection_closed_after_it)
{
    struct fixture f = start();
    struct client c = client_open(f.port);
    client_send(&c, POST_MCP "Transfer-Encoding: chunked\r\n\r\n2\r\nhe\r\n3\r\nllo\r\n0\r\n\r\n");
    struct response r = client_read(&c);
    assert_answer(&r, 200, "body=hello", "chunked");
    assert_has(&r, "connection", "close");
    response_done(&r);
    cr_assert(client_is_closed(&c));
    client_close(&c);
    stop(&f);
}

Test(server, heads_that_two_parsers_may_read_differently_are_refused_and_closed)
{
    static const char *const HEADS[] = {
        POST_MCP "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        POST_MCP "Content-Length: 4\r\nContent-Length: 5\r\n\r\nabcd",
        POST_MCP "Content-Length: +3\r\n\r\nabc",
        POST_MCP "Content-Length: 3, 3\r\n\r\nabc",
        POST_MCP "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n",
        POST_MCP "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n",
        "POST /mcp HTTP/1.0\r\n" HOST "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "POST /mcp HTTP/1.1\nHost: kb.example\nContent-Length: 0\n\n",
        POST_MCP "Content-Length : 3\r\n\r\nabc",
        POST_MCP "X: a\r\n b\r\nContent-Length: 0\r\n\r\n",
        POST_MCP HOST LENGTH(0),
        "POST /mcp HTTP/1.1\r\n" LENGTH(0),
        "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    };
    struct fixture f = start();
    for (size_t i = 0; i < sizeof(HEADS) / sizeof(HEADS[0]); i++) {
        struct client c = client_open(f.port);
        client_send(&c, HEADS[i]);
        struct response r = client_read(&c);
        cr_assert_eq(r.status, 400, "%s -> %s", HEADS[i], r.text);
        assert_has(&r, "connection", "close");
        response_done(&r);
        cr_assert(client_is_closed(&c), "%s", HEADS[i]);
        client_close(&c);
    }
    cr_assert_eq(fake_gate_begun(f.gate), 0);
    stop(&f);
}

Test(server, a_head_over_32_KiB_gets_431)
{
    struct fixture f = start();
    struct client c = client_open(f.port);
    char *value = mem_alloc(33 * 1024);
    memset(value, 'v', 33 * 1024 - 1);
    client_send(&c, POST_MCP "X: ");
    client_send(&c, value);
    client_send(&c, "\r\n" LENGTH(0));
    struct response r = client_read(&c);
    assert_answer(&r, 431, REFUSED, "large head");
    response_done(&r);
    cr_assert(client_is_closed(&c));
    client_close(&c);
    free(value);
    stop(&f);
}

Test(server, over_the_in_flight_cap_there_is_503_and_room_again_after_an_answer)
{
    struct http_options options = default_options();
    options.max_in_flight = 2;
    struct fixture f = start_with(&options);
    struct client a = client_open(f.port), b = client_open(f.port);
    client_send(&a, POST_MCP LENGTH(4) "wait");
    client_send(&b, POST_MCP LENGTH(4) "wait");
    fake_gate_await_waiting(f.gate, 2);
    struct response r = client_ask(f.port, POST_MCP LENGTH(2) "hi");
    assert_answer(&r, 503, "", "third");
    assert_has(&r, "retry-after", "1");
    response_done(&r);
    r = client_ask(f.port, "GET /none HTTP/1.1\r\n" HOST "\r\n");
    assert_answer(&r, 404, "", "needs no slot");
    response_done(&r);
    cr_assert_eq(fake_gate_begun(f.gate), 2);
    r = client_ask(f.admin_port, "GET /metrics HTTP/1.1\r\n\r\n");
    assert_answer(&r, 200, "\nkbgate_http_shed_total 1\n", "counted");
    response_done(&r);
    fake_gate_release(f.gate);
    r = client_read(&a);
    assert_answer(&r, 200, "body=wait", "a");
    response_done(&r);
    r = client_ask(f.port, POST_MCP LENGTH(2) "hi");
    assert_answer(&r, 200, "body=hi", "room again");
    response_done(&r);
    client_close(&a);
    client_close(&b);
    stop(&f);
}

Test(server, over_the_connection_cap_new_connections_are_closed)
{
    struct http_options options = default_options();
    options.max_connections = 2;
    struct fixture f = start_with(&options);
    struct client a = client_open(f.port), b = client_open(f.port);
    client_send(&a, POST_MCP LENGTH(4) "wait");
    client_send(&b, POST_MCP LENGTH(4) "wait");
    fake_gate_await_waiting(f.gate, 2);
    struct client c = client_open(f.port);
    cr_assert(client_is_closed(&c));
    client_close(&c);
    struct response m = client_ask(f.admin_port, "GET /metrics HTTP/1.1\r\n\r\n");
    assert_answer(&m, 200, "\nkbgate_http_connections 2\n", "open");
    assert_answer(&m, 200, "\nkbgate_http_connections_refused_total 1\n", "refused");
    response_done(&m);
    client_close(&a);
    fake_gate_await_cancelled(f.gate, 1);
    for (bool served = false; !served;) { /* the close is counted a moment after the cancel */
        struct client d = client_open(f.port);
        client_send(&d, POST_MCP LENGTH(2) "hi");
        struct response r = client_read(&d);
        served = r.status == 200;
        response_done(&r);
        client_close(&d);
    }
    client_close(&b);
    fake_gate_await_cancelled(f.gate, 2);
    stop(&f);
}

Test(server, a_client_that_leaves_cancels_its_request)
{
    struct fixture f = start();
    struct client gone = client_open(f.port), half = client_open(f.port),
                  stays = client_open(f.port), reset = client_open(f.port);
    client_send(&gone, POST_MCP LENGTH(4) "wait");
    client_send(&half, POST_MCP LENGTH(4) "wait");
    client_send(&reset, POST_MCP LENGTH(4) "wait");
    client_send(&stays, POST_MCP LENGTH(4) "wait");
    fake_gate_await_waiting(f.gate, 4);
    client_close(&gone);
    fake_gate_await_cancelled(f.gate, 1);
    shutdown(half.fd, SHUT_WR);
    fake_gate_await_cancelled(f.gate, 2);
    cr_assert(client_is_closed(&half), "nothing is sent to it");
    client_close(&half);
    struct linger at_once = {.l_onoff = 1};
    setsockopt(reset.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    client_close(&reset);
    fake_gate_await_cancelled(f.gate, 3);
    fake_gate_release(f.gate);
    struct response r = client_read(&stays);
    assert_answer(&r, 200, "body=wait", "stays");
    response_done(&r);
    client_close(&stays);
    cr_assert_eq(fake_gate_cancelled(f.gate), 3);
    stop(&f);
}

Test(server, leaving_is_noticed_on_a_reused_connection_and_with_bytes_pipelined_behind)
{
    struct fixture f = start();
    struct client c = client_open(f.port);
    client_send(&c, POST_MCP LENGTH(2) "hi");
    struct response r = client_read(&c);
    response_done(&r);
    client_send(&c, POST_MCP LENGTH(4) "wait" POST_MCP LENGTH(2) "hi");
    fake_gate_await_waiting(f.gate, 1);
    client_close(&c);
    fake_gate_await_cancelled(f.gate, 1);
    cr_assert_eq(fake_gate_begun(f.gate), 2, "the request behind it is not begun");
    stop(&f);
}

Test(server, having_left_before_the_request_waits_is_noticed_too)
{
    struct fixture f = start();
    for (int i = 0; i < 50; i++) {
        struct client c = client_open(f.port);
        client_send(&c, POST_MCP LENGTH(4) "wait");
        client_close(&c);
        fake_gate_await_cancelled(f.gate, (size_t)i + 1);
    }
    stop(&f);
}

Test(server, a_client_that_does_not_read_is_cut)
{
    struct http_options options = default_options();
    options.write_timeout_ms = 200;
    struct fixture f = start_with(&options);
    struct client c = client_open(f.port);
    client_send(&c, POST_MCP LENGTH(3) "big");
    fake_gate_await_begun(f.gate, 1);
    int64_t before_ms = clock_mono_ms();
    http_server_stop(f.server, 30000); /* ends when the connection does */
    cr_assert_lt(clock_mono_ms() - before_ms, 20000);
    fake_gate_free(f.gate);
    struct response r = client_read(&c);
    cr_assert_lt(r.n_body, FAKE_BIG_BYTES);
    response_done(&r);
    client_close(&c);
}

Test(server, a_large_answer_arrives_whole)
{
    struct fixture f = start();
    struct response r = client_ask(f.port, POST_MCP LENGTH(3) "big");
    cr_assert_eq(r.status, 200);
    cr_assert_eq(r.n_body, FAKE_BIG_BYTES);
    response_done(&r);
    stop(&f);
}

Test(server, a_request_that_does_not_come_whole_is_cut_at_the_deadline)
{
    struct http_options options = default_options();
    options.deadline_ms = 150;
    struct fixture f = start_with(&options);
    struct client head = client_open(f.port), body = client_open(f.port);
    client_send(&head, POST_MCP);
    client_send(&body, POST_MCP LENGTH(9) "part");
    cr_assert(client_is_closed(&head));
    cr_assert(client_is_closed(&body));
    client_close(&head);
    client_close(&body);
    cr_assert_eq(fake_gate_begun(f.gate), 0);
    stop(&f);
}

struct stopper {
    struct http_server *server;
    int64_t drain_ms;
};

static void *stop_server(void *arg)
{
    struct stopper *s = arg;
    http_server_stop(s->server, s->drain_ms);
    return NULL;
}

Test(server, stop_lets_requests_in_flight_finish_and_refuses_new_ones)
{
    struct fixture f = start();
    struct client busy = client_open(f.port), idle = client_open(f.port),
                  fresh = client_open(f.port);
    pthread_t thread;
    struct stopper stopper = {f.server, 30000};
    client_send(&idle, POST_MCP LENGTH(2) "hi");
    struct response r = client_read(&idle);
    response_done(&r);
    client_send(&busy, POST_MCP LENGTH(4) "wait");
    fake_gate_await_waiting(f.gate, 1);
    pthread_create(&thread, NULL, stop_server, &stopper);
    cr_assert(client_is_closed(&idle), "at once, not at the deadline");
    cr_assert(client_is_closed(&fresh));
    r = client_ask(f.admin_port, "GET /livez HTTP/1.1\r\n\r\n");
    assert_answer(&r, 200, "ok\n", "alive while draining");
    response_done(&r);
    fake_gate_release(f.gate);
    r = client_read(&busy);
    assert_answer(&r, 200, "body=wait", "in flight");
    assert_has(&r, "connection", "close");
    response_done(&r);
    cr_assert(client_is_closed(&busy));
    pthread_join(thread, NULL);
    cr_assert_eq(fake_gate_cancelled(f.gate), 0);
    fake_gate_free(f.gate);
    client_close(&busy);
    client_close(&idle);
    client_close(&fresh);
}

Test(server, stop_lets_a_request_that_is_arriving_come_whole)
{
    struct http_options options = default_options();
    options.n_threads = 1;
    struct fixture f = start_with(&options);
    struct client arriving = client_open(f.port), idle = client_open(f.port);
    pthread_t thread;
    struct stopper stopper = {f.server, 30000};
    client_send(&arriving, POST_MCP "Expect: 100-continue\r\n" LENGTH(5));
    struct response r = client_read(&arriving);
    cr_assert_eq(r.status, 100, "the head was read");
    response_done(&r);
    pthread_create(&thread, NULL, stop_server, &stopper);
    cr_assert(client_is_closed(&idle), "draining has begun");
    client_send(&arriving, "hello");
    r = client_read(&arriving);
    assert_answer(&r, 200, "body=hello", "arriving");
    assert_has(&r, "connection", "close");
    response_done(&r);
    pthread_join(thread, NULL);
    fake_gate_free(f.gate);
    client_close(&arriving);
    client_close(&idle);
}

Test(server, stop_cancels_what_is_in_flight_after_the_drain_time)
{
    struct fixture f = start();
    struct client waits = client_open(f.port), partial = client_open(f.port);
    client_send(&partial, POST_MCP LENGTH(9) "part");
    client_send(&waits, POST_MCP LENGTH(4) "wait");
    fake_gate_await_waiting(f.gate, 1);
    http_server_stop(f.server, 50);
    cr_assert_eq(fake_gate_cancelled(f.gate), 1);
    cr_assert(client_is_closed(&waits));
    cr_assert(client_is_closed(&partial));
    fake_gate_free(f.gate);
    client_close(&waits);
    client_close(&partial);
    http_server_stop(NULL, 0);
}

Test(server, admin_port_shows_state_and_changes_nothing)
{
    static const struct {
        const char *request;
        int status;
        const char *body;
    } READY[] =
        {
            {"GET /livez HTTP/1.1\r\n\r\n", 200, "ok\n"},
            {"GET /livez HTTP/1.1\r\nHost: 10.0.0.7:9090\r\nOrigin: https://evil\r\n\r\n", 200,
             "ok\n"},
            {"GET /readyz HTTP/1.1\r\n\r\n", 200, "ok\n"},
            {"GET /readyz?verbose HTTP/1.1\r\n\r\n", 200, "ok store\n"},
            {"POST /metrics HTTP/1.1\r\nContent-Length: 0\r\n\r\n", 405, ""},
            {"GET /mcp HTTP/1.1\r\n\r\n", 404, ""},
        },
      DRAINING[] = {
          {"GET /readyz HTTP/1.1\r\n\r\n", 503, "not ready\n"},
          {"GET /readyz?verbose HTTP/1.1\r\n\r\n", 503, "failed store\n"},
          {"GET /livez HTTP/1.1\r\n\r\n", 200, "ok\n"},
      };
    struct fixture f = start();
    for (size_t i = 0; i < sizeof(READY) / sizeof(READY[0]); i++) {
        struct response r = client_ask(f.admin_port, READY[i].request);
        cr_assert_eq(r.status, READY[i].status, "%s", READY[i].request);
        cr_assert_str_eq(r.body, READY[i].body);
        response_done(&r);
    }
    struct response r = client_ask(f.admin_port, "GET /metrics HTTP/1.1\r\n\r\n");
    assert_answer(&r, 200,
                  "kb_up 1\n"
                  "# TYPE kbgate_http_connections gauge\nkbgate_http_connections 0\n"
                  "# TYPE kbgate_http_connections_refused_total counter\n"
                  "kbgate_http_connections_refused_total 0\n"
                  "# TYPE kbgate_http_shed_total counter\nkbgate_http_shed_total 0\n",
                  "metrics");
    assert_has(&r, "content-type", "text/plain; version=0.0.4");
    response_done(&r);
    fake_gate_set_ready(f.gate, false);
    for (size_t i = 0; i < sizeof(DRAINING) / sizeof(DRAINING[0]); i++) {
        r = client_ask(f.admin_port, DRAINING[i].request);
        cr_assert_eq(r.status, DRAINING[i].status, "%s", DRAINING[i].request);
        cr_assert_str_eq(r.body, DRAINING[i].body);
        response_done(&r);
    }
    stop(&f);
}

Test(server, livez_finds_a_loop_that_hangs_and_sees_it_recover)
{
    struct fixture f = start();
    struct client c = client_open(f.port);
    client_send(&c, POST_MCP LENGTH(5) "block");
    fake_gate_await_waiting(f.gate, 1);
    struct response r = client_ask(f.admin_port, "GET /livez HTTP/1.1\r\n\r\n");
    cr_assert_eq(r.status, 503);
    response_done(&r);
    fake_gate_release(f.gate);
    r = client_read(&c);
    cr_assert_eq(r.status, 200);
    response_done(&r);
    r = client_ask(f.admin_port, "GET /livez HTTP/1.1\r\n\r\n");
    assert_answer(&r, 200, "ok\n", "again");
    response_done(&r);
    client_close(&c);
    stop(&f);
}

Test(server, a_probe_that_leaves_is_forgotten)
{
    struct fixture f = start();
    struct client c = client_open(f.port), probe = client_open(f.admin_port);
    client_send(&c, POST_MCP LENGTH(5) "block");
    fake_gate_await_waiting(f.gate, 1);
    client_send(&probe, "GET /livez HTTP/1.1\r\n\r\n");
    client_close(&probe);
    struct response r = client_ask(f.admin_port, "GET /livez HTTP/1.1\r\n\r\n");
    cr_assert_eq(r.status, 503);
    response_done(&r);
    fake_gate_release(f.gate);
    r = client_ask(f.admin_port, "GET /livez HTTP/1.1\r\n\r\n");
    cr_assert_eq(r.status, 200);
    response_done(&r);
    client_close(&c);
    stop(&f);
}

Test(server, an_address_in_use_is_named_and_nothing_stays_open)
{
    struct fixture f = start();
    struct http_options options = default_options();
    struct err_detail detail = {""};
    char expected[200];
    options.port = f.port;
    cr_assert_null(http_server_start(&options, f.gate, &detail));
    snprintf(expected, sizeof(expected),
             "listen 127.0.0.1:%u: Address already in use; stop the other process or choose "
             "another listen:",
             f.port);
    cr_assert_str_eq(detail.text, expected);
    options.port = 0;
    options.admin_port = f.admin_port;
    cr_assert_null(http_server_start(&options, f.gate, &detail));
    cr_assert(strstr(detail.text, "admin_listen 127.0.0.1:"), "%s", detail.text);
    stop(&f);
}

Test(server, an_address_that_does_not_exist_is_named)
{
    struct http_options options = default_options();
    struct err_detail detail = {""};
    options.host = "203.0.113.7"; /* RFC 5737: nobody's */
    cr_assert_null(http_server_start(&options, NULL, &detail));
    cr_assert(strstr(detail.text, "listen 203.0.113.7:0: "), "%s", detail.text);
    options.host = "::ffff:203.0.113.7";
    cr_assert_null(http_server_start(&options, NULL, &detail));
    cr_assert(strstr(detail.text, "listen [::ffff:203.0.113.7]:0: "), "%s", detail.text);
}
