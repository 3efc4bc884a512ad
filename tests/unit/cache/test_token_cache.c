/* SPDX-License-Identifier: Apache-2.0 */
/* What the cache remembers is what token_verify said, of the whole token, for its generation and
 * its time. */
#include "cache/token_cache.h"

#include "tests/unit/auth/gate.h"

static struct gate g;
static struct token_cache *cache;

static void set_up(void)
{
    gate_open(&g);
    cache = token_cache_new(8);
}

static void tear_down(void)
{
    token_cache_free(cache);
    gate_close(&g);
}

TestSuite(token_cache, .init = set_up, .fini = tear_down);

static void make_token(struct dynbuf *token, const char *payload_changes)
{
    char *header = gate_header(&g, "{}"), *payload = gate_payload(payload_changes);
    dynbuf_init(token, MINT_MAX_BYTES);
    mint_compact(token, g.pkey, g.alg, slice_of(header), slice_of(payload));
    free(header);
    free(payload);
}

static enum token_result verify(struct slice token, uint64_t generation, int64_t now_ms)
{
    const struct verified_token *v = NULL;
    enum token_result result = token_cache_verify(cache, &g.trust, generation, token, now_ms, &v);
    cr_assert_eq(result == TOKEN_OK, v != NULL);
    token_cache_release(v);
    return result;
}

static uint64_t hits(void)
{
    struct token_cache_stats stats;
    token_cache_stats(cache, &stats);
    return stats.hits;
}

Test(token_cache, gives_back_the_same_claims)
{
    struct dynbuf token;
    make_token(&token, "{}");
    for (int i = 0; i < 3; i++) {
        const struct verified_token *v;
        cr_assert_eq(token_cache_verify(cache, &g.trust, 1, dynbuf_get(&token), g.now_ms, &v),
                     TOKEN_OK);
        const struct claims *c = &v->claims;
        cr_assert(slice_is(c->sub, "alice") && slice_is(c->client_id, "agent") &&
                  slice_is(c->jti, "t-1"));
        cr_assert(slice_is(c->tenant, "acme") && c->issuer == &g.issuer);
        cr_assert(c->n_scopes == 2 && slice_is(c->scopes[0], "kb:read") &&
                  slice_is(c->scopes[1], "kb:list"));
        cr_assert(c->n_groups == 2 && slice_is(c->groups[0], "legal") &&
                  slice_is(c->groups[1], "ir"));
        token_cache_release(v);
    }
    cr_assert_eq(hits(), 2);
    dynbuf_done(&token);
}

Test(token_cache, an_absent_claim_stays_absent)
{
    struct dynbuf token;
    make_token(&token, "{\"tid\":\"unknown\",\"-groups\":0,\"-scope\":0}");
    for (int i = 0; i < 2; i++) {
        const struct verified_token *v;
        cr_assert_eq(token_cache_verify(cache, &g.trust, 1, dynbuf_get(&token), g.now_ms, &v),
                     TOKEN_OK);
        cr_assert_null(v->claims.tenant.p);
        cr_assert_eq(v->claims.n_scopes + v->claims.n_groups, 0);
        token_cache_release(v);
    }
    dynbuf_done(&token);
}

Test(token_cache, every_byte_of_the_token_counts)
{
    struct dynbuf token;
    make_token(&token, "{}");
    cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms), TOKEN_OK);
    for (size_t i = 0; i < token.n; i++) {
        char good = token.p[i];
        token.p[i] = good == 'A' ? 'B' : 'A';
        cr_assert_neq(verify(dynbuf_get(&token), 1, g.now_ms), TOKEN_OK, "byte %zu", i);
        token.p[i] = good;
    }
    cr_assert_eq(hits(), 0);
    cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms), TOKEN_OK);
    cr_assert_eq(hits(), 1);
    dynbuf_done(&token);
}

