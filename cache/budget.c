/* SPDX-License-Identifier: Apache-2.0 */
/* Who decides a charge: the call is remembered here, else Redis, else this process over its share.
 * A take whose outcome is unknown is not sent again: it may have been charged, and what is decided
 * here comes on top. */
#include "cache/budget.h"

#include "cache/budget_shared.h"
#include "cache/scripts.h"
#include "service/base/mem.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { WHY_MAX_BYTES = 32 };

struct budget {
    struct budget_local *local;
    struct redis_script take, refund;
    int64_t replicas_max;
    char prefix[BUDGET_PREFIX_MAX_BYTES + 1];
    void (*on_mode)(void *who, bool shared, const char *why);
    void *who;

    pthread_mutex_t lock; /* of what follows */
    struct budget_rulebook *rules;
    int64_t failed_unix_ms; /* last */
    struct budget_stats stats;
};

struct budget *budget_new(const struct budget_rules *rules, const struct budget_options *options)
{
    struct budget *b = mem_alloc(sizeof(*b));
    pthread_mutex_init(&b->lock, NULL);
    b->local = budget_local_new();
    b->rules = budget_rulebook_new(rules);
    b->replicas_max = 1;
    b->stats.is_shared = true;
    redis_script_init(&b->take, slice_of(budget_take_lua));
    redis_script_init(&b->refund, slice_of(budget_refund_lua));
    if (options) {
        struct slice prefix = options->key_prefix;
        b->replicas_max = options->replicas_max;
        (void)snprintf(b->prefix, sizeof(b->prefix), "%.*s", (int)prefix.n,
                       prefix.n ? prefix.p : "");
        b->on_mode = options->on_mode;
        b->who = options->who;
    }
    return b;
}

void budget_free(struct budget *b)
{
    if (b) {
        budget_local_free(b->local);
        budget_rulebook_unref(b->rules);
        pthread_mutex_destroy(&b->lock);
        free(b);
    }
}

void budget_set_rules(struct budget *b, const struct budget_rules *rules)
{
    struct budget_rulebook *fresh = budget_rulebook_new(rules), *old;
    pthread_mutex_lock(&b->lock);
    old = b->rules;
    b->rules = fresh;
    pthread_mutex_unlock(&b->lock);
    budget_rulebook_unref(old);
}

void budget_stats(struct budget *b, struct budget_stats *ret_stats)
{
    pthread_mutex_lock(&b->lock);
    *ret_stats = b->stats;
    pthread_mutex_unlock(&b->lock);
}

static void make_bill(struct budget *b, const struct budget_charge *charge,
                      struct budget_bill *ret_bill)
{
    pthread_mutex_lock(&b->lock);
    struct budget_rulebook *rules = budget_rulebook_ref(b->rules);
    pthread_mutex_unlock(&b->lock);
    budget_bill_make(rules, charge, ret_bill);
    budget_rulebook_unref(rules);
}

/* --- the mode --- */

/* Told under the lock, so that the last word is the true one. */
static void set_mode(struct budget *b, bool shared, const char *why)
{
    if (b->stats.is_shared != shared) {
        b->stats.is_shared = shared;
        if (b->on_mode) {
            b->on_mode(b->who, shared, why);
        }
    }
}

static void note_success(struct budget *b, int64_t now_ms)
{
    pthread_mutex_lock(&b->lock);
    b->stats.shared++;
    if (llabs(now_ms - b->failed_unix_ms) >= BUDGET_SETTLED_MS) {
        set_mode(b, true, redis_failure_name(REDIS_FAILURE_NONE));
    }
    pthread_mutex_unlock(&b->lock);
}

void budget_redis_returned(struct budget *b)
{
    pthread_mutex_lock(&b->lock);
    set_mode(b, true, redis_failure_name(REDIS_FAILURE_NONE));
    pthread_mutex_unlock(&b->lock);
}

static void note_failure(struct budget *b, int64_t now_ms, bool decided_here, const char *why)
{
    pthread_mutex_lock(&b->lock);
    b->stats.in_process += decided_here;
    b->failed_unix_ms = now_ms;
    set_mode(b, false, why);
    pthread_mutex_unlock(&b->lock);
}

