/* SPDX-License-Identifier: Apache-2.0 */
/* A share of the budgets, while Redis does not decide: enough for whoever stays under a tenth of
 * its limits, and never more in all than the header of budget says. */
#include "cache/budget_local.h"
#include "tests/unit/cache/budget_bill.h"

#include <criterion/criterion.h>

static const struct budget_rules DEFAULTS = {.tenant = {120, 20, 20000},
                                             .subject = {60, 10, 10000}};

static bool passes(struct budget_local *l, const struct budget_bill *bill, int64_t n_shares,
                   int64_t now_us)
{
    struct budget_verdict verdict = {0};
    budget_local_take(l, bill, n_shares, now_us, &verdict);
    return verdict.charged;
}

/* How many calls pass if one is tried each 10 ms for so long. */
static int64_t count(struct budget_local *l, const struct budget_rules *rules, int64_t n_shares,
                     int64_t from_us, int64_t for_us)
{
    static uint64_t call;
    struct budget_bill bill = bill_of(rules, "ann", 0);
    int64_t passed = 0;
    for (int64_t t = 0; t < for_us; t += 10000) {
        passed += passes(l, bill_again(&bill, call++), n_shares, from_us + t);
    }
    return passed;
}

Test(budget_share, a_minute_falls_into_shares)
{
    static const struct {
        struct budget_rule rule;
        int64_t n_shares, first_minute, later_minute;
    } rows[] = {
        {{120, 20, 0}, 1, 140, 120}, {{120, 20, 0}, 3, 60, 40}, {{120, 20, 0}, 10, 24, 12},
        {{600, 20, 0}, 3, 220, 200}, {{6, 60, 0}, 3, 22, 2},    {{120, 4, 0}, 3, 44, 40},
        {{5, 2, 0}, 10, 2, 1}, /* at least what one call needs */
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct budget_rules rules = {.tenant = rows[i].rule};
        struct budget_local *l = budget_local_new();
        int64_t first = count(l, &rules, rows[i].n_shares, NOON_US, MINUTE_US);
        int64_t later = count(l, &rules, rows[i].n_shares, NOON_US + MINUTE_US, MINUTE_US);
        cr_assert(llabs(first - rows[i].first_minute) <= 1 && first > 0, "row %zu: %lld", i,
                  (long long)first);
        cr_assert(llabs(later - rows[i].later_minute) <= 1 && later > 0, "row %zu: %lld", i,
                  (long long)later);
        budget_local_free(l);
    }
}

Test(budget_share, a_dear_call_passes_when_alone)
{
    const struct budget_tool tool = {SLICE_LIT("search_kb"), 15, false};
    const struct budget_rules rules = {.tenant = {30, 15, 30}, .tools = &tool, .n_tools = 1};
    struct budget_local *l = budget_local_new();
    struct budget_bill first = bill_of(&rules, "ann", 1), second = bill_of(&rules, "ann", 2);
    cr_assert(passes(l, &first, 10, NOON_US));
    cr_assert_not(passes(l, &second, 10, NOON_US));
    budget_local_free(l);
}

static void note(struct budget_local *l, const struct budget_rules *rules, int64_t day,
                 int64_t used)
{
    struct budget_bill bill = bill_of(rules, "ann", 0);
    const struct budget_note n = {.day = day, .used = {used, used, used}};
    budget_local_note(l, &bill, &n, NOON_US);
}

Test(budget_share, of_a_day_a_share_of_what_redis_said_is_left)
{
    const struct budget_rules rules = {.tenant = {0, 1, 900}};
    const int64_t today = NOON_US / DAY_US;
    struct budget_local *l = budget_local_new();
    note(l, &rules, today, 600);
    cr_assert_eq(count(l, &rules, 3, NOON_US, 10 * MINUTE_US), 100);
    note(l, &rules, today, 660); /* 240 left: 80 each, of which 100 are taken */
    cr_assert_eq(count(l, &rules, 3, NOON_US + HOUR_US, MINUTE_US), 0, "coming and going adds up");
    note(l, &rules, today, 570); /* 330 left: 110 each */
    cr_assert_eq(count(l, &rules, 3, NOON_US + 2 * HOUR_US, MINUTE_US), 10);
    note(l, &rules, today, 900);
    cr_assert_eq(count(l, &rules, 3, NOON_US + 3 * HOUR_US, MINUTE_US), 0);
    const struct budget_rules raised = {.tenant = {0, 1, 1800}};
    cr_assert_eq(count(l, &raised, 3, NOON_US + 3 * HOUR_US, 10 * MINUTE_US), 190);
    cr_assert_eq(count(l, &rules, 3, NOON_US + 12 * HOUR_US, 10 * MINUTE_US), 300, "a new day");
    budget_local_free(l);
}

