/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/mem.h"
#include "service/loop/curl_loop.h"
#include "tests/unit/service/loop/names.h"
#include "tests/unit/service/loop/stub_server.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { CAP = 64 * 1024, LONG_MS = 20000 };

static struct stub_server server, other; /* other: must never be asked */
static struct loop *loop;
static struct curl_loop *client;

static void open_both(void)
{
    stub_open(&server);
    stub_open(&other);
    loop = loop_new();
    client = curl_loop_new(loop, &(struct curl_loop_options){.plain_http = true});
}

static void close_both(void)
{
    curl_loop_free(client);
    loop_free(loop);
    cr_expect_eq(other.n_connections, 0, "a request went where it must not");
    stub_close(&server);
    stub_close(&other);
}

TestSuite(curl_loop, .init = open_both, .fini = close_both, .timeout = 60);

/* One request and its end. */
struct call {
    struct op op; /* first */
    struct curl_response *response;
    unsigned done;
    struct call *cancels; /* when this one is done */
};

static unsigned running;

static void on_done(struct op *op)
{
    struct call *c = (struct call *)op;
    c->done++;
    if (c->cancels && c->cancels->op.active) {
        op_cancel(&c->cancels->op);
        running--;
    }
    if (--running == 0) {
        loop_stop(loop);
    }
}

static void start_request(struct call *c, struct curl_request *request, const char *path)
{
    char url[256];
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", server.port, path);
    request->url = request->url ? request->url : url;
    request->max_body_bytes = request->max_body_bytes ? request->max_body_bytes : CAP;
    request->deadline_ms = request->deadline_ms ? request->deadline_ms : LONG_MS;
    *c = (struct call){.op.on_done = on_done};
    running++;
    curl_loop_start(client, request, &c->response, &c->op);
}

static void start(struct call *c)
{
    struct curl_request request = {0};
    start_request(c, &request, "/");
}

static void ask(struct call *c, struct curl_request request)
{
    start_request(c, &request, "/path?q=1");
    loop_run(loop);
    cr_assert_eq(c->done, 1);
    cr_assert_not_null(c->response);
}

static void expect_failure(struct curl_request request, enum err result, enum curl_failure failure)
{
    struct call c;
    ask(&c, request);
    cr_expect_eq(c.op.result, result);
    cr_expect_eq(c.response->failure, failure, "%s: %s", curl_failure_name(c.response->failure),
                 c.response->detail);
    curl_response_free(c.response);
}

static bool asked_with(const char *text)
{
    return strcasestr(server.last_request, text) != NULL;
}

Test(curl_loop, brings_status_fields_and_body)
{
    struct call c;
    stub_says(&server,
              "404 Not Found\r\nX-First: \t one two \r\nx-first: second\r\nEmpty:", "nope");
    ask(&c, (struct curl_request){0});
    cr_expect_eq(c.op.result, ERR_OK);
    cr_expect_eq(c.response->failure, CURL_FAILURE_NONE);
    cr_expect_eq(c.response->status, 404);
    cr_expect(slice_is(dynbuf_get(&c.response->body), "nope"));
    cr_expect(slice_is(curl_response_field(c.response, "X-FIRST"), "one two"));
    cr_expect(slice_is(curl_response_field(c.response, "empty"), ""));
    cr_expect_null(curl_response_field(c.response, "X-Fir").p);
    cr_expect_null(curl_response_field(c.response, "nope").p, "the body is no field");
    curl_response_free(c.response);
}

Test(curl_loop, asks_plainly)
{
    struct call c;
    ask(&c, (struct curl_request){0});
    cr_expect(slice_starts(slice_of(server.last_request), SLICE_LIT("GET /path?q=1 HTTP/1.1\r\n")));
    cr_expect(asked_with("\r\nHost: 127.0.0.1:"));
    cr_expect_not(asked_with("Accept-Encoding"), "the cap counts the bytes as they come");
    cr_expect_not(asked_with("Authorization"));
    cr_expect_not(asked_with("Cookie"));
    cr_expect_not(asked_with("Upgrade"));
    curl_response_free(c.response);
}

