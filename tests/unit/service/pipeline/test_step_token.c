/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens whose keys are fetched: a real server of keys, which each test makes say what it needs. */
#include "service/base/log.h"
#include "service/pipeline/gate_access.h"
#include "tests/unit/service/loop/stub_server.h"
#include "tests/unit/service/pipeline/fixture.h"

#define LIST "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\"}"

enum { DAY_MS = 86400 * 1000, SET_BYTES = 4096 };

static struct fixture f;
static struct stub_server server;
static struct jwks_source *source;
static char good_set[SET_BYTES], other_set[SET_BYTES];

static void write_set(char *out, EVP_PKEY *key)
{
    struct dynbuf set;
    dynbuf_init(&set, SET_BYTES);
    dynbuf_add_text(&set, "{\"keys\":[");
    mint_jwk(&set, key, "");
    dynbuf_add_text(&set, "]}");
    (void)strcpy(out, dynbuf_text(&set));
    dynbuf_done(&set);
}

static void write_sets(void)
{
    EVP_PKEY *other = mint_pkey(JWS_ES256);
    write_set(good_set, f.key);
    write_set(other_set, other);
    EVP_PKEY_free(other);
}

/* The issuer's keys come from the server from now on; the first fetch has ended. */
static void fetch_keys(void)
{
    char uri[64];
    struct access_rules *rules = f.gate.access;
    (void)snprintf(uri, sizeof(uri), "http://127.0.0.1:%u/", server.port);
    const struct jwks_wanted wanted = {.name = SLICE_LIT("dev"),
                                       .uri = slice_of(uri),
                                       .algs = 1U << JWS_ES256,
                                       .max_stale_ms = DAY_MS};
    f.gate.access = NULL;
    f.gate.fetcher = jwks_fetcher_new(&(struct jwks_fetcher_options){
        .on_changed = gate_access_on_keys, .owner = &f.gate, .plain_http = true});
    jwks_fetcher_keep(f.gate.fetcher, &wanted, 1, rules->sources);
    source = rules->sources[0];
    jwks_source_await(source, 30000);
    f.gate.access = access_rules_renew(rules);
    access_rules_unref(rules);
}

static void open_all(void)
{
    log_set_level(LOG_ERROR);
    fixture_open(&f);
    stub_open(&server);
    write_sets();
}

static void close_all(void)
{
    jwks_fetcher_free(f.gate.fetcher);
    fixture_close(&f);
    stub_close(&server);
}

TestSuite(step_token, .init = open_all, .fini = close_all, .timeout = 60);

static void call(enum surface surface)
{
    unsigned before = f.replies;
    fixture_call(&f, surface, LIST);
    loop_run(f.loop); /* ends with the reply, also with one that came inside the call */
    cr_assert_eq(f.replies, before + 1);
}

Test(step_token, waits_for_a_key_that_a_fetch_brings)
{
    stub_says(&server, "200 OK", other_set);
    fetch_keys();
    stub_says(&server, "200 OK", good_set);
    call(SURFACE_MCP);
    cr_expect_eq(f.status, 200);
    cr_expect(fixture_body_has(&f, "search_kb"));
    cr_expect_eq(server.n_requests, 2);
    call(SURFACE_MCP);
    cr_expect_eq(f.status, 200);
    cr_expect_eq(server.n_requests, 2, "it is known now");
}

Test(step_token, refuses_what_the_fetch_did_not_bring_and_does_not_ask_again)
{
    stub_says(&server, "200 OK", other_set);
    fetch_keys();
    for (int i = 0; i < 3; i++) {
        call(SURFACE_MCP);
        cr_expect_eq(f.status, 401);
        cr_expect(fixture_body_has(&f, "invalid_token"));
    }
    cr_expect_eq(server.n_requests, 2);
    cr_expect_eq(f.gate.metrics.tokens_refused[TOKEN_SIGNATURE], 3);
}