Test(budget_share, of_a_day_never_told_a_share_an_hour)
{
    const struct budget_rules rules = {.tenant = {0, 1, 7200}};
    struct budget_local *l = budget_local_new();
    struct budget_verdict verdict = {0};
    cr_assert_eq(count(l, &rules, 3, NOON_US, 30 * MINUTE_US), 100);
    struct budget_bill bill = bill_of(&rules, "ann", 1000000);
    budget_local_take(l, &bill, 3, NOON_US + 30 * MINUTE_US, &verdict);
    cr_assert_str_eq(verdict.budget, "tenant/day");
    cr_assert_eq(verdict.retry_after_ms, 30 * 60 * 1000, "the next hour");
    cr_assert_eq(count(l, &rules, 3, NOON_US + HOUR_US, 30 * MINUTE_US), 100);
    budget_local_free(l);
    const struct budget_rules small = {.tenant = {0, 1, 20}};
    l = budget_local_new();
    int64_t passed = 0;
    for (int64_t hour = -12; hour < 12; hour++) {
        passed += count(l, &small, 10, NOON_US + hour * HOUR_US, MINUTE_US);
    }
    cr_assert_eq(passed, 2, "at least one an hour, but no more than a tenth of the day");
    budget_local_free(l);
}

Test(budget_share, a_refund_gives_the_share_back)
{
    const struct budget_rules rules = {.tenant = {10, 10, 240}};
    struct budget_local *l = budget_local_new();
    for (uint64_t i = 0; i < 20; i++) {
        struct budget_bill bill = bill_of(&rules, "ann", i);
        cr_assert(passes(l, &bill, 10, NOON_US + (int64_t)i), "call %llu", (unsigned long long)i);
        budget_local_refund(l, &bill, NOON_US + (int64_t)i);
    }
    budget_local_free(l);
}

/* --- who stays under a tenth of its limits --- */

enum pace { AT_ONCE, EVEN, IN_PAIRS, N_PACES };

/* When the i-th of n calls of a minute comes. */
static int64_t moment(enum pace pace, int64_t i, int64_t n)
{
    int64_t gap = MINUTE_US / n;
    return pace == AT_ONCE ? i : i * gap + (pace == IN_PAIRS && i % 2 == 0 ? gap - 1 : 0);
}

/* A subject's day at a tenth of each of its limits; without `told` of its hours too. */
struct tenth {
    struct budget_local *l;
    struct budget_bill bill;
    int64_t n_shares, in_hour, in_day;
    enum pace pace;
    bool told;
    uint64_t call;
};

static void spend_minute(struct tenth *t, int64_t start_us)
{
    const struct budget_rule *rule = &DEFAULTS.subject;
    int64_t n = rule->per_minute / 10;
    for (int64_t i = 0; i < n; i++) {
        if (t->in_day < rule->per_day / 10 && (t->told || t->in_hour < rule->per_day / 240)) {
            cr_assert(passes(t->l, bill_again(&t->bill, t->call++), t->n_shares,
                             start_us + moment(t->pace, i, n)),
                      "%lld shares, pace %d, told %d, call %llu", (long long)t->n_shares, t->pace,
                      t->told, (unsigned long long)t->call);
            t->in_hour++;
            t->in_day++;
        }
    }
}

/* All at one of the replicas, and its tenant has nobody else. */
static void stay_under_a_tenth(struct tenth t, int64_t from_us)
{
    t.l = budget_local_new();
    t.bill = bill_of(&DEFAULTS, "ann", 0);
    if (t.told) {
        note(t.l, &DEFAULTS, from_us / DAY_US - 1, 5000); /* of yesterday: nothing of today */
    }
    for (int64_t minute = 0; minute < 24 * 60; minute++) {
        int64_t start = from_us + minute * MINUTE_US;
        t.in_hour = start % HOUR_US < MINUTE_US ? 0 : t.in_hour;
        t.in_day = start % DAY_US < MINUTE_US ? 0 : t.in_day;
        spend_minute(&t, start);
    }
    cr_assert_geq(t.call, t.told ? 1000 : 900);
    budget_local_free(t.l);
}

Test(budget_share, nobody_under_a_tenth_of_its_limits_is_refused, .timeout = 60)
{
    static const int64_t shares[] = {1, 3, 10};
    static const int64_t starts[] = {NOON_US, NOON_US + 12 * HOUR_US, NOON_US - 12 * HOUR_US + 30};
    for (size_t i = 0; i < 3; i++) {
        for (size_t s = 0; s < 3; s++) {
            for (int pace = 0; pace < N_PACES; pace++) {
                for (int told = 0; told < 2; told++) {
                    stay_under_a_tenth((struct tenth){.n_shares = shares[i],
                                                      .pace = (enum pace)pace,
                                                      .told = told},
                                       starts[s]);
                }
            }
        }
    }
}

