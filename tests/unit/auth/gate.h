/* SPDX-License-Identifier: Apache-2.0 */
/* gate: one issuer with one key, and a good token that each test spoils in one place.
 *
 * gate_open proves that the good token passes, so a refusal comes from what the test changed. */
#ifndef TESTS_GATE_H
#define TESTS_GATE_H

#include "auth/token.h"
#include "tests/unit/auth/mint.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdlib.h>

#define GATE_NOW 1800000000
#define GATE_ISS "https://issuer.test/"
#define GATE_AUD "https://kb.test/mcp"

struct gate {
    EVP_PKEY *pkey;
    enum jws_alg alg; /* that pkey signs with */
    struct issuer issuer;
    struct jwks *keys;
    struct token_trust trust;
    struct arena arena;
    struct claims claims; /* of the last accepted token */
    int64_t now_ms;
};

static const struct slice GATE_AUDIENCES[] = {SLICE_LIT(GATE_AUD), SLICE_LIT("https://alias.test")};
static const struct tenant_name GATE_TENANTS[] = {{SLICE_LIT("T1"), SLICE_LIT("acme")},
                                                  {SLICE_LIT("T2"), SLICE_LIT("globex")}};
static const struct slice GATE_OVERAGE[] = {SLICE_LIT("_claim_names"), SLICE_LIT("hasgroups")};

/* {"keys":[jwk]} of the gate's own key. */
static inline void gate_load_key(struct gate *g, const char *more)
{
    struct dynbuf set;
    dynbuf_init(&set, MINT_MAX_BYTES);
    dynbuf_add_text(&set, "{\"keys\":[");
    mint_jwk(&set, g->pkey, more);
    dynbuf_add_text(&set, "]}");
    jwks_unref(g->keys);
    g->keys = jwks_parse(dynbuf_get(&set), g->issuer.algs, NULL);
    cr_assert_not_null(g->keys);
    dynbuf_done(&set);
}

static inline enum token_result gate_try_compact(struct gate *g, struct slice compact)
{
    struct claims untouched, claims;
    memset(&untouched, 0xA5, sizeof(untouched));
    claims = untouched;
    enum token_result result = token_verify(&g->trust, compact, g->now_ms, &g->arena, &claims);
    if (result == TOKEN_OK) {
        g->claims = claims;
    } else {
        cr_assert_arr_eq(&claims, &untouched, sizeof(claims), "a refusal wrote claims");
    }
    return result;
}

static inline enum token_result gate_try_text(struct gate *g, struct slice header,
                                              struct slice payload)
{
    struct dynbuf token;
    dynbuf_init(&token, MINT_MAX_BYTES);
    mint_compact(&token, g->pkey, g->alg, header, payload);
    enum token_result result = gate_try_compact(g, dynbuf_get(&token));
    dynbuf_done(&token);
    return result;
}

/* base with changes applied: a member replaces one of its name, "-name" takes one away. */
static inline char *gate_merge(const char *base, const char *changes)
{
    json_t *to = json_loads(base, 0, NULL), *from = json_loads(changes, 0, NULL), *value;
    const char *name;
    cr_assert(to && from, "bad JSON in a test: %s", changes);
    json_object_foreach(from, name, value)
    {
        if (name[0] == '-') {
            cr_assert_eq(json_object_del(to, name + 1), 0, "nothing to take away: %s", name);
        } else {
            json_object_set(to, name, value);
        }
    }
    char *text = json_dumps(to, JSON_COMPACT);
    json_decref(to);
    json_decref(from);
    return text;
}

static inline char *gate_header(const struct gate *g, const char *changes)
{
    char base[128];
    snprintf(base, sizeof(base), "{\"alg\":\"%s\",\"typ\":\"at+jwt\",\"kid\":\"k1\"}",
             jws_alg_name(g->alg));
    return gate_merge(base, changes);
}

static inline char *gate_payload(const char *changes)
{
    return gate_merge("{\"iss\":\"" GATE_ISS "\",\"aud\":\"" GATE_AUD "\",\"sub\":\"alice\","
                      "\"client_id\":\"agent\",\"jti\":\"t-1\",\"iat\":1799999940,"
                      "\"exp\":1800000600,\"scope\":\"kb:read kb:list\",\"tid\":\"T1\","
                      "\"groups\":[\"legal\",\"ir\"]}",
                      changes);
}

static inline enum token_result gate_try(struct gate *g, const char *header_changes,
                                         const char *payload_changes)
{
    char *header = gate_header(g, header_changes), *payload = gate_payload(payload_changes);
    enum token_result result = gate_try_text(g, slice_of(header), slice_of(payload));
    free(header);
    free(payload);
    return result;
}

/* Opens it for another key: the set, the allowed algorithms and the signer change together. */
static inline void gate_use(struct gate *g, enum jws_alg alg)
{
    EVP_PKEY_free(g->pkey);
    g->alg = alg;
    g->pkey = mint_pkey(alg);
    g->issuer.algs = 1U << alg;
    gate_load_key(g, "\"kid\":\"k1\",");
    cr_assert_eq(gate_try(g, "{}", "{}"), TOKEN_OK);
}

static inline void gate_open(struct gate *g)
{
    *g = (struct gate){
        .now_ms = (int64_t)GATE_NOW * 1000,
        .issuer = {.iss = SLICE_LIT(GATE_ISS),
                   .audiences = GATE_AUDIENCES,
                   .n_audiences = 2,
                   .scopes = {.path = SLICE_LIT("scope"), .kind = CLAIM_SPACE_STRING},
                   .groups = {.path = SLICE_LIT("groups"),
                              .kind = CLAIM_ARRAY,
                              .overage = GATE_OVERAGE,
                              .n_overage = 2},
                   .tenant = {.path = SLICE_LIT("tid"), .kind = CLAIM_STRING},
                   .tenants = GATE_TENANTS,
                   .n_tenants = 2,
                   .leeway_s = 30,
                   .max_lifetime_s = 86400,
                   .max_scopes = 4,
                   .max_groups = 4},
    };
    g->trust = (struct token_trust){.issuers = &g->issuer, .keys = &g->keys, .n = 1};
    gate_use(g, JWS_ES256);
}

static inline void gate_close(struct gate *g)
{
    EVP_PKEY_free(g->pkey);
    jwks_unref(g->keys);
    arena_done(&g->arena);
}

#endif
