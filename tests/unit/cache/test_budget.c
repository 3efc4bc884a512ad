/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets over an injected clock: exact limits, exact waits, all or none, remembered, given back.
 */
#include "cache/budget.h"

#include <criterion/criterion.h>

static const int64_t NOON_MS = 1800000000000 / 86400000 * 86400000 + 12 * 3600 * 1000LL;

struct caller {
    struct digest subject;
    struct slice tenant;
};

static void on_done(struct op *op)
{
    (void)op;
}

static struct cache_key call_key(uint64_t n)
{
    struct cache_key key;
    digest_of((struct slice){(const char *)&n, sizeof(n)}, &key.value);
    return key;
}

static struct caller caller_of(const char *tenant, const char *subject)
{
    struct caller who = {.tenant = slice_of(tenant)};
    digest_of(slice_of(subject), &who.subject);
    return who;
}

static struct budget_verdict take(struct budget *b, const struct caller *who, uint64_t call,
                                  int64_t now_ms, enum err *ret_result)
{
    struct cache_key key = call_key(call);
    struct budget_charge charge = {who->tenant, &who->subject, "search_kb", &key, now_ms};
    struct budget_verdict verdict;
    struct op op = {.on_done = on_done};
    budget_take(b, NULL, &charge, &verdict, &op);
    *ret_result = op.result;
    return verdict;
}

static bool passes(struct budget *b, const struct caller *who, uint64_t call, int64_t now_ms)
{
    enum err result;
    (void)take(b, who, call, now_ms, &result);
    return result == ERR_OK;
}

static void refund(struct budget *b, const struct caller *who, uint64_t call, int64_t now_ms)
{
    struct cache_key key = call_key(call);
    struct budget_charge charge = {who->tenant, &who->subject, "search_kb", &key, now_ms};
    struct budget_verdict verdict = {.charged = true, .in_process = true};
    budget_refund(b, NULL, &charge, &verdict);
}

Test(budget, minute_lets_the_burst_and_the_rate_pass)
{
    const struct budget_rules rules = {.tenant = {120, 20, 0}};
    struct budget *b = budget_new(&rules, NULL);
    struct caller who = caller_of("acme", "ann");
    for (int minute = 0; minute < 4; minute++) {
        int passed = 0;
        for (int i = 0; i < 400; i++) {
            int64_t now = NOON_MS + minute * 60000 + i * 150;
            passed += passes(b, &who, (uint64_t)(minute * 400 + i), now);
        }
        int wanted = minute == 0 ? 140 : 120;
        cr_assert(abs(passed - wanted) <= 1, "minute %d: %d passed", minute, passed);
    }
    budget_free(b);
}

Test(budget, names_the_budget_and_the_exact_wait)
{
    const struct budget_rules rules = {.tenant = {60, 2, 0}};
    struct budget *b = budget_new(&rules, NULL);
    struct caller who = caller_of("acme", "ann");
    cr_assert(passes(b, &who, 1, NOON_MS));
    cr_assert(passes(b, &who, 2, NOON_MS));
    enum err result;
    struct budget_verdict verdict = take(b, &who, 3, NOON_MS, &result);
    cr_assert_eq(result, ERR_BUDGET_SPENT);
    cr_assert_str_eq(verdict.budget, "tenant/minute");
    cr_assert_eq(verdict.retry_after_ms, 1000);
    cr_assert_not(verdict.charged);
    cr_assert_not(passes(b, &who, 4, NOON_MS + 999));
    cr_assert(passes(b, &who, 5, NOON_MS + 1000));
    budget_free(b);
}

Test(budget, day_ends_at_midnight_utc)
{
    const struct budget_rules rules = {.subject = {0, 0, 3}};
    struct budget *b = budget_new(&rules, NULL);
    struct caller ann = caller_of("acme", "ann"), bob = caller_of("acme", "bob");
    for (uint64_t i = 0; i < 3; i++) {
        cr_assert(passes(b, &ann, i, NOON_MS));
    }
    enum err result;
    struct budget_verdict verdict = take(b, &ann, 9, NOON_MS, &result);
    cr_assert_eq(result, ERR_BUDGET_SPENT);
    cr_assert_str_eq(verdict.budget, "subject/day");
    cr_assert_eq(verdict.retry_after_ms, 12 * 3600 * 1000);
    cr_assert(passes(b, &bob, 10, NOON_MS), "another subject has its own day");
    cr_assert(passes(b, &ann, 11, NOON_MS + 12 * 3600 * 1000));
    budget_free(b);
}

