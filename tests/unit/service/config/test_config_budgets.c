/* SPDX-License-Identifier: Apache-2.0 */
/* Costs, paid tools, what the engine stands, and budgets that contradict each other. */
#include "tests/unit/service/config/config_file.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(config_budgets, .init = config_file_make, .fini = config_file_remove);

static bool is_good(const char *text)
{
    struct config *c = config_file_load(slice_of(text));
    config_free(c);
    return c != NULL;
}

Test(config_budgets, knows_what_a_tool_costs)
{
    struct config *c = config_file_load_good("budgets:\n  costs: {search_kb: 5}\n  paid: [read]\n");
    const struct config_values *v = config_values(c);
    cr_assert_eq(v->n_tools, 2);
    cr_expect(slice_is(v->tools[0].tool, "search_kb") && v->tools[0].cost == 5);
    cr_expect_not(v->tools[0].is_paid);
    cr_expect(slice_is(v->tools[1].tool, "read") && v->tools[1].cost == 1);
    cr_expect(v->tools[1].is_paid);
    config_free(c);
}

Test(config_budgets, takes_costs_and_rates_at_both_limits_and_none_beyond)
{
    static const struct {
        const char *before, *key, *after;
        int64_t min, max;
    } rows[] = {
        {"budgets: {tenant: {burst: 1000}, subject: {burst: 1000}, costs: {", "search_kb", "}}\n",
         1, 1000},
        {"budgets: {tenant: {burst: 1000}, subject: {burst: 1000}, costs: {", "read", "}}\n", 1,
         1000},
        {"budgets: {tenant: {per_minute: 1}, subject: {per_minute: 0}}\nbackend: {", "max_rate",
         "}\n", 0, 1000000},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int64_t tries[] = {rows[i].min - 1, rows[i].min, rows[i].max, rows[i].max + 1};
        for (size_t k = 0; k < 4; k++) {
            char text[256];
            (void)snprintf(text, sizeof(text), "%s%s: %lld%s", rows[i].before, rows[i].key,
                           (long long)tries[k], rows[i].after);
            cr_expect_eq(is_good(text), k == 1 || k == 2, "%s%s", text, config_file_detail.text);
            cr_expect(k == 1 || k == 2 || strstr(config_file_detail.text, rows[i].key));
        }
    }
}

/* Below, at and above each limit that a cost may meet; KEY is the path of that limit. */
Test(config_budgets, refuses_a_cost_above_any_limit_of_the_tool)
{
    static const struct {
        const char *limits; /* of 20 */
        const char *tool, *key;
    } rows[] = {
        {"tenant: {burst: 20}, subject: {burst: 99}", "read", "budgets.tenant.burst"},
        {"tenant: {burst: 99}, subject: {burst: 20}", "search_kb", "budgets.subject.burst"},
        {"tenant: {per_minute: 0, per_day: 20}, subject: {burst: 99}", "read",
         "budgets.tenant.per_day"},
        {"tenant: {burst: 99}, subject: {burst: 99, per_day: 20}", "read",
         "budgets.subject.per_day"},
        {"tenant: {burst: 99}, subject: {burst: 99}, tenants: {acme: {burst: 20}}", "read",
         "budgets.tenants.acme.burst"},
        {"tenant: {burst: 99}, subject: {burst: 99}, tenants: {acme: {per_day: 20}}", "search_kb",
         "budgets.tenants.acme.per_day"},
        {"tenant: {burst: 99}, subject: {burst: 99}, "
         "tenants: {acme: {tools: {read: {per_minute: 1, burst: 20}}}}",
         "read", "budgets.tenants.acme.tools.read.burst"},
        {"tenant: {burst: 99}, subject: {burst: 99}, "
         "tenants: {acme: {tools: {search_kb: {per_day: 20}}}}",
         "search_kb", "budgets.tenants.acme.tools.search_kb.per_day"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int cost = 19; cost <= 21; cost++) {
            char text[512], key[64];
            (void)snprintf(text, sizeof(text), "store: x\nbudgets: {%s, costs: {%s: %d}}\n",
                           rows[i].limits, rows[i].tool, cost);
            (void)snprintf(key, sizeof(key), "budgets.costs.%s", rows[i].tool);
            if (cost <= 20) {
                cr_expect(is_good(text), "%s", config_file_detail.text);
            } else {
                config_file_expect_refused(text, 2, key, rows[i].key);
            }
        }
    }
}

Test(config_budgets, a_burst_holds_only_beside_a_minute_limit_and_for_its_own_tool)
{
    cr_expect(is_good("budgets:\n  tenant: {per_minute: 0, burst: 1, per_day: 0}\n"
                      "  subject: {per_minute: 0, burst: 1, per_day: 0}\n"
                      "  costs: {search_kb: 1000}\n"),
              "%s", config_file_detail.text);
    cr_expect(is_good("budgets:\n  tenant: {burst: 99}\n  subject: {burst: 99}\n"
                      "  tenants: {acme: {tools: {read: {per_minute: 5, burst: 1}}}}\n"
                      "  costs: {search_kb: 99}\n"),
              "%s", config_file_detail.text);
    config_file_expect_refused("budgets:\n  tenant: {burst: 9}\n  costs: {read: 10}\n", 3,
                               "budgets.costs.read", "raise that limit");
}

