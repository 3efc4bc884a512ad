/* SPDX-License-Identifier: Apache-2.0 */
/* budget_local: budgets kept in this process, whole or as one share of several.
 *
 * A share is what this process lets pass while Redis does not decide. A minute: limit ÷ n_shares,
 * at least one call; at once: the larger of burst ÷ n_shares and that minute, the latter as far as
 * the burst goes. A day: what Redis last said to be left of it ÷ n_shares, or where it never said,
 * limit ÷ 24 ÷ n_shares an hour (at least one call) and limit ÷ n_shares a day; less what was let
 * pass here that day.
 * Thread:    any.           Blocking: never beyond one short mutex.
 * Clock:     the one passed in, Unix microseconds.
 * Ceiling:   BUDGET_MAX_ENTRIES of counters and of memories. */
#ifndef CACHE_BUDGET_LOCAL_H
#define CACHE_BUDGET_LOCAL_H

#include "cache/budget_rules.h"

struct budget_local; /* opaque */

struct budget_local *budget_local_new(void);
void budget_local_free(struct budget_local *l);

enum { BUDGET_WHOLE = 0 }; /* as n_shares: nobody else decides */

/* Charges all lines or none; a remembered call is not charged. Sets charged, budget and
 * retry_after_ms of the verdict, which is zeroed before. */
void budget_local_take(struct budget_local *l, const struct budget_bill *bill, int64_t n_shares,
                       int64_t now_us, struct budget_verdict *verdict);

/* Gives back what was charged here. */
void budget_local_refund(struct budget_local *l, const struct budget_bill *bill, int64_t now_us);

/* Whether the call was charged in the last BUDGET_REMEMBER_MS, here or as noted. */
bool budget_local_remembers(struct budget_local *l, const struct budget_bill *bill, int64_t now_us);
void budget_local_forget(struct budget_local *l, const struct budget_bill *bill);

/* What Redis decided on a bill. */
struct budget_note {
    bool charged;                   /* to be remembered here too */
    int64_t day;                    /* since 1970-01-01 UTC */
    int64_t used[BUDGET_MAX_LINES]; /* of each line's day; where it has no such limit, nothing */
};
void budget_local_note(struct budget_local *l, const struct budget_bill *bill,
                       const struct budget_note *note, int64_t now_us);

#endif