Test(curl_loop, sends_method_fields_and_body)
{
    const struct curl_field fields[] = {{SLICE_LIT("Content-Type"), SLICE_LIT("application/json")},
                                        {SLICE_LIT("X-Key"), SLICE_LIT("k")}};
    struct call c;
    ask(&c, (struct curl_request){.fields = fields, .n_fields = 2, .body = SLICE_LIT("{\"a\":1}")});
    cr_expect(slice_starts(slice_of(server.last_request), SLICE_LIT("POST ")));
    cr_expect(asked_with("\r\nContent-Type: application/json\r\n"));
    cr_expect(asked_with("\r\nX-Key: k\r\n"));
    cr_expect(asked_with("\r\n\r\n{\"a\":1}"));
    cr_expect_not(asked_with("Expect:"));
    curl_response_free(c.response);
    ask(&c, (struct curl_request){.method = "PUT", .body = SLICE_LIT("")});
    cr_expect(slice_starts(slice_of(server.last_request), SLICE_LIT("PUT ")));
    cr_expect(asked_with("Content-Length: 0"));
    curl_response_free(c.response);
    ask(&c, (struct curl_request){.method = "DELETE"});
    cr_expect(slice_starts(slice_of(server.last_request), SLICE_LIT("DELETE ")));
    curl_response_free(c.response);
}

Test(curl_loop, a_redirect_is_an_answer)
{
    char head[128];
    struct call c;
    (void)snprintf(head, sizeof(head), "302 Found\r\nLocation: http://127.0.0.1:%u/", other.port);
    stub_says(&server, head, "moved");
    ask(&c, (struct curl_request){0});
    cr_expect_eq(c.response->status, 302);
    cr_expect(slice_is(dynbuf_get(&c.response->body), "moved"));
    cr_expect_eq(server.n_requests, 1);
    curl_response_free(c.response);
}

Test(curl_loop, reads_no_proxy_variable)
{
    static const char *const NAMES[] = {"http_proxy",  "HTTP_PROXY", "https_proxy",
                                        "HTTPS_PROXY", "all_proxy",  "ALL_PROXY"};
    char proxy[64];
    struct call c;
    (void)snprintf(proxy, sizeof(proxy), "http://127.0.0.1:%u", other.port);
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        setenv(NAMES[i], proxy, 1);
    }
    setenv("no_proxy", "", 1);
    ask(&c, (struct curl_request){0});
    cr_expect_eq(c.response->status, 200);
    curl_response_free(c.response);
}

