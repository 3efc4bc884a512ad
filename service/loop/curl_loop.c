/* SPDX-License-Identifier: Apache-2.0 */
/* libcurl's multi_socket interface: it names the descriptors and the one timeout it waits for, the
 * loop calls back. libcurl's callbacks below only move bytes and watches; ops complete after
 * curl_multi_socket_action returned, so whatever an on_done does to other requests is safe. Every
 * option a published weakness of libcurl needs is off. */
#include "service/loop/curl_loop.h"

#include "service/base/mem.h"
#include "service/loop/watch.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>

enum { LINE_MAX_BYTES = 64 * 1024 };

/* A descriptor of libcurl's. */
struct curl_socket {
    struct watch watch;
    struct curl_loop *owner;
    struct curl_socket *next;
};

struct transfer {
    struct curl_loop *owner;
    CURL *easy;
    struct curl_slist *fields;
    struct curl_response *response;
    struct curl_response **ret_response;
    struct op *op;
    struct transfer *next;
};

struct curl_loop {
    struct loop *loop;
    CURLM *multi;
    struct timer timer;
    struct curl_socket *sockets;
    struct transfer *transfers;
    struct dynbuf ca_pem; /* empty: the system's */
    bool plain_http;
};

static void transfer_free(struct transfer *t)
{
    struct transfer **at = &t->owner->transfers;
    while (*at != t) {
        at = &(*at)->next;
    }
    *at = t->next;
    curl_multi_remove_handle(t->owner->multi, t->easy);
    curl_easy_cleanup(t->easy);
    curl_slist_free_all(t->fields);
    curl_response_free(t->response);
    free(t);
}

static void on_cancelled(void *work)
{
    transfer_free(work);
}

static enum curl_failure failure_of(CURLcode code)
{
    static const struct {
        CURLcode code;
        enum curl_failure failure;
    } ROWS[] = {
        {CURLE_OK, CURL_FAILURE_NONE},
        {CURLE_UNSUPPORTED_PROTOCOL, CURL_FAILURE_URL},
        {CURLE_URL_MALFORMAT, CURL_FAILURE_URL},
        {CURLE_LOGIN_DENIED, CURL_FAILURE_URL}, /* credentials in the URL */
        {CURLE_COULDNT_RESOLVE_HOST, CURL_FAILURE_CONNECT},
        {CURLE_COULDNT_CONNECT, CURL_FAILURE_CONNECT},
        {CURLE_SSL_CONNECT_ERROR, CURL_FAILURE_TLS},
        {CURLE_PEER_FAILED_VERIFICATION, CURL_FAILURE_TLS},
        {CURLE_SSL_CACERT_BADFILE, CURL_FAILURE_TLS},
        {CURLE_SSL_CERTPROBLEM, CURL_FAILURE_TLS},
        {CURLE_SSL_ISSUER_ERROR, CURL_FAILURE_TLS},
        {CURLE_OPERATION_TIMEDOUT, CURL_FAILURE_TIMEOUT},
        {CURLE_FILESIZE_EXCEEDED, CURL_FAILURE_TOO_LARGE},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        if (ROWS[i].code == code) {
            return ROWS[i].failure;
        }
    }
    return CURL_FAILURE_BROKEN;
}

static enum err result_of(enum curl_failure failure)
{
    return failure == CURL_FAILURE_NONE      ? ERR_OK
           : failure == CURL_FAILURE_TIMEOUT ? ERR_DEADLINE
                                             : ERR_BACKEND_DOWN;
}

static void finish(struct transfer *t, CURLcode code)
{
    struct curl_response *r = t->response;
    struct op *op = t->op;
    long status = 0, connections = 0;
    curl_easy_getinfo(t->easy, CURLINFO_RESPONSE_CODE, &status);
    curl_easy_getinfo(t->easy, CURLINFO_NUM_CONNECTS, &connections);
    if (code == CURLE_UNSUPPORTED_PROTOCOL && connections) { /* of the answer, not of the URL */
        code = CURLE_WEIRD_SERVER_REPLY;
    }
    r->status = (int)status;
    r->failure = r->head.failed || r->body.failed ? CURL_FAILURE_TOO_LARGE : failure_of(code);
    r->detail = curl_easy_strerror(code);
    *t->ret_response = r;
    t->response = NULL;
    transfer_free(t);
    op_done(op, result_of(r->failure));
}

/* One at a time from the start: an on_done may start, cancel and so change the list. */
static void finish_ended(struct curl_loop *c)
{
    int left;
    for (CURLMsg *m; (m = curl_multi_info_read(c->multi, &left));) {
        if (m->msg == CURLMSG_DONE) {
            char *transfer = NULL;
            CURLcode code = m->data.result; /* m goes with the handle */
            curl_easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &transfer);
            finish((struct transfer *)(void *)transfer, code);
        }
    }
}

