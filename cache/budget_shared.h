/* SPDX-License-Identifier: Apache-2.0 */
/* budget_shared: budgets kept in Redis for all replicas: what is sent and how a reply is read.
 *
 * Keys, all of a tenant in one hash slot, each with an expiry set by the command that writes it:
 *   <prefix>b:{TENANT}:KIND:ID:m  "AT LEVEL": a leaky bucket, see budget_take.lua; lives until it
 * has drained, and a second <prefix>b:{TENANT}:KIND:ID:d  "DAY USED": what was charged on that day,
 * counted since 1970-01-01 UTC; lives until an hour after its end <prefix>b:{TENANT}:c:ID "DAY
 * COST": a charge; lives BUDGET_REMEMBER_MS TENANT and ID are 32 hexadecimal characters of a
 * SHA-256, KIND is t, s or l (tenant, subject, tool). A value that is not of this form fails the
 * script: a failure of Redis, not a refusal. Commands (for an ACL): EVALSHA, EVAL, GET, SET, DEL,
 * TIME, beside those of redis_loop. Pure. */
#ifndef CACHE_BUDGET_SHARED_H
#define CACHE_BUDGET_SHARED_H

#include "cache/budget_local.h"
#include "service/loop/redis_loop.h"

enum {
    BUDGET_MAX_WINDOWS = 2 * BUDGET_MAX_LINES, /* a minute and a day of each line */
    BUDGET_MAX_KEYS = 1 + BUDGET_MAX_WINDOWS,
    BUDGET_MAX_ARGS = 2 + 3 * BUDGET_MAX_WINDOWS,
    BUDGET_KEY_BYTES = BUDGET_PREFIX_MAX_BYTES + 80,
    BUDGET_ARG_BYTES = 24,
};

/* KEYS and ARGV of a script; the slices point into the two rooms. */
struct budget_script_input {
    struct slice keys[BUDGET_MAX_KEYS], args[BUDGET_MAX_ARGS];
    size_t n_keys, n_args;
    char key_room[BUDGET_MAX_KEYS][BUDGET_KEY_BYTES], arg_room[BUDGET_MAX_ARGS][BUDGET_ARG_BYTES];
};

/* prefix: at most BUDGET_PREFIX_MAX_BYTES, what is longer is cut. */
void budget_shared_take_input(struct slice prefix, const struct budget_bill *bill,
                              struct budget_script_input *ret_input);
void budget_shared_refund_input(struct slice prefix, const struct budget_bill *bill,
                                struct budget_script_input *ret_input);

/* Reads what budget_take.lua replied to that bill. False: it is not of its form, and nothing is
 * set. note.day 0: the call was remembered, so no counter was looked at. */
struct budget_reading {
    struct budget_verdict verdict;
    struct budget_note note;
};
bool budget_shared_read(const struct redis_reply *reply, const struct budget_bill *bill,
                        struct budget_reading *ret_reading);

#endif