Test(budget, charges_all_or_none)
{
    const struct budget_rules rules = {.tenant = {60, 10, 0}, .subject = {60, 1, 0}};
    struct budget *b = budget_new(&rules, NULL);
    struct caller ann = caller_of("acme", "ann");
    cr_assert(passes(b, &ann, 0, NOON_MS));
    for (uint64_t i = 1; i < 50; i++) {
        cr_assert_not(passes(b, &ann, i, NOON_MS), "the subject's burst is one");
    }
    char name[] = "s0";
    for (char i = 0; i < 9; i++) { /* nine of the tenant's ten are left: refused calls took none */
        name[1] = (char)('0' + i);
        struct caller other = caller_of("acme", name);
        cr_assert(passes(b, &other, 100 + (uint64_t)i, NOON_MS));
    }
    struct caller last = caller_of("acme", "last");
    cr_assert_not(passes(b, &last, 200, NOON_MS));
    struct caller foreign = caller_of("globex", "ann");
    cr_assert(passes(b, &foreign, 201, NOON_MS), "another tenant is unaffected");
    budget_free(b);
}

Test(budget, charges_the_same_call_once_for_ten_minutes)
{
    const struct budget_rules rules = {.subject = {0, 0, 2}};
    struct budget *b = budget_new(&rules, NULL);
    struct caller ann = caller_of("acme", "ann");
    enum err result;
    cr_assert(take(b, &ann, 1, NOON_MS, &result).charged);
    for (int i = 0; i < 20; i++) {
        cr_assert_not(take(b, &ann, 1, NOON_MS + BUDGET_REMEMBER_MS - 1, &result).charged);
        cr_assert_eq(result, ERR_OK);
    }
    cr_assert(take(b, &ann, 1, NOON_MS + BUDGET_REMEMBER_MS, &result).charged);
    cr_assert_not(passes(b, &ann, 2, NOON_MS + BUDGET_REMEMBER_MS),
                  "two charges are the day's two");
    budget_free(b);
}

Test(budget, gives_a_charge_back_once)
{
    const struct budget_rules rules = {.tenant = {60, 1, 1}};
    struct budget *b = budget_new(&rules, NULL);
    struct caller ann = caller_of("acme", "ann");
    cr_assert(passes(b, &ann, 1, NOON_MS));
    refund(b, &ann, 7, NOON_MS); /* never charged: gives nothing */
    cr_assert_not(passes(b, &ann, 2, NOON_MS));
    refund(b, &ann, 1, NOON_MS);
    refund(b, &ann, 1, NOON_MS);
    cr_assert(passes(b, &ann, 3, NOON_MS));
    cr_assert_not(passes(b, &ann, 4, NOON_MS), "given back once, not twice");
    budget_free(b);
}

Test(budget, tool_has_no_limit_unless_named)
{
    const struct budget_named named = {SLICE_LIT("acme"), SLICE_LIT("search_kb"), {60, 1, 0}};
    const struct budget_rules rules = {.named = &named, .n_named = 1};
    struct budget *b = budget_new(&rules, NULL);
    struct caller acme = caller_of("acme", "ann"), globex = caller_of("globex", "ann");
    cr_assert(passes(b, &acme, 1, NOON_MS));
    enum err result;
    cr_assert_str_eq(take(b, &acme, 2, NOON_MS, &result).budget, "tool/minute");
    for (uint64_t i = 0; i < 100; i++) {
        cr_assert(passes(b, &globex, i, NOON_MS));
    }
    budget_free(b);
}

Test(budget, never_passes_more_than_the_limit_at_any_pace)
{
    const struct budget_rules rules = {.tenant = {120, 20, 0}};
    for (int64_t step = 1; step < 2000; step += 37) {
        struct budget *b = budget_new(&rules, NULL);
        struct caller who = caller_of("acme", "ann");
        int64_t passed = 0, elapsed = 0;
        for (uint64_t i = 0; i < 300; i++, elapsed += step) {
            passed += passes(b, &who, i, NOON_MS + elapsed);
        }
        cr_assert_leq(passed, 20 + (elapsed - step) * 120 / 60000 + 1, "step %ld", (long)step);
        budget_free(b);
    }
}
