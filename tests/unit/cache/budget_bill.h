/* SPDX-License-Identifier: Apache-2.0 */
/* budget_bill: what the tests of this folder charge, and their source of chance. */
#ifndef TESTS_CACHE_BUDGET_BILL_H
#define TESTS_CACHE_BUDGET_BILL_H

#include "cache/budget_rules.h"

#define NOON_US ((INT64_C(20000) * 24 + 12) * 3600 * 1000000)
#define MINUTE_US INT64_C(60000000)
#define HOUR_US (60 * MINUTE_US)
#define DAY_US (24 * HOUR_US)

/* xorshift64* */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

static inline int64_t random_below(uint64_t *state, int64_t n)
{
    return (int64_t)(next_random(state) % (uint64_t)n);
}

/* The bill of call number `call` of a subject of tenant "acme" to search_kb. */
static inline struct budget_bill bill_of(const struct budget_rules *rules, const char *subject,
                                         uint64_t call)
{
    struct digest who;
    struct cache_key key;
    struct budget_bill bill;
    digest_of(slice_of(subject), &who);
    digest_of((struct slice){(const char *)&call, sizeof(call)}, &key.value);
    const struct budget_charge charge = {
        .tenant = SLICE_LIT("acme"), .subject = &who, .tool = "search_kb", .call = &key};
    struct budget_rulebook *book = budget_rulebook_new(rules);
    budget_bill_make(book, &charge, &bill);
    budget_rulebook_unref(book);
    return bill;
}

/* The same for another call of the same subject, without working all out anew. */
static inline const struct budget_bill *bill_again(struct budget_bill *bill, uint64_t call)
{
    memcpy(bill->memory.bytes, &call, sizeof(call));
    return bill;
}

#endif