Test(step_token, a_token_refused_for_other_reasons_asks_for_nothing)
{
    stub_says(&server, "200 OK", good_set);
    fetch_keys();
    fixture_mint(&f, "\"sub\":1,\"tid\":\"T1\",\"scope\":\"kb:read\"");
    call(SURFACE_MCP);
    cr_expect_eq(f.status, 401);
    fixture_mint(&f, "\"sub\":\"ann\",\"iss\":\"x\"");
    call(SURFACE_MCP);
    cr_expect_eq(f.status, 401);
    fixture_mint(&f, "\"sub\":\"mallory\",\"tid\":\"T1\",\"scope\":\"kb:read\"");
    call(SURFACE_MCP);
    cr_expect_eq(f.status, 401, "revoked");
    cr_expect_eq(server.n_requests, 1);
}

Test(step_token, without_any_key_it_is_nobodys_fault)
{
    stub_says(&server, "500 Down", "");
    fetch_keys();
    for (int i = 0; i < 4; i++) { /* with a fetch and, past the limit, without */
        call(i % 2 ? SURFACE_REST : SURFACE_MCP);
        cr_expect_eq(f.status, 503);
        cr_expect_eq(f.retry_after_ms, 5000);
        cr_expect_eq(f.body.n, 0);
        cr_expect_eq(f.challenge.n, 0);
    }
    cr_expect_eq(f.gate.metrics.failures[ERR_KEYS_DOWN], 4);
    cr_expect_eq(f.gate.metrics.tokens_refused[TOKEN_KEY], 0);
    dynbuf_cut(&f.token, 0);
    dynbuf_add_text(&f.token, "Bearer no.such.token");
    call(SURFACE_MCP);
    cr_expect_eq(f.status, 401, "no key could make this good");
}

Test(step_token, on_stdio_missing_keys_are_an_error_of_the_call)
{
    stub_says(&server, "500 Down", "");
    fetch_keys();
    struct slice bearer = dynbuf_get(&f.token);
    struct dynbuf bare;
    dynbuf_init(&bare, bearer.n);
    dynbuf_add(&bare, slice_skip(bearer, sizeof("Bearer ") - 1));
    dynbuf_cut(&f.token, 0);
    dynbuf_add(&f.token, dynbuf_get(&bare));
    dynbuf_done(&bare);
    call(SURFACE_STDIO);
    cr_expect(fixture_body_has(&f, "\"id\":7"));
    cr_expect(fixture_body_has(&f, "-31002"));
    cr_expect(fixture_body_has(&f, "\"retry_after_ms\":5000"));
    fixture_call(&f, SURFACE_STDIO,
                 "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}");
    loop_run(f.loop);
    cr_expect_eq(f.body.n, 0, "nobody answers a notification");
}

Test(step_token, a_client_that_leaves_while_it_waits_gets_nothing)
{
    stub_says(&server, "200 OK", other_set);
    fetch_keys();
    stub_set(&server, &server.silent, true);
    struct request *r = fixture_start(&f, SURFACE_MCP, LIST);
    request_run(r);
    stub_wait(&server, &server.n_requests, 2);
    request_cancel(r);
    cr_expect_eq(f.replies, 0);
}

Test(step_token, waits_no_longer_than_its_deadline)
{
    stub_says(&server, "200 OK", other_set);
    fetch_keys();
    stub_set(&server, &server.silent, true);
    f.config.deadline_ms = 50;
    call(SURFACE_MCP);
    cr_expect_eq(f.status, 503);
    cr_expect_eq(f.gate.metrics.failures[ERR_DEADLINE], 1);
}

Test(step_token, the_process_is_ready_once_all_keys_were_there)
{
    struct dynbuf reasons;
    dynbuf_init(&reasons, 4096);
    stub_says(&server, "500 Down", "");
    fetch_keys();
    cr_expect_not(gate_is_ready(&f.gate, &reasons));
    cr_expect_not_null(strstr(dynbuf_text(&reasons), "not ready: keys"));
    stub_says(&server, "200 OK", good_set);
    call(SURFACE_MCP);
    cr_expect_eq(f.status, 200);
    cr_expect(gate_is_ready(&f.gate, &reasons));
    f.gate.access->keys[0] = (jwks_unref(f.gate.access->keys[0]), NULL);
    cr_expect(gate_is_ready(&f.gate, &reasons), "one issuer's later trouble");
    dynbuf_done(&reasons);
}
