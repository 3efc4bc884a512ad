/* SPDX-License-Identifier: Apache-2.0 */
/* budget_rules: what a charge has to pay, by the rules of the moment.
 *
 * A rulebook is an immutable copy of the rules, counted by reference, so that a charge keeps what
 * it began with when the rules change. A bill holds everything by value. Thread:    any. */
#ifndef CACHE_BUDGET_RULES_H
#define CACHE_BUDGET_RULES_H

#include "cache/budget.h"

struct budget_rulebook; /* opaque */

struct budget_rulebook *budget_rulebook_new(const struct budget_rules *rules);
struct budget_rulebook *budget_rulebook_ref(struct budget_rulebook *r);
void budget_rulebook_unref(struct budget_rulebook *r);

enum { BUDGET_MAX_LINES = 3 };

/* One budget of a charge: a counter and its limits, of which at least one is set. */
struct budget_line {
    const char *minute_name, *day_name; /* "tenant/minute", "tenant/day" */
    char kind;                          /* 't' tenant, 's' subject, 'l' tool */
    struct budget_rule rule;
    struct digest counter;
};

struct budget_bill {
    struct budget_line lines[BUDGET_MAX_LINES];
    size_t n_lines;
    struct digest tenant;
    struct digest memory; /* of (subject, cache key): the same call has the same */
    int64_t cost;
    bool is_paid;
};

void budget_bill_make(const struct budget_rulebook *rules, const struct budget_charge *charge,
                      struct budget_bill *ret_bill);

#endif
