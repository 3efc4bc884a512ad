/* SPDX-License-Identifier: Apache-2.0 */
/* The table below is a request's path; the loop under it is all there is of a framework. Steps hold
 * no timing and no counting: the runner does both. */
#include "service/base/clock.h"
#include "service/base/log.h"
#include "service/base/mem.h"
#include "service/pipeline/audit.h"
#include "service/pipeline/respond.h"

#include <stdlib.h>

struct step {
    const char *name;
    step_fn begin, finish; /* finish: NULL where begin never waits */
};

static const struct step STEPS[] = {
    {"token", token_begin, token_finish},    /* who calls; a grant must apply, else 401 or 403 */
    {"call", call_begin, NULL},              /* era, JSON-RPC, method; REST arguments */
    {"scope", scope_begin, NULL},            /* the filter's view of one published version */
    {"arguments", arguments_begin, NULL},    /* canonical request; names only what is visible */
    {"direct", direct_begin, NULL},          /* lists, prompts, handshakes: answered here */
    {"cache", cache_begin, NULL},            /* a hit is free */
    {"flight", flight_begin, flight_finish}, /* of equal calls in the process one goes on */
    {"shared", shared_begin, shared_finish}, /* and of equal calls at all replicas */
    {"budget", budget_begin, budget_finish}, /* tenant, subject, tool: all or none */
    {"retrieve", retrieve_begin, retrieve_finish}, /* every leg, over permitted partitions only */
    {"recheck", recheck_begin, NULL},              /* each hit against the filter once more */
    {"abstain", abstain_begin, NULL},              /* nothing found is about the question: none */
    {"fuse", fuse_begin, NULL},                    /* legs to one order, in integers */
    {"answer", answer_begin, answer_finish},       /* neutralise, fence, byte budget */
    {"keep", keep_begin, keep_finish},             /* for the next one; who waits gets it now */
};

enum { N_STEPS = sizeof(STEPS) / sizeof(STEPS[0]) };
_Static_assert((int)N_STEPS <= (int)METRICS_MAX_STEPS, "room for a counter a step");

static void run(struct request *r);

size_t steps_names(const char **ret_names, size_t room)
{
    for (size_t i = 0; i < N_STEPS && i < room; i++) {
        ret_names[i] = STEPS[i].name;
    }
    return N_STEPS;
}

struct budget_charge request_charge(struct request *r)
{
    return (struct budget_charge){.tenant = r->claims.tenant,
                                  .subject = &r->claims.subject,
                                  .tool = metrics_tool_name(r->tool),
                                  .call = &r->key,
                                  .now_unix_ms = clock_unix_ms()};
}

static void cancel_operations(struct request *r)
{
    op_cancel(&r->keys_op);
    op_cancel(&r->flight_op);
    op_cancel(&r->shared_op);
    op_cancel(&r->budget_op);
    op_cancel(&r->retrieve_op);
    op_cancel(&r->answer_op);
    op_cancel(&r->keep_op);
    r->pending = 0;
    timer_stop(&r->deadline);
}

/* A call that failed through no fault of its caller costs nothing. */
static void give_back(struct request *r)
{
    enum err_kind kind = err_kind(r->failure);
    if (r->verdict.charged && (kind == ERR_KIND_RETRYABLE || kind == ERR_KIND_PERMANENT)) {
        struct budget_charge charge = request_charge(r);
        budget_refund(r->gate->budget, r->gate_loop->budget.redis, &charge, &r->verdict);
        r->verdict.charged = false;
        atomic_fetch_add(&r->gate->metrics.refunded, 1);
    }
}

void request_land(struct request *r, const struct cache_value *value)
{
    seat_land(r->seat, value);
    r->seat = NULL;
}

/* Whether what failed one call would fail an equal one now as well. A spent budget is the caller's
 * own, and a deadline may be later. */
static bool fails_equal_calls(enum err failure)
{
    return failure != ERR_OK && failure != ERR_BUDGET_SPENT && failure != ERR_BUDGET_DOWN &&
           failure != ERR_DEADLINE;
}

/* Whoever waits for this call's answer is told what became of it, or goes on in its stead. */
static void leave_flight(struct request *r)
{
    if (r->claim.held) { /* first: the next one will ask for it */
        shared_cache_give_up(gate_redis_cache(r->gate->redis), &r->place, &r->claim);
    }
    if (r->seat && r->boarding.leads && fails_equal_calls(r->failure)) {
        seat_fail(r->seat, r->failure);
    } else {
        seat_leave(r->seat);
    }
    r->seat = NULL;
}

static void log_failure(const struct request *r)
{
    struct log_line l;
    bool ours = err_kind(r->failure) == ERR_KIND_PERMANENT;
    log_begin(&l, ours ? LOG_ERROR : LOG_WARN, "request_failed");
    log_text_z(&l, "request_id", r->id);
    log_text_z(&l, "reason", err_name(r->failure));
    log_text_z(&l, "step", STEPS[r->at].name);
    log_end(&l);
}

static void count(struct request *r)
{
    struct metrics *m = &r->gate->metrics;
    atomic_fetch_add(&m->requests[r->tool][r->outcome], 1);
    if (r->failure != ERR_OK) {
        atomic_fetch_add(&m->failures[r->failure], 1);
    }
}

static void reply(struct request *r)
{
    cancel_operations(r);
    leave_flight(r);
    r->finished = true;
    count(r);
    audit_write(r);
    r->on_reply(r, &r->reply, r->door); /* r may be gone */
}

/* Not what callers do, nor one line a call while the server sheds: the metrics count both. */
static bool is_worth_a_line(enum err failure)
{
    return failure != ERR_INVALID_INPUT && failure != ERR_BUDGET_SPENT &&
           failure != ERR_NOT_FOUND && failure != ERR_BUSY;
}

