/* SPDX-License-Identifier: Apache-2.0 */
/* The gauntlet with a scripted engine: synchronous and late answers, failures, hits, gates,
 * deadlines and clients that leave. Every test asks the engine how often it was really asked. */
#include "tests/unit/service/pipeline/fixture.h"

#define CALL(arguments)                                                                            \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/call\",\"params\":{\"name\":\"search_kb\","  \
    "\"arguments\":" arguments "}}"
#define SEARCH CALL("{\"query\":\"canary\"}")
#define READ                                                                                       \
    "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"resources/read\",\"params\":{\"uri\":\"kb://doc/"  \
    "kb/a.md\"}}"

static struct fixture f;

static void open_fixture(void)
{
    fixture_open(&f);
}

static void close_fixture(void)
{
    fixture_close(&f);
}

TestSuite(runner, .init = open_fixture, .fini = close_fixture);

Test(runner, answers_inside_request_run_when_the_engine_does)
{
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert_eq(f.replies, 1);
    cr_assert_eq(f.status, 200);
    cr_assert(fixture_body_has(&f, "canary passage"));
    cr_assert(fixture_body_has(&f, "\"isError\":false"));
    cr_assert(fixture_body_has(&f, "untrusted-content fence="));
}

Test(runner, answers_later_when_the_engine_does)
{
    f.engine.script = ENGINE_ANSWERS_LATER;
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert_eq(f.replies, 0);
    fixture_answer_now(&f.engine);
    cr_assert_eq(f.replies, 1);
    cr_assert(fixture_body_has(&f, "canary passage"));
}

Test(runner, serves_a_repeat_from_the_cache_with_the_same_bytes_and_for_free)
{
    char first[16384];
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert_lt(f.body.n, sizeof(first));
    size_t n = f.body.n;
    memcpy(first, f.body.p, n);
    for (int i = 0; i < 100; i++) { /* far over the burst of 5 */
        fixture_call(&f, SURFACE_MCP, SEARCH);
        cr_assert_eq(f.body.n, n);
        cr_assert_arr_eq(f.body.p, first, n);
    }
    cr_assert_eq(f.engine.searches, 1);
    cr_assert_eq(f.gate.metrics.charged, 1);
}

Test(runner, keeps_renderings_and_tenants_apart_in_the_cache)
{
    fixture_call(&f, SURFACE_MCP, SEARCH);
    fixture_call(&f, SURFACE_REST, "{\"query\":\"canary\"}");
    cr_assert_eq(f.engine.searches, 2);
    cr_assert_not(fixture_body_has(&f, "untrusted-content"), "REST text is not fenced");
    fixture_mint(&f, "\"sub\":\"ann\",\"tid\":\"T2\",\"scope\":\"kb:read\"");
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert_eq(f.engine.searches, 3);
}

Test(runner, keeps_rights_of_one_tenant_apart_in_the_cache)
{
    fixture_call(&f, SURFACE_MCP, SEARCH);
    fixture_mint(&f, "\"sub\":\"ann\",\"tid\":\"T1\",\"scope\":\"kb:read kb:more\"");
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert_eq(f.engine.searches, 2);
    fixture_mint(&f, "\"sub\":\"bob\",\"tid\":\"T1\",\"scope\":\"kb:read other\"");
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert_eq(f.engine.searches, 2, "equal rights share an answer");
}

Test(runner, asks_again_for_another_canonical_request_only)
{
    fixture_call(&f, SURFACE_MCP, CALL("{\"query\":\"canary\"}"));
    fixture_call(&f, SURFACE_MCP,
                 CALL("{\"query\":\"  canary\\t\",\"top_k\":\"6\",\"collection\":null}"));
    cr_assert_eq(f.engine.searches, 1);
    fixture_call(&f, SURFACE_MCP, CALL("{\"query\":\"canary\",\"top_k\":5}"));
    cr_assert_eq(f.engine.searches, 2);
}

Test(runner, engine_failure_is_retryable_gives_the_charge_back_and_is_not_cached)
{
    f.engine.script = ENGINE_FAILS;
    for (unsigned i = 1; i <= 20; i++) {
        fixture_call(&f, SURFACE_MCP, SEARCH);
        cr_assert(fixture_body_has(&f, "\\\"type\\\":\\\"retryable\\\"") ||
                  fixture_body_has(&f, "\"type\":\"retryable\""));
        cr_assert(fixture_body_has(&f, "\"isError\":true"));
        cr_assert(fixture_body_has(&f, "\"retry_after_ms\":2000"));
        cr_assert_eq(f.engine.searches, i);
    }
    cr_assert_eq(f.gate.metrics.charged, f.gate.metrics.refunded);
    f.engine.script = ENGINE_ANSWERS;
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert(fixture_body_has(&f, "canary passage"));
}

