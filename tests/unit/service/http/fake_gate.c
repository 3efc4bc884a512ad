/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/service/http/fake_gate.h"

#include "service/base/mem.h"
#include "service/loop/loop.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct gate {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    size_t n_begun, n_waiting, n_cancelled, n_freed;
    bool is_open, is_ready;
    struct request *waiting;
};

struct gate_loop {
    struct gate *gate;
    struct loop *loop;
};

struct request {
    struct loop_message message;
    struct gate *gate;
    struct loop *loop;
    struct request_input in;
    request_reply_fn on_reply;
    void *door;
    struct request *next;
    char *text;
    bool is_posted, is_cancelled, is_replied;
};

struct gate *fake_gate_new(void)
{
    struct gate *g = mem_alloc(sizeof(*g));
    pthread_mutex_init(&g->lock, NULL);
    pthread_cond_init(&g->changed, NULL);
    g->is_ready = true;
    return g;
}

void fake_gate_free(struct gate *g)
{
    cr_assert_eq(g->n_begun, g->n_cancelled + g->n_freed, "each request ends once");
    pthread_cond_destroy(&g->changed);
    pthread_mutex_destroy(&g->lock);
    free(g);
}

static void await(struct gate *g, const size_t *count, size_t n)
{
    pthread_mutex_lock(&g->lock);
    while (*count < n) {
        pthread_cond_wait(&g->changed, &g->lock);
    }
    pthread_mutex_unlock(&g->lock);
}

void fake_gate_await_begun(struct gate *g, size_t n)
{
    await(g, &g->n_begun, n);
}

void fake_gate_await_waiting(struct gate *g, size_t n)
{
    await(g, &g->n_waiting, n);
}

void fake_gate_await_cancelled(struct gate *g, size_t n)
{
    await(g, &g->n_cancelled, n);
}

static size_t get(struct gate *g, const size_t *count)
{
    pthread_mutex_lock(&g->lock);
    size_t n = *count;
    pthread_mutex_unlock(&g->lock);
    return n;
}

size_t fake_gate_begun(struct gate *g)
{
    return get(g, &g->n_begun);
}

size_t fake_gate_cancelled(struct gate *g)
{
    return get(g, &g->n_cancelled);
}