static void fail(struct request *r)
{
    give_back(r);
    if (is_worth_a_line(r->failure)) {
        log_failure(r);
    }
    (void)respond_failure(r);
    reply(r);
}

static void on_deadline(struct timer *t)
{
    struct request *r = (struct request *)(void *)((char *)t - offsetof(struct request, deadline));
    cancel_operations(r);
    r->failure = ERR_DEADLINE;
    fail(r);
}

static void count_step(struct request *r, size_t step)
{
    int64_t now = clock_mono_us();
    atomic_fetch_add(&r->gate->metrics.step_count[step], 1);
    atomic_fetch_add(&r->gate->metrics.step_us[step], (unsigned long long)(now - r->step_us));
    r->step_us = now;
}

static enum step_result run_step(struct request *r)
{
    const struct step *s = &STEPS[r->at];
    return r->begun ? s->finish(r) : s->begin(r);
}

static void run(struct request *r)
{
    if (r->running || r->finished) { /* completed inside begin: the loop below sees it */
        return;
    }
    r->running = true;
    while (r->pending == 0) {
        size_t step = r->at;
        enum step_result result = run_step(r);
        if (result == STEP_WAIT) {
            r->begun = true;
            continue;
        }
        count_step(r, step);
        if (result == STEP_FAIL) {
            fail(r);
            return;
        }
        if (result == STEP_RESPOND) {
            reply(r);
            return;
        }
        r->at++;
        r->begun = false;
    }
    r->running = false;
    if (r->deadline.slot == 0) {
        timer_start(r->loop, &r->deadline,
                    r->gate->config->deadline_ms - (clock_mono_us() - r->started_us) / 1000);
    }
}

/* An operation is over; which one it was is known by where its op stands in the request. */
static void on_op_done(struct request *r)
{
    r->pending--;
    if (r->pending == 0) {
        run(r);
    }
}

static void on_keys_done(struct op *op)
{
    on_op_done((struct request *)(void *)((char *)op - offsetof(struct request, keys_op)));
}

static void on_flight_done(struct op *op)
{
    on_op_done((struct request *)(void *)((char *)op - offsetof(struct request, flight_op)));
}

static void on_shared_done(struct op *op)
{
    on_op_done((struct request *)(void *)((char *)op - offsetof(struct request, shared_op)));
}

static void on_budget_done(struct op *op)
{
    on_op_done((struct request *)(void *)((char *)op - offsetof(struct request, budget_op)));
}

static void on_retrieve_done(struct op *op)
{
    on_op_done((struct request *)(void *)((char *)op - offsetof(struct request, retrieve_op)));
}

static void on_answer_done(struct op *op)
{
    on_op_done((struct request *)(void *)((char *)op - offsetof(struct request, answer_op)));
}

static void on_keep_done(struct op *op)
{
    on_op_done((struct request *)(void *)((char *)op - offsetof(struct request, keep_op)));
}

void request_await(struct request *r)
{
    r->pending++;
}

struct request *request_new(struct gate_loop *gl, const struct request_input *in,
                            request_reply_fn on_reply, void *door)
{
    struct gate *g = gl->gate;
    struct request *r = mem_alloc(sizeof(*r));
    r->gate = g;
    r->gate_loop = gl;
    r->loop = gl->loop;
    r->in = *in;
    r->on_reply = on_reply;
    r->door = door;
    r->started_us = r->step_us = clock_mono_us();
    r->access = gate_access_rules(g);
    r->deadline.on_expired = on_deadline;
    r->keys_op.on_done = on_keys_done;
    r->flight_op.on_done = on_flight_done;
    r->shared_op.on_done = on_shared_done;
    r->budget_op.on_done = on_budget_done;
    r->retrieve_op.on_done = on_retrieve_done;
    r->answer_op.on_done = on_answer_done;
    r->keep_op.on_done = on_keep_done;
    r->reply.retry_after_ms = -1;
    (void)snprintf(r->id, sizeof(r->id), "%s%016llx", g->id_prefix,
                   (unsigned long long)atomic_fetch_add(&g->next_id, 1));
    dynbuf_init(&r->answer, BODY_MAX_BYTES);
    dynbuf_init(&r->body, BODY_MAX_BYTES);
    dynbuf_init(&r->challenge, BODY_MAX_BYTES);
    dynbuf_init(&r->etag, BODY_MAX_BYTES);
    atomic_fetch_add(&g->metrics.in_flight, 1);
    return r;
}

void request_run(struct request *r)
{
    run(r);
}

void request_cancel(struct request *r)
{
    cancel_operations(r);
    leave_flight(r);
    r->finished = true;
    r->outcome = OUTCOME_CLIENT_GONE;
    count(r);
    audit_write(r);
    request_free(r);
}

void request_free(struct request *r)
{
    cancel_operations(r);
    atomic_fetch_sub(&r->gate->metrics.in_flight, 1);
    hits_free(r->hits);
    cache_release(r->cached);
    cache_release(r->made);
    cache_release(r->kept);
    token_cache_release(r->verified);
    view_unref(r->view);
    filter_unref(r->filter);
    mcp_call_done(&r->mcp);
    json_decref(r->rest_arguments);
    access_rules_unref(r->access);
    dynbuf_done(&r->answered.answer);
    dynbuf_done(&r->answered.note);
    dynbuf_done(&r->answer);
    dynbuf_done(&r->body);
    dynbuf_done(&r->challenge);
    dynbuf_done(&r->etag);
    arena_done(&r->arena);
    free(r);
}