Test(runner, calls_that_fail_cost_nothing)
{
    f.engine.script = ENGINE_FAILS;
    for (int i = 0; i < 20; i++) { /* far over the burst of 5, each call a new one */
        char call[256];
        (void)snprintf(call, sizeof(call), CALL("{\"query\":\"word %d\"}"), i);
        fixture_call(&f, SURFACE_MCP, call);
        cr_assert_eq(f.engine.searches, (unsigned)i + 1);
    }
    cr_assert_eq(f.gate.metrics.failures[ERR_BUDGET_SPENT], 0);
}

Test(runner, drops_the_whole_answer_when_the_engine_breaks_the_scope)
{
    f.engine.script = ENGINE_BREAKS_SCOPE;
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert(fixture_body_has(&f, "-32603"));
    cr_assert_not(fixture_body_has(&f, "canary"));
    cr_assert_not(fixture_body_has(&f, "a.md"));
    cr_assert_eq(f.gate.metrics.scope_violations, 1);
    fixture_call(&f, SURFACE_MCP, READ);
    cr_assert(fixture_body_has(&f, "-32603"));
    cr_assert_not(fixture_body_has(&f, "canary"));
    fixture_call(&f, SURFACE_REST, "{\"query\":\"canary\"}");
    cr_assert_eq(f.status, 500);
    cr_assert_not(fixture_body_has(&f, "canary"));
}

Test(runner, drops_the_whole_answer_when_another_place_of_a_text_is_hidden)
{
    f.engine.script = ENGINE_BREAKS_ASIDE;
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert(fixture_body_has(&f, "-32603"));
    cr_assert_not(fixture_body_has(&f, "canary"));
    cr_assert_not(fixture_body_has(&f, "c.md"));
    cr_assert_eq(f.gate.metrics.scope_violations, 1);
}

Test(runner, deadline_cancels_the_work_and_is_retryable)
{
    f.config.deadline_ms = 20;
    f.engine.script = ENGINE_ANSWERS_LATER;
    fixture_call(&f, SURFACE_MCP, SEARCH);
    loop_run(f.loop); /* until the reply stops it */
    cr_assert_eq(f.replies, 1);
    cr_assert_eq(f.engine.detached, 1);
    cr_assert(fixture_body_has(&f, "retryable"));
    cr_assert_eq(f.gate.metrics.failures[ERR_DEADLINE], 1);
    cr_assert_eq(f.gate.metrics.charged, f.gate.metrics.refunded);
}

Test(runner, a_client_that_leaves_gets_no_answer_and_cancels_the_work)
{
    f.engine.script = ENGINE_ANSWERS_LATER;
    struct request *r = fixture_start(&f, SURFACE_MCP, SEARCH);
    request_run(r);
    request_cancel(r);
    cr_assert_eq(f.replies, 0);
    cr_assert_eq(f.engine.detached, 1);
    cr_assert_null(f.engine.waiting);
}

Test(runner, a_client_that_leaves_and_retries_is_charged_once)
{
    f.engine.script = ENGINE_ANSWERS_LATER;
    for (int i = 0; i < 20; i++) {
        struct request *r = fixture_start(&f, SURFACE_MCP, SEARCH);
        request_run(r);
        request_cancel(r);
    }
    cr_assert_eq(f.gate.metrics.charged, 1);
    cr_assert_eq(f.gate.metrics.failures[ERR_BUDGET_SPENT], 0);
}

Test(runner, spent_budget_names_itself_and_does_no_work)
{
    for (int i = 0; i < 8; i++) {
        char call[256];
        (void)snprintf(call, sizeof(call), CALL("{\"query\":\"word %d\"}"), i);
        fixture_call(&f, SURFACE_MCP, call);
    }
    cr_assert_eq(f.engine.searches, 5);
    cr_assert(fixture_body_has(&f, "\"budget\":\"tenant/minute\""));
    fixture_call(&f, SURFACE_MCP, READ);
    cr_assert(fixture_body_has(&f, "-31002"));
    fixture_call(&f, SURFACE_REST, "{\"query\":\"other\"}");
    cr_assert_eq(f.status, 429);
    cr_assert_gt(f.retry_after_ms, 0);
    fixture_call(&f, SURFACE_MCP, CALL("{\"query\":\"word 1\"}"));
    cr_assert(fixture_body_has(&f, "canary passage"), "a cached answer costs nothing");
}

