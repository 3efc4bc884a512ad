/* SPDX-License-Identifier: Apache-2.0 */
/* budget: how much work a tenant, a subject and a tool may still ask for (docs/design.md §7).
 *
 * Three budgets, each per minute (GCRA: a rate and a burst) and per day, decided together: all or
 * none is charged. A charge is remembered under (subject, cache key) for 10 minutes, so the same
 * call is charged once; a charge can be given back. With Redis one script decides for all replicas,
 * on Redis' clock. Where it does not answer, this process decides over its share: limit ÷
 * replicas_max a minute; of a day the last remainder that Redis told ÷ replicas_max, or where it
 * told none limit ÷ 24 ÷ replicas_max an hour.
 * Too much:  while Redis comes and goes, in t minutes at most 2 × limit × t + burst + the larger of
 *            burst and min(replicas_max × burst, limit); in a day at most 2 × limit. Without Redis
 *            all along once, not twice. It holds for up to replicas_max processes, none restarted
 *            meanwhile, and limits ÷ replicas_max that pay for one call.
 * Thread:    any; a take belongs to the loop of its redis, which is freed before the budget.
 * Blocking:  never beyond one short mutex.
 * Ceiling:   BUDGET_MAX_ENTRIES of counters and of remembered charges in the process; beyond it the
 *            stalest go.
 * Clock:     Redis' own; in the process the one passed in, wall time. */
#ifndef CACHE_BUDGET_H
#define CACHE_BUDGET_H

#include "cache/key.h"
#include "service/base/op.h"
#include "service/loop/redis_loop.h"

enum {
    BUDGET_MAX_ENTRIES = 100000,
    BUDGET_REMEMBER_MS = 10 * 60 * 1000,
    BUDGET_SETTLED_MS = 1000, /* without a failure, before Redis counts as back */
    BUDGET_PREFIX_MAX_BYTES = 64,
};

/* 0: no such limit. Numbers are calls of cost 1; a limit of n lets n ÷ cost calls pass. */
struct budget_rule {
    int64_t per_minute, burst, per_day;
};

/* Which rule holds for a tenant, a subject and a (tenant, tool), and what a tool costs. */
struct budget_rules {
    struct budget_rule tenant, subject; /* the defaults */
    const struct budget_named {
        struct slice tenant, tool; /* tool SLICE_NONE: the tenant as a whole */
        struct budget_rule rule;
    } * named;
    size_t n_named;
    const struct budget_tool {
        struct slice tool;
        int64_t cost; /* at least 1; a tool that is not listed costs 1 */
        bool is_paid; /* costs money: refused where Redis does not decide */
    } * tools;
    size_t n_tools;
};

struct budget; /* opaque */

struct budget_options {
    int64_t replicas_max;    /* at least 1: into how many shares a limit falls without Redis */
    struct slice key_prefix; /* of every key in Redis, copied; BUDGET_PREFIX_MAX_BYTES */
    /* Told at the first charge that Redis did not decide, and at the first that it decided after
     * BUDGET_SETTLED_MS without a failure; `why` is the first word of Redis' error, a
     * redis_failure's name or "reply". Any thread, one at a time; calls nothing of the budget. May
     * be NULL. */
    void (*on_mode)(void *who, bool shared, const char *why);
    void *who;
};

/* rules are copied. options NULL: no Redis, one replica. */
struct budget *budget_new(const struct budget_rules *rules, const struct budget_options *options);
void budget_free(struct budget *b);

/* From now on these hold; counters stay. Copied. Any thread. */
void budget_set_rules(struct budget *b, const struct budget_rules *rules);

struct budget_charge {
    struct slice tenant;
    const struct digest *subject;
    const char *tool;
    const struct cache_key *call; /* what the charge is remembered under */
    int64_t now_unix_ms;
};

struct budget_verdict {
    bool charged;           /* false with ERR_OK: remembered, so free */
    bool in_process;        /* charged here, not in Redis */
    const char *budget;     /* ERR_BUDGET_SPENT: "tenant/minute", "subject/day", … */
    int64_t retry_after_ms; /* ERR_BUDGET_SPENT: the exact wait */
};

/* op is done with ERR_OK, ERR_BUDGET_SPENT or ERR_BUDGET_DOWN (a paid tool, and Redis does not
 * decide); *ret_verdict is set before. charge is borrowed until it returns. redis: this loop's
 * connection; NULL: no Redis. */
void budget_take(struct budget *b, struct redis_loop *redis, const struct budget_charge *charge,
                 struct budget_verdict *ret_verdict, struct op *op);

/* Gives a charge back where it was taken and forgets it; nothing happens where it is not
 * remembered. */
void budget_refund(struct budget *b, struct redis_loop *redis, const struct budget_charge *charge,
                   const struct budget_verdict *verdict);

/* Redis can be reached again: it decides from now on, until it fails. So a process that nobody asks
 * says so too. Any thread. */
void budget_redis_returned(struct budget *b);

struct budget_stats {
    uint64_t shared, in_process; /* takes decided by Redis, and here though there is a Redis */
    bool is_shared;              /* the mode now; true without Redis */
};
void budget_stats(struct budget *b, struct budget_stats *ret_stats);

#endif
