/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets kept whole in one process: exact to the call over an hour, waits exact to the
 * millisecond, whatever the limit divides by. */
#include "cache/budget_local.h"
#include "tests/unit/cache/budget_bill.h"

#include <criterion/criterion.h>

static struct budget_verdict take(struct budget_local *l, const struct budget_rules *rules,
                                  uint64_t call, int64_t now_us)
{
    struct budget_verdict verdict = {0};
    struct budget_bill bill = bill_of(rules, "ann", call);
    budget_local_take(l, &bill, BUDGET_WHOLE, now_us, &verdict);
    return verdict;
}

static void refund(struct budget_local *l, const struct budget_rules *rules, uint64_t call,
                   int64_t now_us)
{
    struct budget_bill bill = bill_of(rules, "ann", call);
    budget_local_refund(l, &bill, now_us);
}

Test(budget_local, an_hour_lets_exactly_its_limit_and_the_burst_pass, .timeout = 60)
{
    static const struct {
        int64_t per_minute, burst, cost, step_us;
    } rows[] = {{7, 2, 1, 301000},   {13, 4, 1, 211000},           {120, 20, 1, 97001},
                {59, 3, 1, 330000},  {1000000, 3000, 1000, 50003}, {999983, 5000, 999, 50021},
                {70, 20, 10, 400009}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct budget_tool tool = {SLICE_LIT("search_kb"), rows[i].cost, false};
        const struct budget_rules rules = {
            .tenant = {rows[i].per_minute, rows[i].burst, 0}, .tools = &tool, .n_tools = 1};
        struct budget_local *l = budget_local_new();
        struct budget_bill bill = bill_of(&rules, "ann", 0);
        int64_t elapsed = 0, passed = 0;
        for (uint64_t call = 0; elapsed <= HOUR_US; call++, elapsed += rows[i].step_us) {
            struct budget_verdict verdict = {0};
            budget_local_take(l, bill_again(&bill, call), BUDGET_WHOLE, NOON_US + elapsed,
                              &verdict);
            passed += verdict.charged;
        }
        int64_t wanted = (rows[i].per_minute * 60 + rows[i].burst) / rows[i].cost;
        cr_assert(llabs(passed - wanted) <= 1, "row %zu: %lld passed, %lld wanted", i,
                  (long long)passed, (long long)wanted);
        budget_local_free(l);
    }
}

Test(budget_local, the_wait_is_exact_to_the_millisecond)
{
    const struct budget_tool tool = {SLICE_LIT("search_kb"), 3, false};
    for (uint64_t seed = 1; seed <= 200; seed++) {
        uint64_t random = seed;
        const struct budget_rules rules = {
            .tenant = {1 + random_below(&random, 300), 3 + random_below(&random, 30), 0},
            .tools = &tool,
            .n_tools = 1};
        struct budget_local *l = budget_local_new();
        int64_t now = NOON_US;
        struct budget_verdict verdict;
        uint64_t call = 0;
        while ((verdict = take(l, &rules, call++, now)).charged) {
            now += random_below(&random, 100000);
        }
        cr_assert_str_eq(verdict.budget, "tenant/minute");
        int64_t wait_us = verdict.retry_after_ms * 1000;
        cr_assert_not(take(l, &rules, call++, now + wait_us - 1000).charged, "seed %llu",
                      (unsigned long long)seed);
        cr_assert(take(l, &rules, call++, now + wait_us).charged, "seed %llu",
                  (unsigned long long)seed);
        budget_local_free(l);
    }
}

Test(budget_local, names_the_longest_wait)
{
    const struct budget_rules rules = {.tenant = {60, 1, 0}, .subject = {6, 1, 1}};
    struct budget_local *l = budget_local_new();
    cr_assert(take(l, &rules, 1, NOON_US).charged);
    struct budget_verdict verdict = take(l, &rules, 2, NOON_US);
    cr_assert_str_eq(verdict.budget, "subject/day");
    cr_assert_eq(verdict.retry_after_ms, 12 * 3600 * 1000);
    budget_local_free(l);
}

Test(budget_local, a_lowered_limit_holds_at_once_and_waits_no_longer_than_its_burst)
{
    const struct budget_rules high = {.tenant = {6000, 1000, 0}}, low = {.tenant = {60, 5, 0}};
    struct budget_local *l = budget_local_new();
    for (uint64_t i = 0; i < 1000; i++) {
        cr_assert(take(l, &high, i, NOON_US).charged);
    }
    struct budget_verdict verdict = take(l, &low, 1000, NOON_US);
    cr_assert_not(verdict.charged);
    cr_assert_eq(verdict.retry_after_ms, 1000, "one call of a full burst has to drain");
    cr_assert(take(l, &low, 1001, NOON_US + 1000000).charged, "what was told holds");
    budget_local_free(l);
}

Test(budget_local, a_clock_that_went_back_costs_a_full_burst_at_most)
{
    const struct budget_rules rules = {.tenant = {60, 5, 0}};
    struct budget_local *l = budget_local_new();
    cr_assert(take(l, &rules, 1, NOON_US).charged);
    int64_t earlier = NOON_US - 6 * HOUR_US;
    struct budget_verdict verdict = take(l, &rules, 2, earlier);
    cr_assert_not(verdict.charged);
    cr_assert_eq(verdict.retry_after_ms, 1000);
    cr_assert(take(l, &rules, 3, earlier + 1000000).charged);
    budget_local_free(l);
}