Test(config_budgets, refuses_a_burst_that_limits_nothing)
{
    config_file_expect_refused(
        "budgets:\n  tenants:\n    acme:\n      tools:\n        read: {burst: 5}\n", 5,
        "budgets.tenants.acme.tools.read.burst", "per_minute");
    config_file_expect_refused(
        "budgets:\n  tenant: {per_minute: 0}\n  tenants:\n    acme:\n      burst: 5\n", 5,
        "budgets.tenants.acme.burst", "per_minute");
    cr_expect(is_good("budgets: {tenants: {acme: {tools: {read: {burst: 5, per_minute: 0}}}}}\n"));
    cr_expect(is_good("budgets: {tenants: {acme: {burst: 5}}}\n"),
              "the default has a minute limit");
}

Test(config_budgets, refuses_a_budget_above_what_the_engine_stands)
{
    static const struct {
        const char *before, *after, *key;
    } rows[] = {
        {"tenant: {", "}", "budgets.tenant.per_minute"},
        {"tenant: {per_minute: 1}, subject: {", "}", "budgets.subject.per_minute"},
        {"tenants: {acme: {", "}}", "budgets.tenants.acme.per_minute"},
        {"tenants: {acme: {tools: {read: {", "}}}}", "budgets.tenants.acme.tools.read.per_minute"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (int rate = 149; rate <= 151; rate++) {
            char text[256];
            (void)snprintf(text, sizeof(text),
                           "budgets: {%sper_minute: %d%s}\nbackend:\n  max_rate: 150\n",
                           rows[i].before, rate, rows[i].after);
            if (rate <= 150) {
                cr_expect(is_good(text), "%s", config_file_detail.text);
            } else {
                config_file_expect_refused(text, 3, "backend.max_rate", rows[i].key);
            }
        }
    }
}

Test(config_budgets, a_tenant_without_a_limit_is_above_what_the_engine_stands)
{
    config_file_expect_refused("backend: {max_rate: 119}\n", 1, "backend.max_rate",
                               "`budgets.tenant.per_minute` allows more");
    cr_expect(is_good("backend: {max_rate: 120}\n"), "%s", config_file_detail.text);
    config_file_expect_refused("budgets: {tenant: {per_minute: 0}}\nbackend: {max_rate: 500}\n", 2,
                               "backend.max_rate", "`budgets.tenant.per_minute` allows any number");
    config_file_expect_refused(
        "budgets: {tenants: {acme: {per_minute: 0}}}\nbackend: {max_rate: 500}\n", 2,
        "backend.max_rate", "`budgets.tenants.acme.per_minute` allows any number");
    cr_expect(is_good("budgets: {subject: {per_minute: 0}, tenants: {acme: {tools: {read: "
                      "{per_day: 5}}}}}\nbackend: {max_rate: 500}\n"),
              "what a tenant bounds needs no limit of its own: %s", config_file_detail.text);
    cr_expect(is_good("budgets: {tenant: {per_minute: 0}}\nbackend: {max_rate: 0}\n"), "%s",
              config_file_detail.text);
}

Test(config_budgets, refuses_tools_that_do_not_exist)
{
    config_file_expect_refused("budgets:\n  costs: {search: 2}\n", 2, "search", "`search_kb`");
    config_file_expect_refused("budgets:\n  paid: [search_kb, ask]\n", 2, "budgets.paid",
                               "`ask`, which is no tool");
    config_file_expect_refused("budgets:\n  paid: search_kb\n", 2, "paid", "must be a list");
    config_file_expect_refused("budgets:\n  paid: [read, read]\n", 2, "paid", "twice");
    config_file_expect_refused("budgets: {costs: 5}\n", 1, "costs", "must be a map");
    config_file_expect_refused("backend: {max_rat: 5}\n", 1, "max_rat", "`max_rate`");
    config_file_expect_refused("backend: 5\n", 1, "backend", "must be a map");
}

Test(config_budgets, names_a_long_tenant_without_losing_the_fix)
{
    char text[1200], tenant[1001]; /* YAML ends a plain key at 1,024 */
    memset(tenant, 'a', sizeof(tenant) - 1);
    tenant[sizeof(tenant) - 1] = '\0';
    (void)snprintf(text, sizeof(text),
                   "budgets:\n  tenants: {%s: {tools: {read: {per_day: 1}}}}\n"
                   "  costs: {read: 2}\n",
                   tenant);
    config_file_expect_refused(text, 3, "budgets.costs.read", "aaa.tools.read.per_day");
    cr_expect_not_null(strstr(config_file_detail.text, "raise that limit"), "%s",
                       config_file_detail.text);
}
