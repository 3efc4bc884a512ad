/* SPDX-License-Identifier: Apache-2.0 */
/* Replicas at one real Redis: one budget for all of them, a call charged once whichever it reaches,
 * and whatever Redis answers instead of a decision, this process decides at once. */
#include "tests/unit/cache/budget_world.h"

TestSuite(budget_redis, .timeout = 60);

static const struct budget_rules FIVE = {.tenant = {1, 5, 0}};

Test(budget_redis, replicas_share_one_budget)
{
    struct world w;
    world_init(&w, &FIVE);
    for (uint64_t call = 0; call < 5; call++) {
        struct taking t = take(&w, call % MAX_REPLICAS, call);
        cr_assert(is_charged_by_redis(&t));
    }
    w.now_ms += 30000; /* a replica's clock changes nothing */
    struct taking t = take(&w, 2, 5);
    cr_assert_eq(t.op.result, ERR_BUDGET_SPENT);
    cr_assert_str_eq(t.verdict.budget, "tenant/minute");
    cr_assert(t.verdict.retry_after_ms > 50000 && t.verdict.retry_after_ms <= 60000);
    cr_assert(!t.verdict.charged && !t.verdict.in_process);
    t = take_what(&w, 2, (struct what){"globex", "search_kb", 5});
    cr_assert(is_charged_by_redis(&t), "another tenant is unaffected");
    struct budget_stats stats;
    budget_stats(w.replicas[2].budget, &stats);
    cr_assert(stats.shared == 3 && stats.in_process == 0 && stats.is_shared);
    world_done(&w);
}

Test(budget_redis, the_same_call_is_charged_once_at_any_replica)
{
    const struct budget_rules rules = {.tenant = {1, 5, 2}};
    struct world w;
    world_init(&w, &rules);
    cr_assert(take(&w, 0, 1).verdict.charged);
    for (int i = 0; i < 20; i++) {
        struct taking t = take(&w, (size_t)i % MAX_REPLICAS, 1);
        cr_assert(t.op.result == ERR_OK && !t.verdict.charged);
    }
    cr_assert(take(&w, 1, 2).verdict.charged);
    cr_assert_str_eq(take(&w, 2, 3).verdict.budget, "tenant/day");
    world_done(&w);
}

Test(budget_redis, never_more_than_the_limit_whoever_asks_at_once)
{
    const struct budget_rules rules = {.tenant = {1, 17, 0}};
    struct world w;
    struct taking takes[50];
    int n_charged = 0;
    world_init(&w, &rules);
    for (uint64_t i = 0; i < 50; i++) {
        begin_take(&w, i % MAX_REPLICAS, (struct what){"acme", "search_kb", i}, &takes[i]);
    }
    for (size_t i = 0; i < 50; i++) {
        while (!takes[i].is_done) {
            loop_run(w.loop);
        }
        n_charged += is_charged_by_redis(&takes[i]);
        cr_assert(!takes[i].verdict.in_process);
        cr_assert_eq(takes[i].op.result == ERR_OK, takes[i].verdict.charged);
    }
    cr_assert_eq(n_charged, 17);
    world_done(&w);
}

Test(budget_redis, a_dear_tool_takes_its_cost)
{
    const struct budget_tool tool = {SLICE_LIT("search_kb"), 3, false};
    const struct budget_rules rules = {.tenant = {1, 10, 0}, .tools = &tool, .n_tools = 1};
    struct world w;
    world_init(&w, &rules);
    for (uint64_t call = 0; call < 3; call++) {
        cr_assert(take(&w, 0, call).verdict.charged);
    }
    cr_assert_eq(take(&w, 0, 3).op.result, ERR_BUDGET_SPENT, "one unit is left");
    struct taking t = take_what(&w, 0, (struct what){"acme", "read", 4});
    cr_assert(is_charged_by_redis(&t));
    world_done(&w);
}

Test(budget_redis, gives_back_once_and_to_whoever_asks_next)
{
    struct world w;
    world_init(&w, &FIVE);
    teach_scripts(&w, 0);
    struct budget_verdict first = take(&w, 0, 0).verdict;
    for (uint64_t call = 1; call < 5; call++) {
        cr_assert(take(&w, 0, call).verdict.charged);
    }
    const struct budget_verdict remembered = take(&w, 0, 1).verdict;
    give_back(&w, 0, 1, &remembered); /* it was not charged by this one, so nothing */
    cr_assert_eq(take(&w, 0, 5).op.result, ERR_BUDGET_SPENT);
    give_back(&w, 0, 0, &first);
    give_back(&w, 0, 0, &first);
    cr_assert(take(&w, 0, 6).verdict.charged, "sent behind the refund on the same connection");
    cr_assert_eq(take(&w, 1, 7).op.result, ERR_BUDGET_SPENT, "once");
    cr_assert_eq(take(&w, 0, 0).op.result, ERR_BUDGET_SPENT, "it is not remembered any more");
    world_done(&w);
}

Test(budget_redis, a_caller_who_left_is_charged_once)
{
    const struct budget_rules rules = {.tenant = {0, 1, 1}};
    struct world w;
    struct taking left;
    world_init(&w, &rules);
    teach_scripts(&w, 0);
    begin_take(&w, 0, (struct what){"acme", "search_kb", 1}, &left);
    op_cancel(&left.op);
    struct taking again = take(&w, 0, 1);
    cr_assert_eq(again.op.result, ERR_OK, "sent before the second take, so remembered");
    cr_assert_not(again.verdict.charged);
    cr_assert_not(left.is_done);
    cr_assert_eq(take(&w, 1, 2).op.result, ERR_BUDGET_SPENT);
    world_done(&w);
}

Test(budget_redis, a_server_that_forgot_the_scripts_is_told_them)
{
    struct world w;
    world_init(&w, &FIVE);
    struct budget_verdict verdict = take(&w, 0, 0).verdict;
    cr_assert(verdict.charged);
    redis_server_do(&w.server, "SCRIPT FLUSH");
    struct taking t = take(&w, 0, 1);
    cr_assert(is_charged_by_redis(&t));
    redis_server_do(&w.server, "SCRIPT FLUSH");
    give_back(&w, 0, 0, &verdict);
    t = take(&w, 0, 2);
    cr_assert(is_charged_by_redis(&t));
    redis_server_signal(&w.server, SIGKILL);
    wait_health(&w, false);
    redis_server_run(&w.server);
    wait_health(&w, true);
    t = take(&w, 0, 3);
    cr_assert(is_charged_by_redis(&t));
    cr_assert_eq(w.replicas[0].n_away, 0, "nobody asked while it was away");
    world_done(&w);
}

Test(budget_redis, new_rules_hold_at_once_and_counters_stay)
{
    const struct budget_rules lower = {.tenant = {1, 3, 0}};
    struct world w;
    world_init(&w, &FIVE);
    for (uint64_t call = 0; call < 4; call++) {
        cr_assert(take(&w, 0, call).verdict.charged);
    }
    budget_set_rules(w.replicas[0].budget, &lower);
    struct taking t = take(&w, 0, 4);
    cr_assert_eq(t.op.result, ERR_BUDGET_SPENT);
    cr_assert_leq(t.verdict.retry_after_ms, 60000, "of a full burst one call has to drain");
    budget_set_rules(w.replicas[0].budget, &FIVE);
    cr_assert(take(&w, 0, 5).verdict.charged);
    cr_assert_eq(take(&w, 0, 6).op.result, ERR_BUDGET_SPENT);
    world_done(&w);
}