static void bump(struct gate *g, size_t *count)
{
    pthread_mutex_lock(&g->lock);
    ++*count;
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

static const char *or_none(struct slice s)
{
    return s.p ? s.p : "(none)";
}

static int length(struct slice s)
{
    return s.p ? (int)s.n : 6;
}

static struct reply describe(struct request *r)
{
    const struct request_input *in = &r->in;
    r->text = NULL;
    int n =
        asprintf(&r->text,
                 "surface=%d get=%d query=%.*s auth=%.*s/%zu type=%.*s accept=%.*s inm=%.*s "
                 "version=%.*s method=%.*s name=%.*s body=%.*s",
                 (int)in->surface, in->is_get, length(in->query_string), or_none(in->query_string),
                 length(in->authorization), or_none(in->authorization), in->n_authorization,
                 length(in->content_type), or_none(in->content_type), length(in->accept),
                 or_none(in->accept), length(in->if_none_match), or_none(in->if_none_match),
                 length(in->mcp_version), or_none(in->mcp_version), length(in->mcp_method),
                 or_none(in->mcp_method), length(in->mcp_name), or_none(in->mcp_name),
                 length(in->body), or_none(in->body));
    return (struct reply){.status = 200,
                          .content_type = SLICE_LIT("text/plain"),
                          .body = {r->text, (size_t)n},
                          .retry_after_ms = -1};
}

static struct reply full_reply(void)
{
    return (struct reply){.status = 429,
                          .content_type = SLICE_LIT("application/json"),
                          .body = SLICE_LIT("{}"),
                          .www_authenticate = SLICE_LIT("Bearer x"),
                          .etag = SLICE_LIT("\"e\""),
                          .private_no_cache = true,
                          .retry_after_ms = 1001,
                          .request_id = SLICE_LIT("r-1")};
}

static struct reply big_reply(struct request *r)
{
    r->text = malloc(FAKE_BIG_BYTES);
    memset(r->text, 'b', FAKE_BIG_BYTES);
    return (struct reply){.status = 200,
                          .content_type = SLICE_LIT("text/plain"),
                          .body = {r->text, FAKE_BIG_BYTES},
                          .retry_after_ms = -1};
}

static void answer(struct request *r)
{
    struct reply reply;
    if (slice_is(r->in.body, "full")) {
        reply = full_reply();
    } else if (slice_is(r->in.body, "big")) {
        reply = big_reply(r);
    } else if (slice_is(r->in.body, "empty")) {
        reply = (struct reply){.status = 202, .body = SLICE_LIT("unsent"), .retry_after_ms = 0};
    } else if (slice_is(r->in.body, "304")) {
        reply = (struct reply){.status = 304, .etag = SLICE_LIT("\"e\""), .retry_after_ms = -1};
    } else {
        reply = describe(r);
    }
    r->is_replied = true;
    r->on_reply(r, &reply, r->door);
}

static void on_released(struct loop_message *m)
{
    struct request *r = (struct request *)m;
    if (r->is_cancelled) {
        free(r);
    } else {
        answer(r);
    }
}

/* Under the lock. */
static void release_all(struct gate *g)
{
    for (struct request *r; (r = g->waiting);) {
        g->waiting = r->next;
        r->is_posted = true;
        r->message.run = on_released;
        loop_post(r->loop, &r->message);
    }
}

void fake_gate_release(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    g->is_open = true;
    release_all(g);
    pthread_cond_broadcast(&g->changed);
    pthread_mutex_unlock(&g->lock);
}

void fake_gate_set_ready(struct gate *g, bool ready)
{
    pthread_mutex_lock(&g->lock);
    g->is_ready = ready;
    pthread_mutex_unlock(&g->lock);
}

struct gate_loop *gate_loop_open(struct gate *g, struct loop *l)
{
    struct gate_loop *gl = mem_alloc(sizeof(*gl));
    gl->gate = g;
    gl->loop = l;
    return gl;
}

void gate_loop_close(struct gate_loop *gl)
{
    free(gl);
}

struct request *request_new(struct gate_loop *gl, const struct request_input *in,
                            request_reply_fn on_reply, void *door)
{
    struct gate *g = gl->gate;
    struct loop *l = gl->loop;
    struct request *r = mem_alloc(sizeof(*r));
    r->gate = g;
    r->loop = l;
    r->in = *in;
    r->on_reply = on_reply;
    r->door = door;
    bump(g, &g->n_begun);
    return r;
}

static void wait_for_release(struct request *r)
{
    struct gate *g = r->gate;
    pthread_mutex_lock(&g->lock);
    r->next = g->waiting;
    g->waiting = r;
    if (g->is_open) {
        release_all(g);
    }
    pthread_mutex_unlock(&g->lock);
    bump(g, &g->n_waiting);
}

static void block_until_release(struct gate *g)
{
    bump(g, &g->n_waiting);
    pthread_mutex_lock(&g->lock);
    while (!g->is_open) {
        pthread_cond_wait(&g->changed, &g->lock);
    }
    pthread_mutex_unlock(&g->lock);
}

void request_run(struct request *r)
{
    if (slice_starts(r->in.body, SLICE_LIT("wait"))) {
        wait_for_release(r);
        return;
    }
    if (slice_is(r->in.body, "block")) {
        block_until_release(r->gate);
    }
    answer(r);
}

void request_cancel(struct request *r)
{
    struct gate *g = r->gate;
    cr_assert_not(r->is_replied, "no cancel after the answer");
    pthread_mutex_lock(&g->lock);
    for (struct request **at = &g->waiting; *at; at = &(*at)->next) {
        if (*at == r) {
            *at = r->next;
            break;
        }
    }
    r->is_cancelled = true;
    bool is_posted = r->is_posted;
    pthread_mutex_unlock(&g->lock);
    if (!is_posted) {
        free(r);
    }
    bump(g, &g->n_cancelled);
}

void request_free(struct request *r)
{
    struct gate *g = r->gate;
    cr_assert(r->is_replied, "no free before the answer");
    free(r->text);
    free(r);
    bump(g, &g->n_freed);
}

void gate_resource_metadata(struct gate *g, struct dynbuf *out)
{
    (void)g;
    dynbuf_add_text(out, "{\"resource\":\"x\"}");
}

void gate_metrics(struct gate *g, struct dynbuf *out)
{
    (void)g;
    dynbuf_add_text(out, "kb_up 1\n");
}

bool gate_is_ready(struct gate *g, struct dynbuf *reasons)
{
    pthread_mutex_lock(&g->lock);
    bool ready = g->is_ready;
    pthread_mutex_unlock(&g->lock);
    dynbuf_add_text(reasons, ready ? "ok store\n" : "failed store\n");
    return ready;
}

void gate_begin_drain(struct gate *g)
{
    fake_gate_set_ready(g, false);
}