Test(curl_loop, reads_no_netrc)
{
    char folder[] = "/tmp/kbgate-test-XXXXXX", file[64];
    struct call c;
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(file, sizeof(file), "%s/.netrc", folder);
    int fd = open(file, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    cr_assert_gt(dprintf(fd, "machine 127.0.0.1 login canary password canary\n"), 0);
    close(fd);
    setenv("HOME", folder, 1);
    setenv("NETRC", file, 1);
    ask(&c, (struct curl_request){0});
    cr_expect_not(asked_with("Authorization"));
    curl_response_free(c.response);
    unlink(file);
    rmdir(folder);
}

Test(curl_loop, keeps_no_cookie)
{
    struct call c;
    stub_says(&server, "200 OK\r\nSet-Cookie: canary=1; Path=/", "x");
    for (int i = 0; i < 2; i++) {
        ask(&c, (struct curl_request){0});
        cr_expect_not(asked_with("Cookie"));
        curl_response_free(c.response);
    }
    cr_expect_eq(server.n_connections, 1, "the connection was kept");
}

static void fill(char *text, size_t n)
{
    memset(text, 'a', n);
    text[n] = '\0';
}

Test(curl_loop, caps_the_body)
{
    static char body[CAP + 2];
    for (size_t n = CAP - 1; n <= CAP + 1; n++) {
        bool fits = n <= CAP;
        fill(body, n);
        stub_says(&server, "200 OK", body);
        struct call c;
        ask(&c, (struct curl_request){0});
        cr_expect_eq(c.op.result, fits ? ERR_OK : ERR_BACKEND_DOWN);
        cr_expect_eq(c.response->failure, fits ? CURL_FAILURE_NONE : CURL_FAILURE_TOO_LARGE);
        cr_expect(!fits || c.response->body.n == n);
        curl_response_free(c.response);
    }
}

Test(curl_loop, caps_a_body_of_unannounced_length)
{
    static char text[CAP + 200];
    for (size_t n = CAP - 1; n <= CAP + 1; n++) {
        int head =
            snprintf(text, sizeof(text), "200 OK\r\nTransfer-Encoding: chunked\r\n\r\n%zx\r\n", n);
        memset(text + head, 'a', n);
        (void)strcpy(text + head + n, "\r\n0");
        stub_says(&server, text, NULL);
        struct call c;
        ask(&c, (struct curl_request){0});
        cr_expect_eq(c.response->failure, n <= CAP ? CURL_FAILURE_NONE : CURL_FAILURE_TOO_LARGE);
        cr_expect(c.response->body.n <= CAP);
        curl_response_free(c.response);
    }
}

Test(curl_loop, caps_the_head)
{
    static char head[CURL_LOOP_HEAD_MAX_BYTES + 64];
    const size_t around = sizeof("HTTP/1.1 200 OK\r\nX: \r\nContent-Length: 1\r\n\r\n") - 1;
    for (int over = -1; over <= 1; over++) {
        size_t n = (size_t)(CURL_LOOP_HEAD_MAX_BYTES + over) - around;
        (void)strcpy(head, "200 OK\r\nX: ");
        fill(head + strlen(head), n);
        stub_says(&server, head, "b");
        struct call c;
        ask(&c, (struct curl_request){0});
        cr_expect_eq(c.response->failure, over <= 0 ? CURL_FAILURE_NONE : CURL_FAILURE_TOO_LARGE,
                     "%d", over);
        curl_response_free(c.response);
    }
}

Test(curl_loop, a_slow_server_meets_the_deadline)
{
    stub_set(&server, &server.silent, true);
    expect_failure((struct curl_request){.deadline_ms = 500}, ERR_DEADLINE, CURL_FAILURE_TIMEOUT);
    cr_expect_eq(server.n_requests, 1);
}

Test(curl_loop, half_a_body_meets_the_deadline)
{
    stub_says(&server, "200 OK\r\nContent-Length: 10\r\n\r\nhalf", NULL);
    server.n_response -= 4; /* the blank line stub_says ends with */
    expect_failure((struct curl_request){.deadline_ms = 500}, ERR_DEADLINE, CURL_FAILURE_TIMEOUT);
}

Test(curl_loop, a_body_cut_short_is_no_answer)
{
    stub_says(&server, "200 OK\r\nContent-Length: 100\r\n\r\nhalf", NULL);
    stub_set(&server, &server.closes, true);
    expect_failure((struct curl_request){0}, ERR_BACKEND_DOWN, CURL_FAILURE_BROKEN);
}

Test(curl_loop, what_is_no_http_is_no_answer)
{
    (void)strcpy(server.response, "220 hello\r\n");
    server.n_response = strlen(server.response);
    stub_set(&server, &server.closes, true);
    expect_failure((struct curl_request){0}, ERR_BACKEND_DOWN, CURL_FAILURE_BROKEN);
}

Test(curl_loop, nobody_listens)
{
    struct stub_server gone;
    char url[64];
    stub_open(&gone);
    stub_close(&gone);
    (void)snprintf(url, sizeof(url), "http://127.0.0.1:%u/", gone.port);
    expect_failure((struct curl_request){.url = url}, ERR_BACKEND_DOWN, CURL_FAILURE_CONNECT);
}

Test(curl_loop, tls_with_a_server_that_has_none)
{
    char url[64];
    (void)snprintf(url, sizeof(url), "https://127.0.0.1:%u/", server.port);
    stub_set(&server, &server.closes, true);
    (void)strcpy(server.response, "plain text\r\n\r\n");
    struct call c;
    ask(&c, (struct curl_request){.url = url, .deadline_ms = 500});
    cr_expect_neq(c.op.result, ERR_OK);
    cr_expect_neq(c.response->failure, CURL_FAILURE_NONE);
    curl_response_free(c.response);
}

Test(curl_loop, asks_no_other_kind_of_url)
{
    static const char *const BAD[] = {"file:///etc/passwd",           "ftp://127.0.0.1/x",
                                      "gopher://127.0.0.1/",          "dict://127.0.0.1/",
                                      "http://ann:secret@127.0.0.1/", ""};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        expect_failure((struct curl_request){.url = BAD[i]}, ERR_BACKEND_DOWN, CURL_FAILURE_URL);
    }
}