static void on_ready(struct watch *w, uint32_t events)
{
    struct curl_loop *c = ((struct curl_socket *)w)->owner;
    int what = (events & (EPOLLIN | EPOLLRDHUP | EPOLLHUP) ? CURL_CSELECT_IN : 0) |
               (events & EPOLLOUT ? CURL_CSELECT_OUT : 0) |
               (events & EPOLLERR ? CURL_CSELECT_ERR : 0);
    int running;
    curl_multi_socket_action(c->multi, w->fd, what, &running); /* w may be gone */
    finish_ended(c);
}

static void on_timer(struct timer *t)
{
    struct curl_loop *c =
        (struct curl_loop *)(void *)((char *)t - offsetof(struct curl_loop, timer));
    int running;
    curl_multi_socket_action(c->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    finish_ended(c);
}

/* timer_start waits for a millisecond at least, so a timeout of 0 cannot spin the loop. */
static int on_timeout_wanted(CURLM *multi, long after_ms, void *arg)
{
    struct curl_loop *c = arg;
    (void)multi;
    if (after_ms < 0) {
        timer_stop(&c->timer);
    } else {
        timer_start(c->loop, &c->timer, after_ms);
    }
    return 0;
}

static void socket_free(struct curl_socket *s)
{
    struct curl_socket **at = &s->owner->sockets;
    while (*at != s) {
        at = &(*at)->next;
    }
    *at = s->next;
    watch_stop(&s->watch);
    free(s);
}

static struct curl_socket *socket_new(struct curl_loop *c, int fd)
{
    struct curl_socket *s = mem_alloc(sizeof(*s));
    s->owner = c;
    s->watch.on_ready = on_ready;
    s->next = c->sockets;
    c->sockets = s;
    (void)watch_start(c->loop, &s->watch, fd, 0); /* refused: the request's own deadline ends it */
    curl_multi_assign(c->multi, fd, s);
    return s;
}

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *arg, void *assigned)
{
    struct curl_socket *s = assigned;
    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (s) {
            socket_free(s);
        }
        return 0;
    }
    uint32_t events = (what & CURL_POLL_IN ? EPOLLIN : 0U) | (what & CURL_POLL_OUT ? EPOLLOUT : 0U);
    (void)watch_change(&(s ? s : socket_new(arg, fd))->watch, events);
    return 0;
}

/* A new status line begins the head anew: what a 1xx said is not the response's. */
static size_t on_head_line(char *p, size_t size, size_t n, void *arg)
{
    struct curl_response *r = arg;
    struct slice line = {p, size * n};
    if (slice_starts(line, SLICE_LIT("HTTP/")) && !r->head.failed) {
        dynbuf_cut(&r->head, 0);
    }
    dynbuf_add(&r->head, line);
    return r->head.failed ? 0 : line.n;
}

static size_t on_body_bytes(char *p, size_t size, size_t n, void *arg)
{
    struct curl_response *r = arg;
    dynbuf_add(&r->body, (struct slice){p, size * n});
    return r->body.failed ? 0 : size * n;
}

static void set_options(struct transfer *t)
{
    static const struct {
        CURLoption option;
        long value;
    } ROWS[] = {
        {CURLOPT_NOSIGNAL, 1},
        {CURLOPT_QUICK_EXIT, 1}, /* a cancelled request does not wait for its name's resolver */
        {CURLOPT_FOLLOWLOCATION, 0},
        {CURLOPT_NETRC, CURL_NETRC_IGNORED},
        {CURLOPT_DISALLOW_USERNAME_IN_URL, 1},
        {CURLOPT_HTTPAUTH, CURLAUTH_NONE},
        {CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1},
        {CURLOPT_HTTP09_ALLOWED, 0},
        {CURLOPT_SSLVERSION, CURL_SSLVERSION_TLSv1_2},
        {CURLOPT_SSL_VERIFYPEER, 1},
        {CURLOPT_SSL_VERIFYHOST, 2},
        {CURLOPT_CONNECTTIMEOUT_MS, CURL_LOOP_CONNECT_MS},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        curl_easy_setopt(t->easy, ROWS[i].option, ROWS[i].value);
    }
    curl_easy_setopt(t->easy, CURLOPT_PROTOCOLS_STR, t->owner->plain_http ? "https,http" : "https");
    curl_easy_setopt(t->easy, CURLOPT_PROXY, ""); /* else http_proxy and its like are read */
    curl_easy_setopt(t->easy, CURLOPT_NOPROXY, "*");
    curl_easy_setopt(t->easy, CURLOPT_HEADERFUNCTION, on_head_line);
    curl_easy_setopt(t->easy, CURLOPT_HEADERDATA, t->response);
    curl_easy_setopt(t->easy, CURLOPT_WRITEFUNCTION, on_body_bytes);
    curl_easy_setopt(t->easy, CURLOPT_WRITEDATA, t->response);
    curl_easy_setopt(t->easy, CURLOPT_PRIVATE, t);
}

