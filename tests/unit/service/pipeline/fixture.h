/* SPDX-License-Identifier: Apache-2.0 */
/* fixture: a gate with a real policy, keys, cache and budgets over a scripted engine, so that each
 * test decides when and how the engine answers. */
#ifndef TESTS_PIPELINE_FIXTURE_H
#define TESTS_PIPELINE_FIXTURE_H

#include "service/base/clock.h"
#include "service/base/mem.h"
#include "service/pipeline/state.h"
#include "tests/unit/auth/mint.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#define FIXTURE_URL "http://127.0.0.1:8080/mcp"

static const char FIXTURE_POLICY[] =
    "policy_version: 1\n"
    "issuers:\n"
    "  dev:\n"
    "    iss: \"https://issuer.test/\"\n"
    "    jwks_file: unused.json\n"
    "    audiences: [\"" FIXTURE_URL "\"]\n"
    "    algs: [ES256]\n"
    "    typ_any: true\n"
    "    development: true\n"
    "    claims:\n"
    "      scopes: {path: scope, kind: space_string}\n"
    "      tenant: {path: tid, kind: string}\n"
    "    tenants: {T1: acme, T2: globex}\n"
    "grants:\n"
    "  - id: read\n"
    "    tenants: [acme, globex]\n"
    "    when: {scopes_all: [\"kb:read\"]}\n"
    "    allow: {collections: [kb], doc_types: [\"*\"], labels: [public]}\n"
    "  - id: more\n"
    "    tenants: [acme]\n"
    "    when: {scopes_all: [\"kb:more\"]}\n"
    "    allow: {collections: [hr], doc_types: [\"*\"], labels: [public]}\n"
    "revoked: {jti: [], sub: [mallory], client_id: []}\n"
    "challenge_scopes: [\"kb:read\"]\n";

enum script {
    ENGINE_ANSWERS,       /* inside the call */
    ENGINE_ANSWERS_LATER, /* when the test says so */
    ENGINE_FAILS,
    ENGINE_BREAKS_SCOPE, /* returns a document the filter hides */
    ENGINE_BREAKS_ASIDE, /* names one as another place of a text */
};

struct engine {
    struct backend backend; /* first */
    enum script script;
    unsigned searches, detached;
    struct op *waiting;
    struct hits **ret_hits;
};

struct fixture {
    struct gate gate;
    struct config_values config;
    struct engine engine;
    struct loop *loop;
    struct gate_loop *gate_loop;
    EVP_PKEY *key;
    struct dynbuf token;

    /* the last reply */
    unsigned replies, repeats; /* repeats: with the body of the one before */
    int status;
    struct dynbuf body, challenge;
    int64_t retry_after_ms;
};

struct fixture_view {
    struct view view; /* first */
    atomic_uint refs;
    struct partition partition;
    struct slice labels[1];
};

static struct view *fixture_view_ref(struct view *v)
{
    ((struct fixture_view *)v)->refs++;
    return v;
}

static void fixture_view_unref(struct view *v)
{
    struct fixture_view *f = (struct fixture_view *)v;
    if (--f->refs == 0) {
        filter_unref(v->filter);
        free(f);
    }
}

static const struct view_ops FIXTURE_VIEW_OPS = {fixture_view_ref, fixture_view_unref};

static struct view *fixture_open_view(struct backend *b, struct filter *f)
{
    (void)b;
    struct fixture_view *v = mem_alloc(sizeof(*v));
    v->refs = 1;
    v->labels[0] = SLICE_LIT("public");
    v->partition.scope = (struct doc_scope){SLICE_LIT("kb"), SLICE_LIT("article"), v->labels, 1};
    v->partition.n_docs = v->partition.n_chunks = 1;
    v->view = (struct view){.partitions = &v->partition,
                            .n_partitions = filter_permits(f, &v->partition.scope),
                            .index_version = "kb1-abcdefghijklmnopqrstuvwxyz",
                            .filter = filter_ref(f),
                            .ops = &FIXTURE_VIEW_OPS};
    return &v->view;
}