Test(curl_loop, plain_http_only_where_it_was_asked_for)
{
    curl_loop_free(client);
    client = curl_loop_new(loop, &(struct curl_loop_options){.plain_http = false});
    expect_failure((struct curl_request){0}, ERR_BACKEND_DOWN, CURL_FAILURE_URL);
    cr_expect_eq(server.n_connections, 0);
}

/* Runs until the server saw a request, which then waits for its answer. */
static void on_nothing(struct timer *t)
{
    if (stub_count(&server, &server.n_requests)) {
        loop_stop(loop);
    } else {
        timer_start(loop, t, 1);
    }
}

static void run_until_asked(void)
{
    struct timer t = {.on_expired = on_nothing};
    timer_start(loop, &t, 1);
    loop_run(loop);
}

static void on_brief(struct timer *t)
{
    (void)t;
    loop_stop(loop);
}

/* libcurl begins a request when its first timeout comes. */
static void run_briefly(void)
{
    struct timer t = {.on_expired = on_brief};
    timer_start(loop, &t, 20);
    loop_run(loop);
}

Test(curl_loop, cancels_in_flight)
{
    struct call c, next;
    stub_set(&server, &server.silent, true);
    start(&c);
    run_until_asked();
    op_cancel(&c.op);
    running--;
    stub_wait(&server, &server.n_closed, 1); /* the connection cannot be used again */
    stub_says(&server, "200 OK", "after");
    start(&next);
    loop_run(loop);
    cr_expect(slice_is(dynbuf_get(&next.response->body), "after"));
    cr_expect_eq(c.done, 0);
    cr_expect_null(c.response);
    curl_response_free(next.response);
}

Test(curl_loop, cancels_before_anything_was_sent)
{
    struct call c, next;
    start(&c);
    op_cancel(&c.op);
    op_cancel(&c.op);
    running--;
    start(&next);
    loop_run(loop);
    cr_expect_eq(next.done, 1);
    cr_expect_eq(c.done, 0);
    cr_expect_null(c.response);
    curl_response_free(next.response);
}

Test(curl_loop, a_request_that_is_done_may_cancel_another)
{
    struct call a, b;
    start(&a);
    start(&b);
    a.cancels = &b;
    b.cancels = &a;
    loop_run(loop);
    cr_expect_eq(a.done + b.done, 1, "whichever came first cancelled the other");
    curl_response_free(a.response);
    curl_response_free(b.response);
}

Test(curl_loop, cancelling_does_not_wait_for_a_name)
{
    struct call c;
    struct curl_request request = {.url = "http://slow.test/"};
    names_init();
    start_request(&c, &request, "");
    run_briefly();
    sem_wait(&names_resolving);
    op_cancel(&c.op); /* would hang: nobody lets the name go on */
    running--;
    sem_post(&names_may_resolve);
    sem_wait(&names_resolved);
    cr_expect_eq(c.done, 0);
}

Test(curl_loop, nor_does_the_deadline)
{
    struct curl_request request = {.url = "http://slow.test/", .deadline_ms = 100};
    names_init();
    expect_failure(request, ERR_DEADLINE, CURL_FAILURE_TIMEOUT);
    sem_post(&names_may_resolve);
    sem_wait(&names_resolved);
}

Test(curl_loop, requests_in_flight_end_with_it)
{
    struct call c;
    stub_set(&server, &server.silent, true);
    start(&c);
    run_until_asked();
    curl_loop_free(client);
    client = NULL;
    cr_expect_eq(c.done, 0);
    cr_expect_not(c.op.active);
}

Test(curl_loop, many_at_once_share_few_connections)
{
    enum { N = 100, CONNECTIONS = 4 };
    static struct call calls[N];
    curl_loop_free(client);
    client = curl_loop_new(
        loop, &(struct curl_loop_options){.plain_http = true, .max_connections = CONNECTIONS});
    for (int i = 0; i < N; i++) {
        start(&calls[i]);
    }
    loop_run(loop);
    for (int i = 0; i < N; i++) {
        cr_expect_eq(calls[i].op.result, ERR_OK);
        cr_expect(slice_is(dynbuf_get(&calls[i].response->body), "hello"));
        curl_response_free(calls[i].response);
    }
    cr_expect_leq(server.n_connections, CONNECTIONS);
    cr_expect_eq(server.n_requests, N);
}