Test(budget_local, clocks_a_moment_apart_let_nothing_more_pass)
{
    const struct budget_rules rules = {.tenant = {600, 1, 0}};
    struct budget_local *l = budget_local_new();
    struct budget_bill bill = bill_of(&rules, "ann", 0);
    int passed = 0;
    for (uint64_t i = 0; i < 60000; i++) { /* a minute, each read a millisecond late or early */
        struct budget_verdict verdict = {0};
        int64_t now = NOON_US + (int64_t)i * 1000 + (i % 2 ? 1000 : -1000);
        budget_local_take(l, bill_again(&bill, i), BUDGET_WHOLE, now, &verdict);
        passed += verdict.charged;
    }
    cr_assert_leq(passed, 601);
    cr_assert_geq(passed, 590);
    budget_local_free(l);
}

Test(budget_local, a_refund_gives_back_once_and_never_below_nothing)
{
    const struct budget_tool tool = {SLICE_LIT("search_kb"), 4, false};
    const struct budget_rules rules = {
        .tenant = {60, 8, 0}, .subject = {0, 1, 8}, .tools = &tool, .n_tools = 1};
    struct budget_local *l = budget_local_new();
    cr_assert(take(l, &rules, 1, NOON_US).charged);
    cr_assert(take(l, &rules, 2, NOON_US + 7000000).charged);
    refund(l, &rules, 1, NOON_US + 7000000);
    refund(l, &rules, 1, NOON_US + 7000000);
    refund(l, &rules, 3, NOON_US + 7000000); /* never charged */
    cr_assert(take(l, &rules, 4, NOON_US + 7000000).charged);
    cr_assert_not(take(l, &rules, 5, NOON_US + 7000000).charged, "one was given back, not two");
    for (uint64_t i = 0; i < 20; i++) { /* a bucket that is empty stays so */
        cr_assert(take(l, &rules, 100 + i, NOON_US + DAY_US).charged);
        refund(l, &rules, 100 + i, NOON_US + DAY_US + 60000000);
    }
    int64_t late = NOON_US + DAY_US + 60000000;
    cr_assert(take(l, &rules, 200, late).charged);
    cr_assert(take(l, &rules, 201, late).charged);
    cr_assert_not(take(l, &rules, 202, late).charged);
    budget_local_free(l);
}

Test(budget_local, a_refund_after_midnight_takes_nothing_from_the_new_day)
{
    const struct budget_rules rules = {.subject = {0, 1, 2}};
    const int64_t midnight = NOON_US + 12 * HOUR_US;
    struct budget_local *l = budget_local_new();
    cr_assert(take(l, &rules, 1, midnight - 1).charged);
    cr_assert(take(l, &rules, 2, midnight).charged);
    refund(l, &rules, 1, midnight);
    cr_assert(take(l, &rules, 3, midnight).charged);
    cr_assert_not(take(l, &rules, 4, midnight).charged, "two a day, both of today");
    refund(l, &rules, 2, midnight);
    cr_assert(take(l, &rules, 5, midnight).charged);
    budget_local_free(l);
}

Test(budget_local, numbers_at_the_maxima_are_exact)
{
    const struct budget_tool tool = {SLICE_LIT("search_kb"), 1000, false};
    const struct budget_rules rules = {
        .tenant = {1000000, 1000000, 1000000}, .tools = &tool, .n_tools = 1};
    struct budget_local *l = budget_local_new();
    for (uint64_t i = 0; i < 1000; i++) {
        cr_assert(take(l, &rules, i, NOON_US).charged);
    }
    struct budget_verdict verdict = take(l, &rules, 1000, NOON_US);
    cr_assert_str_eq(verdict.budget, "tenant/day");
    const struct budget_rules minute = {
        .tenant = {1000000, 1000000, 1000000000}, .tools = &tool, .n_tools = 1};
    verdict = take(l, &minute, 1000, NOON_US);
    cr_assert_str_eq(verdict.budget, "tenant/minute");
    cr_assert_eq(verdict.retry_after_ms, 60, "1,000 of 1,000,000 a minute");
    budget_local_free(l);
}

Test(budget_local, what_redis_charged_is_remembered_and_not_given_back_here)
{
    const struct budget_rules rules = {.subject = {0, 1, 1}};
    struct budget_local *l = budget_local_new();
    struct budget_bill bill = bill_of(&rules, "ann", 1);
    const struct budget_note note = {.charged = true, .day = NOON_US / DAY_US, .used = {1}};
    cr_assert_not(budget_local_remembers(l, &bill, NOON_US));
    budget_local_note(l, &bill, &note, NOON_US);
    cr_assert(budget_local_remembers(l, &bill, NOON_US));
    int64_t last = NOON_US + BUDGET_REMEMBER_MS * INT64_C(1000) - 1;
    cr_assert(budget_local_remembers(l, &bill, last));
    cr_assert_not(budget_local_remembers(l, &bill, last + 1));
    budget_local_note(l, &bill, &note, NOON_US);
    cr_assert(take(l, &rules, 2, NOON_US).charged);
    refund(l, &rules, 1, NOON_US);
    cr_assert_not(take(l, &rules, 3, NOON_US).charged);
    budget_local_forget(l, &bill);
    cr_assert_not(budget_local_remembers(l, &bill, NOON_US));
    budget_local_free(l);
}