static void set_cas(struct transfer *t)
{
    struct dynbuf *pem = &t->owner->ca_pem;
    if (pem->n) {
        struct curl_blob blob = {pem->p, pem->n, CURL_BLOB_NOCOPY};
        curl_easy_setopt(t->easy, CURLOPT_CAINFO_BLOB, &blob);
        curl_easy_setopt(t->easy, CURLOPT_CAPATH, NULL); /* else the system's are trusted too */
    }
}

static void add_field(struct transfer *t, struct slice name, struct slice value)
{
    struct dynbuf line;
    dynbuf_init(&line, LINE_MAX_BYTES);
    dynbuf_add(&line, name);
    dynbuf_add_text(&line, ": ");
    dynbuf_add(&line, value);
    const char *text = dynbuf_text(&line);
    if (text) {
        t->fields = curl_slist_append(t->fields, text);
    }
    dynbuf_done(&line);
}

static void set_request(struct transfer *t, const struct curl_request *request)
{
    curl_easy_setopt(t->easy, CURLOPT_URL, request->url);
    curl_easy_setopt(t->easy, CURLOPT_MAXFILESIZE_LARGE, (curl_off_t)request->max_body_bytes);
    curl_easy_setopt(t->easy, CURLOPT_TIMEOUT_MS, (long)request->deadline_ms);
    if (request->body.p) {
        curl_easy_setopt(t->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.n);
        curl_easy_setopt(t->easy, CURLOPT_COPYPOSTFIELDS, request->body.p);
        t->fields = curl_slist_append(t->fields, "Expect:"); /* no wait for 100 Continue */
    }
    if (request->method) {
        curl_easy_setopt(t->easy, CURLOPT_CUSTOMREQUEST, request->method);
    }
    for (size_t i = 0; i < request->n_fields; i++) {
        add_field(t, request->fields[i].name, request->fields[i].value);
    }
    curl_easy_setopt(t->easy, CURLOPT_HTTPHEADER, t->fields);
}

void curl_loop_start(struct curl_loop *c, const struct curl_request *request,
                     struct curl_response **ret_response, struct op *op)
{
    struct transfer *t = mem_alloc(sizeof(*t));
    *t = (struct transfer){.owner = c,
                           .easy = curl_easy_init(),
                           .response = mem_alloc(sizeof(*t->response)),
                           .ret_response = ret_response,
                           .op = op,
                           .next = c->transfers};
    c->transfers = t;
    dynbuf_init(&t->response->head, CURL_LOOP_HEAD_MAX_BYTES);
    dynbuf_init(&t->response->body, request->max_body_bytes);
    set_options(t);
    set_cas(t);
    set_request(t, request);
    op_start(op, on_cancelled, t);
    if (curl_multi_add_handle(c->multi, t->easy) != CURLM_OK) {
        finish(t, CURLE_FAILED_INIT);
    }
}

static void init_libcurl(void)
{
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        abort();
    }
}

struct curl_loop *curl_loop_new(struct loop *l, const struct curl_loop_options *options)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, init_libcurl);
    struct curl_loop *c = mem_alloc(sizeof(*c));
    c->loop = l;
    c->multi = curl_multi_init();
    c->timer.on_expired = on_timer;
    c->plain_http = options->plain_http;
    dynbuf_init(&c->ca_pem, options->ca_pem.n);
    dynbuf_add(&c->ca_pem, options->ca_pem);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    curl_multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, on_timeout_wanted);
    curl_multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    curl_multi_setopt(c->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, options->max_connections);
    return c;
}

void curl_loop_free(struct curl_loop *c)
{
    if (!c) {
        return;
    }
    while (c->transfers) {
        op_cancel(c->transfers->op);
    }
    curl_multi_cleanup(c->multi);
    for (struct curl_socket *s = c->sockets, *next; s; s = next) {
        next = s->next;
        watch_stop(&s->watch);
        free(s);
    }
    timer_stop(&c->timer);
    dynbuf_done(&c->ca_pem);
    free(c);
}
