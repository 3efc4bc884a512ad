/* SPDX-License-Identifier: Apache-2.0 */
/* Which counters a charge pays into, and that a rulebook is a copy. */
#include "tests/unit/cache/budget_bill.h"

#include <criterion/criterion.h>

Test(budget_rules, a_budget_without_limits_is_no_line)
{
    const struct budget_rules none = {.tenant = {0, 20, 0}, .subject = {0, 10, 0}};
    struct budget_bill bill = bill_of(&none, "ann", 1);
    cr_assert_eq(bill.n_lines, 0);
    cr_assert_eq(bill.cost, 1);
    cr_assert_not(bill.is_paid);
    const struct budget_rules days = {.subject = {0, 10, 5}};
    bill = bill_of(&days, "ann", 1);
    cr_assert_eq(bill.n_lines, 1);
    cr_assert_str_eq(bill.lines[0].day_name, "subject/day");
}

Test(budget_rules, lines_stand_in_order_and_name_their_windows)
{
    const struct budget_named named = {SLICE_LIT("acme"), SLICE_LIT("search_kb"), {3, 1, 0}};
    const struct budget_rules rules = {
        .tenant = {120, 20, 0}, .subject = {60, 10, 0}, .named = &named, .n_named = 1};
    const char *const minutes[] = {"tenant/minute", "subject/minute", "tool/minute"};
    const char *const days[] = {"tenant/day", "subject/day", "tool/day"};
    struct budget_bill bill = bill_of(&rules, "ann", 1), other = bill_of(&rules, "bob", 2);
    cr_assert_eq(bill.n_lines, BUDGET_MAX_LINES);
    for (size_t i = 0; i < bill.n_lines; i++) {
        cr_assert_str_eq(bill.lines[i].minute_name, minutes[i]);
        cr_assert_str_eq(bill.lines[i].day_name, days[i]);
        cr_assert_eq(bill.lines[i].kind, "tsl"[i]);
        cr_assert_eq(digest_eq(&bill.lines[i].counter, &other.lines[i].counter), i != 1,
                     "only the subject's counter is another subject's own");
    }
    cr_assert_eq(bill.lines[2].rule.per_minute, 3);
    cr_assert_not(digest_eq(&bill.memory, &other.memory));
}

Test(budget_rules, a_tool_costs_what_is_listed)
{
    const struct budget_tool tools[] = {{SLICE_LIT("read"), 7, false},
                                        {SLICE_LIT("search_kb"), 1000, true}};
    const struct budget_rules rules = {.tools = tools, .n_tools = 2};
    struct budget_bill bill = bill_of(&rules, "ann", 1);
    cr_assert_eq(bill.cost, 1000);
    cr_assert(bill.is_paid);
}

Test(budget_rules, the_rulebook_outlives_what_it_was_made_of)
{
    char tenant[] = "acme", tool[] = "search_kb";
    struct budget_named named = {slice_of(tenant), SLICE_NONE, {5, 1, 0}};
    struct budget_tool costs = {slice_of(tool), 3, true};
    struct budget_rules rules = {.named = &named, .n_named = 1, .tools = &costs, .n_tools = 1};
    struct budget_rulebook *book = budget_rulebook_new(&rules);
    memset(tenant, 'x', 4);
    memset(tool, 'x', 4);
    named.rule.per_minute = 9;
    costs.cost = 1;
    const struct digest subject = {{0}};
    const struct cache_key key = {{{0}}};
    const struct budget_charge charge = {SLICE_LIT("acme"), &subject, "search_kb", &key, 0};
    struct budget_bill bill;
    budget_bill_make(budget_rulebook_ref(book), &charge, &bill);
    budget_rulebook_unref(book);
    cr_assert_eq(bill.n_lines, 1);
    cr_assert_eq(bill.lines[0].rule.per_minute, 5);
    cr_assert_eq(bill.cost, 3);
    budget_rulebook_unref(book);
}