Test(runner, invalid_arguments_cost_nothing_and_reach_no_engine)
{
    static const char *const BAD[] = {
        CALL("{}"),
        CALL("{\"query\":\"\"}"),
        CALL("{\"query\":\" \\t\\n \"}"),
        CALL("{\"query\":\"?!…\"}"),
        CALL("{\"query\":\"a\\u0000b\"}"),
        CALL("{\"query\":\"x\",\"top_k\":0}"),
        CALL("{\"query\":\"x\",\"top_k\":21}"),
        CALL("{\"query\":\"x\",\"colection\":\"kb\"}"),
        CALL("{\"query\":\"x\",\"collection\":\"nowhere\"}"),
        CALL("{\"query\":\"x\",\"doc_type\":\"nothing\"}"),
        CALL("{\"query\":\"x\",\"published_from\":\"2025-02-30\"}"),
        CALL("{\"query\":\"x\",\"published_from\":\"2025-03-02\",\"published_to\":\"2025-03-01\"}"),
    };
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        fixture_call(&f, SURFACE_MCP, BAD[i]);
        cr_assert_eq(f.status, 200);
        cr_assert(fixture_body_has(&f, "\"type\":\"invalid_input\""), "%s", BAD[i]);
        cr_assert(fixture_body_has(&f, "\"index_version\":\"kb1-"), "%s", BAD[i]);
    }
    cr_assert_eq(f.engine.searches, 0);
    cr_assert_eq(f.gate.metrics.charged, 0);
}

Test(runner, turns_away_at_the_token_step_before_the_body_is_looked_at)
{
    struct {
        const char *claims;
        int status;
        const char *body;
    } rows[] = {
        {"\"sub\":\"ann\",\"tid\":\"T1\",\"scope\":\"other\"", 403,
         "{\"error\":\"insufficient_scope\"}"},
        {"\"sub\":\"ann\",\"tid\":\"T9\",\"scope\":\"kb:read\"", 403,
         "{\"error\":\"insufficient_scope\"}"},
        {"\"sub\":\"mallory\",\"tid\":\"T1\",\"scope\":\"kb:read\"", 401,
         "{\"error\":\"invalid_token\"}"},
        {"\"sub\":\"ann\",\"tid\":\"T1\",\"scope\":7", 401, "{\"error\":\"invalid_token\"}"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        fixture_mint(&f, rows[i].claims);
        fixture_call(&f, SURFACE_MCP, "this is no JSON");
        cr_assert_eq(f.status, rows[i].status, "row %zu: %d", i, f.status);
        cr_assert(slice_is(dynbuf_get(&f.body), rows[i].body), "nothing but the kind of refusal");
    }
    dynbuf_cut(&f.token, 0);
    fixture_call(&f, SURFACE_MCP, SEARCH);
    cr_assert_eq(f.status, 401);
    cr_assert_eq(f.body.n, 0);
    cr_assert(f.challenge.n && !memmem(f.challenge.p, f.challenge.n, "error=", 6));
    cr_assert_eq(f.engine.searches, 0);
}

Test(runner, stdio_words_a_refused_token_as_json_rpc)
{
    dynbuf_cut(&f.token, 0);
    dynbuf_add_text(&f.token, "not.a.token");
    fixture_call(&f, SURFACE_STDIO, SEARCH);
    cr_assert(fixture_body_has(&f, "\"id\":7"));
    cr_assert(fixture_body_has(&f, "-31001"));
    fixture_call(&f, SURFACE_STDIO,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    cr_assert_eq(f.body.n, 0);
}

Test(runner, lists_only_what_the_caller_may_name)
{
    fixture_call(&f, SURFACE_MCP, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}");
    cr_assert(fixture_body_has(&f, "\"enum\":[\"kb\"]"));
    cr_assert_eq(f.engine.searches, 0);
    cr_assert_eq(f.gate.metrics.charged, 0);
}

Test(runner, a_request_keeps_the_policy_it_began_with)
{
    f.engine.script = ENGINE_ANSWERS_LATER;
    fixture_call(&f, SURFACE_MCP, SEARCH);
    struct access_rules *old = f.gate.access;
    fixture_open_access(&f);
    access_rules_unref(old);
    fixture_answer_now(&f.engine);
    cr_assert(fixture_body_has(&f, "canary passage"));
}
