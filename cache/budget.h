/* SPDX-License-Identifier: Apache-2.0 */
/* budget: how much work a tenant, a subject and a tool may still ask for (docs/design.md §7).
 *
 * Three budgets, each per minute (GCRA: a rate and a burst) and per day, decided together: all or
 * none is charged. A charge is remembered under (subject, cache key) for 10 minutes, so the same
 * call is charged once; a charge can be given back. Thread:    any.      Blocking: never beyond one
 * short mutex. Ceiling:   BUDGET_MAX_ENTRIES of counters and of remembered charges; beyond it the
 * stalest go. Clock:     passed in, wall time. */
#ifndef CACHE_BUDGET_H
#define CACHE_BUDGET_H

#include "cache/key.h"
#include "service/base/op.h"

enum { BUDGET_MAX_ENTRIES = 100000, BUDGET_REMEMBER_MS = 10 * 60 * 1000 };

/* 0: no such limit. */
struct budget_rule {
    int64_t per_minute, burst, per_day;
};

/* Which rule holds for a tenant, a subject and a (tenant, tool). */
struct budget_rules {
    struct budget_rule tenant, subject; /* the defaults */
    const struct budget_named {
        struct slice tenant, tool; /* tool SLICE_NONE: the tenant as a whole */
        struct budget_rule rule;
    } * named;
    size_t n_named;
};

struct budget; /* opaque */

/* rules are borrowed and outlive it. */
struct budget *budget_new(const struct budget_rules *rules);
void budget_free(struct budget *b);

struct budget_charge {
    struct slice tenant;
    const struct digest *subject;
    const char *tool;
    const struct cache_key *call; /* what the charge is remembered under */
    int64_t now_unix_ms;
};

struct budget_verdict {
    bool charged;           /* false with ERR_OK: remembered, so free */
    const char *budget;     /* ERR_BUDGET_SPENT: "tenant/minute", "subject/day", … */
    int64_t retry_after_ms; /* ERR_BUDGET_SPENT: the exact wait */
};

/* op is done with ERR_OK or ERR_BUDGET_SPENT; *ret_verdict is set before. */
void budget_take(struct budget *b, const struct budget_charge *charge,
                 struct budget_verdict *ret_verdict, struct op *op);

/* Gives a charge back and forgets it; nothing happens where it is not remembered. */
void budget_refund(struct budget *b, const struct budget_charge *charge);

#endif