/* --- how much too much --- */

enum { MAX_REPLICAS = 10 };

struct fleet {
    struct budget_local *redis, *replicas[MAX_REPLICAS];
    struct budget_bill bill;
    int64_t n_replicas, used, by_share;
    uint64_t random, call;
};

/* One call more than anybody may make, at any replica. Redis' count of the day is told by the sum
 * of what it charged. */
static bool try_call(struct fleet *f, bool is_up, int64_t now_us)
{
    struct budget_local *here = f->replicas[random_below(&f->random, f->n_replicas)];
    const struct budget_bill *bill = bill_again(&f->bill, f->call++);
    if (!is_up) {
        bool passed = passes(here, bill, f->n_replicas, now_us);
        f->by_share += passed;
        return passed;
    }
    bool passed = passes(f->redis, bill, BUDGET_WHOLE, now_us);
    f->used += passed;
    const struct budget_note n = {.charged = passed, .day = now_us / DAY_US, .used = {f->used}};
    budget_local_note(here, bill, &n, now_us);
    return passed;
}

static void fleet_init(struct fleet *f, const struct budget_rules *rules, int64_t n_replicas,
                       uint64_t seed)
{
    *f = (struct fleet){.redis = budget_local_new(), .n_replicas = n_replicas, .random = seed};
    f->bill = bill_of(rules, "ann", 0);
    for (int64_t i = 0; i < n_replicas; i++) {
        f->replicas[i] = budget_local_new();
    }
}

static void fleet_done(struct fleet *f)
{
    budget_local_free(f->redis);
    for (int64_t i = 0; i < f->n_replicas; i++) {
        budget_local_free(f->replicas[i]);
    }
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

Test(budget_share, minutes_pass_at_most_what_is_documented, .timeout = 60)
{
    const struct budget_rules rules = {.tenant = {120, 20, 0}};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct fleet f;
        fleet_init(&f, &rules, seed % 2 ? 3 : 10, seed);
        int64_t passed = 0;
        bool is_up = true;
        for (int64_t t = 0; t < 5 * MINUTE_US; t += 20000) {
            is_up = random_below(&f.random, 100) ? is_up : !is_up;
            passed += try_call(&f, is_up, NOON_US + t);
        }
        int64_t at_once = f.n_replicas * 20 < 120 ? f.n_replicas * 20 : 120;
        cr_assert_leq(passed, 2 * 5 * 120 + 20 + max_of(20, at_once), "seed %llu",
                      (unsigned long long)seed);
        cr_assert_gt(f.by_share, 5 * 20, "seed %llu: Redis was never away",
                     (unsigned long long)seed);
        fleet_done(&f);
    }
}

Test(budget_share, a_day_passes_at_most_what_is_documented, .timeout = 60)
{
    const struct budget_rules rules = {.tenant = {0, 1, 900}};
    for (uint64_t seed = 1; seed <= 12; seed++) {
        struct fleet f;
        fleet_init(&f, &rules, seed % 2 ? 3 : 10, seed);
        int64_t passed = 0;
        bool is_up = seed % 3 != 0;
        for (int64_t t = 0; t < 12 * HOUR_US; t += 7000000) {
            is_up = random_below(&f.random, 50) ? is_up : !is_up;
            passed += try_call(&f, is_up, NOON_US + t);
        }
        cr_assert_leq(passed, 2 * 900, "seed %llu", (unsigned long long)seed);
        cr_assert_leq(f.by_share, 900, "seed %llu", (unsigned long long)seed);
        cr_assert_gt(f.by_share, 0, "seed %llu", (unsigned long long)seed);
        fleet_done(&f);
    }
}

Test(budget_share, one_absence_without_traffic_between_adds_nothing_to_a_day)
{
    const struct budget_rules rules = {.tenant = {0, 1, 900}};
    struct fleet f;
    fleet_init(&f, &rules, 3, 1);
    int64_t passed = 0;
    for (int i = 0; i < 500; i++) {
        passed += try_call(&f, true, NOON_US + i);
    }
    for (int64_t i = 0; i < 3; i++) { /* all know the last remainder */
        const struct budget_note n = {.day = NOON_US / DAY_US, .used = {f.used}};
        budget_local_note(f.replicas[i], &f.bill, &n, NOON_US);
    }
    for (int i = 0; i < 5000; i++) {
        passed += try_call(&f, false, NOON_US + MINUTE_US + i);
    }
    cr_assert_leq(passed, 900);
    cr_assert_geq(passed, 900 - 3);
    fleet_done(&f);
}