static inline struct hits *fixture_hits(enum script script)
{
    static const struct slice labels[] = {SLICE_LIT("public"), SLICE_LIT("secret")};
    static const struct hit_place aside[] = {
        {SLICE_LIT("kb/b.md/0"), {SLICE_LIT("kb"), SLICE_LIT("article"), labels, 1}},
        {SLICE_LIT("kb/c.md/0"), {SLICE_LIT("kb"), SLICE_LIT("article"), labels, 2}}};
    bool foreign = script == ENGINE_BREAKS_SCOPE;
    struct hits *h = mem_alloc(sizeof(*h));
    h->items = arena_alloc(&h->arena, sizeof(*h->items));
    h->n = 1;
    h->items[0] =
        (struct hit){.scope = {SLICE_LIT("kb"), SLICE_LIT("article"), labels, foreign ? 2 : 1},
                     .chunk_id = SLICE_LIT("kb/a.md/0"),
                     .doc_id = SLICE_LIT("a.md"),
                     .title = SLICE_LIT("A"),
                     .text = SLICE_LIT("canary passage"),
                     .also = aside,
                     .n_also = script == ENGINE_BREAKS_ASIDE ? 2 : 0,
                     .published = NO_DATE};
    return h;
}

static void fixture_detach(void *work)
{
    struct engine *e = work;
    e->detached++;
    e->waiting = NULL;
}

static void fixture_answer(struct engine *e, struct hits **ret_hits, struct op *op)
{
    bool good = e->script != ENGINE_FAILS;
    if (good) {
        *ret_hits = fixture_hits(e->script);
    }
    op_done(op, good ? ERR_OK : ERR_BACKEND_DOWN);
}

static inline void fixture_answer_now(struct engine *e)
{
    struct op *op = e->waiting;
    e->waiting = NULL;
    fixture_answer(e, e->ret_hits, op);
}

static void fixture_retrieve(struct engine *e, struct hits **ret_hits, struct op *op)
{
    e->searches++;
    op_start(op, fixture_detach, e);
    if (e->script == ENGINE_ANSWERS_LATER) {
        e->waiting = op;
        e->ret_hits = ret_hits;
        return;
    }
    fixture_answer(e, ret_hits, op);
}

static void fixture_search(struct backend *b, struct loop *l, struct view *v,
                           const struct search_query *q, struct hits **ret_hits, struct op *op)
{
    (void)l, (void)v, (void)q;
    fixture_retrieve((struct engine *)b, ret_hits, op);
}

static void fixture_fetch(struct backend *b, struct loop *l, struct view *v,
                          const struct fetch_query *q, struct hits **ret_hits, struct op *op)
{
    (void)l, (void)v, (void)q;
    fixture_retrieve((struct engine *)b, ret_hits, op);
}

static void fixture_free(struct backend *b)
{
    (void)b;
}

static const struct backend_ops FIXTURE_OPS = {fixture_open_view, fixture_search, fixture_fetch,
                                               fixture_free};

static inline void fixture_mint(struct fixture *f, const char *changes)
{
    char payload[1024];
    int64_t now_s = clock_unix_ms() / 1000;
    (void)snprintf(payload, sizeof(payload),
                   "{\"iss\":\"https://issuer.test/\",\"aud\":\"" FIXTURE_URL
                   "\",\"iat\":%lld,\"exp\":%lld,%s}",
                   (long long)now_s, (long long)now_s + 600, changes);
    dynbuf_cut(&f->token, 0);
    dynbuf_add_text(&f->token, "Bearer ");
    mint_compact(&f->token, f->key, JWS_ES256, SLICE_LIT("{\"alg\":\"ES256\"}"), slice_of(payload));
}

static inline void fixture_open_access(struct fixture *f)
{
    struct access_rules *s = mem_alloc(sizeof(*s));
    struct err_detail detail = {""};
    struct dynbuf set;
    static uint64_t generation;
    s->refs = 1;
    s->generation = ++generation;
    s->policy = policy_parse(slice_of(FIXTURE_POLICY), "policy.yaml", &detail);
    cr_assert(s->policy, "%s", detail.text);
    s->trust.issuers = policy_issuers(s->policy, &s->trust.n);
    dynbuf_init(&set, 4096);
    dynbuf_add_text(&set, "{\"keys\":[");
    mint_jwk(&set, f->key, "");
    dynbuf_add_text(&set, "]}");
    s->keys = arena_alloc(&s->arena, sizeof(*s->keys));
    s->keys[0] = jwks_parse(dynbuf_get(&set), s->trust.issuers[0].algs, &detail);
    cr_assert(s->keys[0], "%s", detail.text);
    dynbuf_done(&set);
    s->trust.keys = s->keys;
    s->ca_pem = arena_alloc(&s->arena, sizeof(*s->ca_pem));
    s->sources = arena_alloc(&s->arena, sizeof(struct jwks_source *));
    s->challenge = (struct challenge_options){.resource = SLICE_LIT(FIXTURE_URL),
                                              .authorization_servers = &s->trust.issuers[0].iss,
                                              .n_authorization_servers = 1};
    s->challenge.scopes = policy_challenge_scopes(s->policy, &s->challenge.n_scopes);
    f->gate.access = s;
}

