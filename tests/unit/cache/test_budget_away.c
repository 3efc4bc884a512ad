/* SPDX-License-Identifier: Apache-2.0 */
/* Redis is away, or answers something else than a decision: charges go on here over a share, paid
 * tools fail, and each change is told once. */
#include "tests/unit/cache/budget_world.h"

#include <time.h>

TestSuite(budget_away, .timeout = 60);

static const struct budget_tool PAID = {SLICE_LIT("ask"), 1, true};
static const struct budget_rules RULES = {.tenant = {30, 9, 900}, .tools = &PAID, .n_tools = 1};

/* How many calls pass here before one is refused. */
static int spend(struct world *w, size_t replica, uint64_t first_call)
{
    int n = 0;
    struct taking t;
    while ((t = take(w, replica, first_call++)).op.result == ERR_OK) {
        cr_assert(is_charged_here(&t));
        n++;
    }
    cr_assert_eq(t.op.result, ERR_BUDGET_SPENT);
    cr_assert(t.verdict.in_process && t.verdict.retry_after_ms > 0);
    return n;
}

/* Redis does not decide for replica 0, for that reason. */
static void assert_away(struct world *w, const char *why, uint64_t call)
{
    struct taking t = take(w, 0, call);
    cr_assert(is_charged_here(&t), "%s", why);
    cr_assert_str_eq(w->replicas[0].why, why);
    t = take_what(w, 0, (struct what){"acme", "ask", call + 1});
    cr_assert_eq(t.op.result, ERR_BUDGET_DOWN, "%s: a paid tool", why);
    cr_assert(!t.verdict.charged && !t.verdict.budget);
    cr_assert_eq(w->replicas[0].n_away, 1, "%s is told once", why);
    cr_assert_eq(w->replicas[0].n_back, 0);
}

/* It decides again. */
static void assert_back(struct world *w, uint64_t call)
{
    w->now_ms += BUDGET_SETTLED_MS - 1;
    struct taking t = take(w, 0, call);
    cr_assert(is_charged_by_redis(&t));
    cr_assert_eq(w->replicas[0].n_back, 0, "not yet settled");
    w->now_ms += 1;
    t = take(w, 0, call + 1);
    cr_assert(is_charged_by_redis(&t));
    cr_assert_eq(w->replicas[0].n_back, 1);
    struct budget_stats stats;
    budget_stats(w->replicas[0].budget, &stats);
    cr_assert(stats.is_shared && stats.in_process > 0);
}

Test(budget_away, a_killed_server_leaves_a_share)
{
    struct world w;
    world_init(&w, &RULES);
    redis_server_signal(&w.server, SIGKILL);
    wait_health(&w, false);
    assert_away(&w, "down", 0);
    cr_assert_eq(spend(&w, 0, 100), 9 - 1, "a minute's share of ten, as far as the burst goes");
    cr_assert_eq(w.replicas[0].n_away, 1);
    redis_server_run(&w.server);
    wait_health(&w, true);
    assert_back(&w, 200);
    world_done(&w);
}

/* A process that nobody asks would otherwise never say that it is well again. */
Test(budget_away, a_return_is_taken_up_without_a_charge)
{
    struct world w;
    struct budget_stats stats;
    world_init(&w, &RULES);
    struct budget *b = w.replicas[0].budget;
    budget_redis_returned(b);
    cr_assert_eq(w.replicas[0].n_back, 0, "it was never away");
    redis_server_signal(&w.server, SIGKILL);
    wait_health(&w, false);
    (void)take(&w, 0, 1);
    cr_assert_eq(w.replicas[0].n_away, 1);
    budget_redis_returned(b);
    budget_redis_returned(b);
    budget_stats(b, &stats);
    cr_assert(stats.is_shared);
    cr_assert_eq(w.replicas[0].n_back, 1, "told once");
    world_done(&w);
}

Test(budget_away, of_the_day_a_share_of_the_last_remainder)
{
    const struct budget_rules rules = {.tenant = {0, 1, 90}};
    struct world w;
    world_init(&w, &rules);
    w.now_ms = ((int64_t)time(NULL) / 86400 * 86400 + 43200) * 1000; /* Redis' own day */
    for (uint64_t call = 0; call < 30; call++) {
        cr_assert(take(&w, 0, call).verdict.charged);
    }
    redis_server_signal(&w.server, SIGKILL);
    wait_health(&w, false);
    cr_assert_eq(spend(&w, 0, 100), 20, "60 are left for three");
    cr_assert_eq(spend(&w, 1, 100), 1, "nobody told this one: 90 a day is one an hour");
    struct taking again = take(&w, 0, 5);
    cr_assert(again.op.result == ERR_OK && !again.verdict.charged, "Redis charged it");
    world_done(&w);
}

Test(budget_away, what_was_charged_here_is_given_back_here)
{
    const struct budget_rules rules = {.tenant = {3, 3, 0}};
    struct world w;
    world_init(&w, &rules);
    redis_server_signal(&w.server, SIGKILL);
    wait_health(&w, false);
    struct taking t = take(&w, 0, 1);
    cr_assert(is_charged_here(&t));
    cr_assert_eq(take(&w, 0, 2).op.result, ERR_BUDGET_SPENT);
    redis_server_run(&w.server);
    wait_health(&w, true);
    cr_assert_not(take(&w, 0, 1).verdict.charged, "remembered though Redis is back");
    give_back(&w, 0, 1, &t.verdict);
    redis_server_signal(&w.server, SIGKILL);
    wait_health(&w, false);
    cr_assert(take(&w, 0, 3).verdict.charged);
    world_done(&w);
}

