/* SPDX-License-Identifier: Apache-2.0 */
/* Equal calls that are here at once: one search, one charge, the same bytes for all; and what the
 * others do when the one that works fails, is refused or leaves. */
#include "tests/unit/service/pipeline/fixture.h"

#define SEARCH                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"search_kb\","  \
    "\"arguments\":{\"query\":\"canary\"}}}"

enum { N_WAITERS = 5 };

static struct fixture f;

static void open_fixture(void)
{
    fixture_open(&f);
    f.engine.script = ENGINE_ANSWERS_LATER;
}

static void close_fixture(void)
{
    fixture_close(&f);
}

TestSuite(step_flight, .init = open_fixture, .fini = close_fixture);

static struct request *ask(void)
{
    struct request *r = fixture_start(&f, SURFACE_MCP, SEARCH);
    request_run(r);
    return r;
}

static void ask_many(unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        (void)ask();
    }
}

static void run_until(unsigned replies)
{
    while (f.replies < replies) {
        loop_run(f.loop);
    }
}

/* What was posted so far is delivered. */
static void deliver(void)
{
    loop_stop(f.loop);
    loop_run(f.loop);
}

static void mint_for(const char *sub)
{
    char claims[128];
    (void)snprintf(claims, sizeof(claims), "\"sub\":\"%s\",\"tid\":\"T1\",\"scope\":\"kb:read\"",
                   sub);
    fixture_mint(&f, claims);
}

Test(step_flight, equal_calls_cost_one_search_and_one_charge)
{
    ask_many(1 + N_WAITERS);
    cr_assert_eq(f.engine.searches, 1);
    cr_assert_eq(f.replies, 0);
    fixture_answer_now(&f.engine);
    cr_assert_eq(f.replies, 1, "the one that worked is answered first");
    cr_assert(fixture_body_has(&f, "canary passage"));
    run_until(1 + N_WAITERS);
    cr_assert_eq(f.repeats, N_WAITERS, "the same bytes for all");
    cr_assert_eq(f.engine.searches, 1);
    cr_assert_eq(f.gate.metrics.charged, 1);
}

Test(step_flight, subjects_with_equal_rights_share_one_and_other_rights_and_tenants_do_not)
{
    (void)ask();
    mint_for("bob");
    (void)ask();
    cr_assert_eq(f.engine.searches, 1, "another subject of the tenant waits");
    struct op *of_first = f.engine.waiting;
    struct hits **hits_of_first = f.engine.ret_hits;
    fixture_mint(&f, "\"sub\":\"ann\",\"tid\":\"T2\",\"scope\":\"kb:read\"");
    (void)ask();
    cr_assert_eq(f.engine.searches, 2, "another tenant's call is its own");
    fixture_answer_now(&f.engine);
    fixture_mint(&f, "\"sub\":\"ann\",\"tid\":\"T1\",\"scope\":\"kb:read kb:more\"");
    (void)ask();
    cr_assert_eq(f.engine.searches, 3, "other rights are another question");
    fixture_answer_now(&f.engine);
    f.engine.waiting = of_first;
    f.engine.ret_hits = hits_of_first;
    fixture_answer_now(&f.engine);
    run_until(4);
}

Test(step_flight, a_failure_is_everybodys_and_costs_nothing)
{
    ask_many(1 + N_WAITERS);
    f.engine.script = ENGINE_FAILS;
    fixture_answer_now(&f.engine);
    run_until(1 + N_WAITERS);
    cr_assert(fixture_body_has(&f, "retryable"));
    cr_assert_eq(f.engine.searches, 1, "the engine that failed is not asked by each of them");
    cr_assert_eq(f.gate.metrics.failures[ERR_BACKEND_DOWN], 1 + N_WAITERS);
    cr_assert_eq(f.gate.metrics.charged, f.gate.metrics.refunded);
}

Test(step_flight, the_next_goes_on_for_one_that_leaves)
{
    struct request *leader = ask();
    ask_many(N_WAITERS);
    request_cancel(leader);
    cr_assert_eq(f.engine.detached, 1);
    deliver();
    cr_assert_eq(f.engine.searches, 2);
    fixture_answer_now(&f.engine);
    run_until(N_WAITERS);
    cr_assert(fixture_body_has(&f, "canary passage"));
    cr_assert_eq(f.engine.searches, 2);
    cr_assert_eq(f.gate.metrics.charged, 1, "the same subject's same call");
}

Test(step_flight, work_ends_when_nobody_waits)
{
    struct request *leader = ask(), *other = ask();
    request_cancel(other);
    request_cancel(leader);
    deliver();
    cr_assert_eq(f.engine.searches, 1);
    cr_assert_null(f.engine.waiting);
}

Test(step_flight, one_that_was_handed_the_work_and_left_hands_it_on)
{
    struct request *first = ask(), *second = ask();
    (void)ask();
    request_cancel(first);
    request_cancel(second); /* before it heard */
    deliver();
    cr_assert_eq(f.engine.searches, 2);
    fixture_answer_now(&f.engine);
    run_until(1);
    cr_assert(fixture_body_has(&f, "canary passage"));
}

/* Bob has spent what he has and waits for Ann's answer for free. When she leaves it is his turn to
 * pay, and after him Carl's, whom that does not concern. */
Test(step_flight, a_refused_leader_hands_over)
{
    const struct budget_rules rules = {.subject = {60, 1, 0}};
    budget_set_rules(f.gate.budget, &rules);
    f.engine.script = ENGINE_ANSWERS;
    mint_for("bob");
    fixture_call(&f, SURFACE_MCP,
                 "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{"
                 "\"name\":\"search_kb\",\"arguments\":{\"query\":\"other\"}}}");
    f.engine.script = ENGINE_ANSWERS_LATER;
    mint_for("ann");
    struct request *leader = ask();
    mint_for("bob");
    (void)ask();
    mint_for("carl");
    (void)ask();
    cr_assert_eq(f.replies, 1);
    request_cancel(leader);
    run_until(2);
    cr_assert(fixture_body_has(&f, "\"budget\":\"subject/minute\""));
    deliver();
    cr_assert_eq(f.engine.searches, 3);
    fixture_answer_now(&f.engine);
    run_until(3);
    cr_assert(fixture_body_has(&f, "canary passage"));
    cr_assert_eq(f.gate.metrics.failures[ERR_BUDGET_SPENT], 1);
}

Test(step_flight, a_leader_past_its_deadline_hands_over)
{
    f.config.deadline_ms = 60000;
    struct request *leader = ask();
    (void)ask();
    f.config.deadline_ms = 1;
    timer_start(f.loop, &leader->deadline, 1);
    run_until(1);
    cr_assert(fixture_body_has(&f, "retryable"));
    deliver();
    cr_assert_eq(f.engine.searches, 2, "the other one's time is not over");
    fixture_answer_now(&f.engine);
    run_until(2);
    cr_assert(fixture_body_has(&f, "canary passage"));
}

Test(step_flight, without_a_cache_calls_are_still_one_flight)
{
    cache_free(f.gate.cache);
    f.gate.cache = cache_new(0);
    ask_many(3);
    fixture_answer_now(&f.engine);
    run_until(3);
    cr_assert_eq(f.engine.searches, 1);
    f.engine.script = ENGINE_ANSWERS;
    (void)ask();
    cr_assert_eq(f.engine.searches, 2, "nothing was kept");
}