Test(token_cache, another_generation_verifies_anew)
{
    struct dynbuf token;
    make_token(&token, "{}");
    cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms), TOKEN_OK);
    gate_use(&g, JWS_ES256); /* other keys */
    cr_assert_eq(verify(dynbuf_get(&token), 2, g.now_ms), TOKEN_SIGNATURE);
    cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms), TOKEN_SIGNATURE,
                 "the old entry is gone for good");
    dynbuf_done(&token);
}

Test(token_cache, an_entry_ends_with_its_token_or_after_a_minute)
{
    struct dynbuf shorter, longer;
    make_token(&shorter, "{\"exp\":1800000010}");
    make_token(&longer, "{}");
    cr_assert_eq(verify(dynbuf_get(&shorter), 1, g.now_ms), TOKEN_OK);
    cr_assert_eq(verify(dynbuf_get(&longer), 1, g.now_ms), TOKEN_OK);
    cr_assert_eq(verify(dynbuf_get(&shorter), 1, g.now_ms + 9999), TOKEN_OK);
    cr_assert_eq(hits(), 1);
    cr_assert_eq(verify(dynbuf_get(&shorter), 1, g.now_ms + 10000), TOKEN_OK,
                 "the leeway is token_verify's");
    cr_assert_eq(hits(), 1);
    cr_assert_eq(verify(dynbuf_get(&shorter), 1, g.now_ms + 41000), TOKEN_EXPIRED);
    cr_assert_eq(verify(dynbuf_get(&longer), 1, g.now_ms + TOKEN_CACHE_LIFE_MS - 1), TOKEN_OK);
    cr_assert_eq(hits(), 2);
    cr_assert_eq(verify(dynbuf_get(&longer), 1, g.now_ms + TOKEN_CACHE_LIFE_MS), TOKEN_OK);
    cr_assert_eq(hits(), 2);
    dynbuf_done(&shorter);
    dynbuf_done(&longer);
}

Test(token_cache, a_clock_that_jumps_back_verifies_anew)
{
    struct dynbuf token;
    make_token(&token, "{}");
    cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms), TOKEN_OK);
    cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms - 1), TOKEN_OK);
    cr_assert_eq(hits(), 0);
    dynbuf_done(&token);
}

Test(token_cache, refusals_are_not_remembered)
{
    struct dynbuf token;
    make_token(&token, "{\"nbf\":1800000060}");
    cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms), TOKEN_NOT_YET);
    cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms + 40000), TOKEN_OK);
    dynbuf_done(&token);
}

Test(token_cache, is_bounded_and_a_held_token_outlives_it)
{
    struct dynbuf first;
    const struct verified_token *held;
    make_token(&first, "{\"jti\":\"held\"}");
    cr_assert_eq(token_cache_verify(cache, &g.trust, 1, dynbuf_get(&first), g.now_ms, &held),
                 TOKEN_OK);
    for (int i = 0; i < 40; i++) {
        char change[32];
        struct dynbuf token;
        (void)snprintf(change, sizeof(change), "{\"jti\":\"t%d\"}", i);
        make_token(&token, change);
        cr_assert_eq(verify(dynbuf_get(&token), 1, g.now_ms), TOKEN_OK);
        dynbuf_done(&token);
        struct token_cache_stats stats;
        token_cache_stats(cache, &stats);
        cr_assert_leq(stats.entries, 8);
    }
    cr_assert(slice_is(held->claims.jti, "held"));
    token_cache_release(held);
    dynbuf_done(&first);
}

Test(token_cache, an_oversized_token_is_refused_before_it_is_hashed)
{
    char *large = calloc(1, TOKEN_MAX_BYTES + 1);
    memset(large, 'A', TOKEN_MAX_BYTES + 1);
    cr_assert_eq(verify((struct slice){large, TOKEN_MAX_BYTES + 1}, 1, g.now_ms), TOKEN_TOO_LARGE);
    cr_assert_eq(verify((struct slice){large, TOKEN_MAX_BYTES}, 1, g.now_ms), TOKEN_MALFORMED);
    free(large);
}