/* The first word of an error reply is its code; of anything else, that it is no reply of ours. */
static void describe_failure(const struct redis_call *call, char ret_why[WHY_MAX_BYTES])
{
    struct slice why = slice_of(redis_failure_name(call->failure));
    if (call->op.result == ERR_OK) {
        bool is_error = call->reply->kind == REDIS_ERROR;
        why = is_error ? redis_error_code(call->reply->text) : SLICE_LIT("reply");
    }
    (void)snprintf(ret_why, WHY_MAX_BYTES, "%.*s", (int)why.n, why.n ? why.p : "");
}

/* --- taking --- */

/* One take on its way to Redis. Redis' call holds the take, the caller's op only points to it. */
struct take {
    struct redis_call call;
    struct budget *b;
    struct budget_bill bill;
    int64_t now_ms;
    struct budget_verdict *verdict;
    struct op *op;
};

static void detach(void *work)
{
    struct take *t = work;
    op_cancel(&t->call.op);
    free(t);
}

static enum err decide_here(struct budget *b, const struct budget_bill *bill, int64_t n_shares,
                            int64_t now_ms, struct budget_verdict *verdict)
{
    verdict->in_process = true;
    budget_local_take(b->local, bill, n_shares, now_ms * 1000, verdict);
    return verdict->budget ? ERR_BUDGET_SPENT : ERR_OK;
}

static enum err decide_without_redis(struct take *t)
{
    char why[WHY_MAX_BYTES];
    describe_failure(&t->call, why);
    note_failure(t->b, t->now_ms, !t->bill.is_paid, why);
    if (t->bill.is_paid) {
        return ERR_BUDGET_DOWN;
    }
    return decide_here(t->b, &t->bill, t->b->replicas_max, t->now_ms, t->verdict);
}

static enum err decide_as_redis(struct take *t, const struct budget_reading *reading)
{
    note_success(t->b, t->now_ms);
    if (reading->note.day) {
        budget_local_note(t->b->local, &t->bill, &reading->note, t->now_ms * 1000);
    }
    *t->verdict = reading->verdict;
    return reading->verdict.budget ? ERR_BUDGET_SPENT : ERR_OK;
}

static void on_reply(struct op *call_op)
{
    struct take *t = (struct take *)(void *)call_op; /* the first member of the first member */
    struct budget_reading reading;
    struct op *op = t->op;
    bool decided =
        call_op->result == ERR_OK && budget_shared_read(t->call.reply, &t->bill, &reading);
    enum err result = decided ? decide_as_redis(t, &reading) : decide_without_redis(t);
    free(t);
    op_done(op, result);
}

static void ask_redis(struct budget *b, struct redis_loop *redis, struct take *t)
{
    struct budget_script_input in;
    budget_shared_take_input(slice_of(b->prefix), &t->bill, &in);
    t->call.op.on_done = on_reply;
    redis_loop_eval(redis, &b->take, in.keys, in.n_keys, in.args, in.n_args, &t->call);
}

void budget_take(struct budget *b, struct redis_loop *redis, const struct budget_charge *charge,
                 struct budget_verdict *ret_verdict, struct op *op)
{
    struct budget_bill bill;
    make_bill(b, charge, &bill);
    *ret_verdict = (struct budget_verdict){0};
    if (redis && !budget_local_remembers(b->local, &bill, charge->now_unix_ms * 1000)) {
        struct take *t = mem_alloc(sizeof(*t));
        t->b = b;
        t->bill = bill;
        t->now_ms = charge->now_unix_ms;
        t->verdict = ret_verdict;
        t->op = op;
        op_start(op, detach, t);
        ask_redis(b, redis, t);
        return;
    }
    op_start(op, NULL, NULL);
    op_done(op,
            redis ? ERR_OK : decide_here(b, &bill, BUDGET_WHOLE, charge->now_unix_ms, ret_verdict));
}

void budget_refund(struct budget *b, struct redis_loop *redis, const struct budget_charge *charge,
                   const struct budget_verdict *verdict)
{
    struct budget_bill bill;
    if (!verdict->charged) {
        return;
    }
    make_bill(b, charge, &bill);
    if (verdict->in_process || !redis) {
        budget_local_refund(b->local, &bill, charge->now_unix_ms * 1000);
        return;
    }
    struct budget_script_input in;
    budget_shared_refund_input(slice_of(b->prefix), &bill, &in);
    budget_local_forget(b->local, &bill);
    redis_loop_eval_send(redis, &b->refund, in.keys, in.n_keys, in.args, in.n_args);
}