Test(budget_away, a_take_without_a_reply_is_not_sent_again)
{
    const struct budget_rules rules = {.tenant = {0, 1, 900}};
    struct world w;
    world_init(&w, &rules);
    cr_assert(take(&w, 0, 0).verdict.charged, "the server knows the script");
    redis_server_signal(&w.server, SIGSTOP);
    struct taking t = take(&w, 0, 1);
    cr_assert(is_charged_here(&t));
    cr_assert_str_eq(w.replicas[0].why, "timeout");
    redis_server_signal(&w.server, SIGCONT);
    cr_assert(take(&w, 0, 2).verdict.charged);
    redisReply *keys = redis_server_say(&w.server, "KEYS t:b:*:d");
    cr_assert_eq(keys->elements, 1);
    char command[256];
    snprintf(command, sizeof(command), "GET %s", keys->element[0]->str);
    redisReply *value = redis_server_say(&w.server, command);
    cr_assert_str_eq(strchr(value->str, ' '), " 3", "each once");
    freeReplyObject(value);
    freeReplyObject(keys);
    world_done(&w);
}

Test(budget_away, a_full_server_is_a_failure_and_no_refusal)
{
    struct world w;
    world_init(&w, &RULES);
    redis_server_do(&w.server, "CONFIG SET maxmemory-policy noeviction");
    redis_server_do(&w.server, "CONFIG SET maxmemory 1");
    assert_away(&w, "OOM", 0);
    redis_server_do(&w.server, "CONFIG SET maxmemory 0");
    assert_back(&w, 100);
    world_done(&w);
}

Test(budget_away, a_replica_that_may_only_read_is_a_failure)
{
    struct world w;
    world_init(&w, &RULES);
    redis_server_do(&w.server, "REPLICAOF 127.0.0.1 1");
    assert_away(&w, "READONLY", 0);
    redis_server_do(&w.server, "REPLICAOF NO ONE");
    assert_back(&w, 100);
    world_done(&w);
}

Test(budget_away, a_key_of_another_type_fails_its_tenant_alone)
{
    struct world w;
    world_init(&w, &RULES);
    cr_assert(take(&w, 0, 0).verdict.charged);
    redisReply *keys = redis_server_say(&w.server, "KEYS t:b:*:m");
    cr_assert_eq(keys->elements, 1);
    char command[256];
    snprintf(command, sizeof(command), "DEL %s", keys->element[0]->str);
    redis_server_do(&w.server, command);
    snprintf(command, sizeof(command), "LPUSH %s x", keys->element[0]->str);
    redis_server_do(&w.server, command);
    freeReplyObject(keys);
    assert_away(&w, "WRONGTYPE", 10);
    struct taking t = take_what(&w, 0, (struct what){"globex", "search_kb", 20});
    cr_assert(is_charged_by_redis(&t));
    cr_assert_eq(w.replicas[0].n_back, 0, "it failed a moment ago");
    world_done(&w);
}

/* --- what the user of the budgets has to be allowed --- */

#define ACL "ACL SETUSER budget on >secret ~t:b:* resetchannels -@all "

Test(budget_away, a_narrow_user_is_enough)
{
    struct world w;
    world_init_as(&w, &RULES, ACL "+ping +evalsha +eval +get +set +del +time", "budget");
    teach_scripts(&w, 0);
    struct budget_verdict verdict = take(&w, 0, 0).verdict;
    cr_assert(verdict.charged && !verdict.in_process);
    give_back(&w, 0, 0, &verdict);
    struct taking t = take(&w, 0, 0);
    cr_assert(is_charged_by_redis(&t), "it was given back");
    world_done(&w);
}

Test(budget_away, each_right_of_the_narrow_user_is_needed)
{
    static const char *const rights[] = {"evalsha", "eval", "get", "set", "time"};
    char command[64];
    for (size_t i = 0; i < sizeof(rights) / sizeof(*rights); i++) {
        struct world w;
        world_init_as(&w, &RULES, ACL "+ping +evalsha +eval +get +set +del +time", "budget");
        snprintf(command, sizeof(command), "ACL SETUSER budget -%s", rights[i]);
        redis_server_do(&w.server, command);
        struct taking t = take(&w, 0, 1);
        cr_assert(is_charged_here(&t), "%s", rights[i]);
        cr_assert(slice_is(slice_of(w.replicas[0].why), "NOPERM") ||
                      slice_is(slice_of(w.replicas[0].why), "ERR"),
                  "%s: %s", rights[i], w.replicas[0].why);
        redisReply *keys = redis_server_say(&w.server, "DBSIZE");
        cr_assert_eq(keys->integer, 0, "%s: nothing is half charged", rights[i]);
        freeReplyObject(keys);
        world_done(&w);
    }
}

Test(budget_away, foreign_keys_are_out_of_reach)
{
    struct world w;
    world_init_as(&w, &RULES,
                  "ACL SETUSER budget on >secret ~other:* resetchannels -@all +ping +evalsha +eval "
                  "+get +set +del +time",
                  "budget");
    assert_away(&w, "NOPERM", 0);
    world_done(&w);
}