static inline void fixture_open(struct fixture *f)
{
    *f = (struct fixture){0};
    f->config = (struct config_values){.deadline_ms = 60000, .publish_output_schema = true};
    f->gate.config = &f->config;
    pthread_mutex_init(&f->gate.lock, NULL);
    f->key = mint_pkey(JWS_ES256);
    dynbuf_init(&f->token, 16384);
    dynbuf_init(&f->body, 1 << 20);
    dynbuf_init(&f->challenge, 4096);
    dynbuf_init(&f->gate.fence_key, 64);
    dynbuf_init(&f->gate.audit_key, 64);
    dynbuf_add_text(&f->gate.fence_key, "0123456789abcdef0123456789abcdef");
    dynbuf_add_text(&f->gate.audit_key, "fedcba9876543210fedcba9876543210");
    answer_profile_init(&f->gate.profile);
    fixture_open_access(f);
    f->engine.backend.ops = &FIXTURE_OPS;
    f->gate.backend = &f->engine.backend;
    f->gate.tokens = token_cache_new(16);
    f->gate.cache = cache_new(1 << 20);
    f->gate.flights = flights_new();
    const struct budget_rules rules = {.tenant = {60, 5, 0}, .subject = {60, 5, 0}};
    f->gate.budget = budget_new(&rules, NULL);
    f->loop = loop_new();
    f->gate_loop = gate_loop_open(&f->gate, f->loop);
    fixture_mint(f, "\"sub\":\"ann\",\"tid\":\"T1\",\"scope\":\"kb:read\"");
}

static inline void fixture_close(struct fixture *f)
{
    cr_assert_eq(f->gate.metrics.in_flight, 0, "a request was not freed");
    access_rules_unref(f->gate.access);
    gate_loop_close(f->gate_loop);
    flights_free(f->gate.flights);
    cache_free(f->gate.cache);
    token_cache_free(f->gate.tokens);
    budget_free(f->gate.budget);
    loop_free(f->loop);
    EVP_PKEY_free(f->key);
    dynbuf_done(&f->token);
    dynbuf_done(&f->body);
    dynbuf_done(&f->challenge);
    dynbuf_done(&f->gate.fence_key);
    dynbuf_done(&f->gate.audit_key);
}

static void fixture_on_reply(struct request *r, const struct reply *reply, void *door)
{
    struct fixture *f = door;
    f->replies++;
    f->status = reply->status;
    f->retry_after_ms = reply->retry_after_ms;
    f->repeats += slice_eq(reply->body, dynbuf_get(&f->body));
    dynbuf_cut(&f->body, 0);
    dynbuf_add(&f->body, reply->body);
    dynbuf_cut(&f->challenge, 0);
    dynbuf_add(&f->challenge, reply->www_authenticate);
    request_free(r);
    loop_stop(f->loop);
}

static inline struct request *fixture_start(struct fixture *f, enum surface surface,
                                            const char *body)
{
    const struct request_input in = {.surface = surface,
                                     .authorization = dynbuf_get(&f->token),
                                     .n_authorization = f->token.n > 0,
                                     .content_type = SLICE_LIT("application/json"),
                                     .body = slice_of(body)};
    return request_new(f->gate_loop, &in, fixture_on_reply, f);
}

static inline void fixture_call(struct fixture *f, enum surface surface, const char *body)
{
    request_run(fixture_start(f, surface, body));
}

static inline bool fixture_body_has(const struct fixture *f, const char *text)
{
    return f->body.n && memmem(f->body.p, f->body.n, text, strlen(text)) != NULL;
}

#endif
