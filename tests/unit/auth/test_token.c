/* SPDX-License-Identifier: Apache-2.0 */
/* What only the whole way can show: size, typ, the choice of issuer and key, and the order of
 * work. */
#include "tests/unit/auth/gate.h"

#include <criterion/criterion.h>

static struct gate gate;

static void open_gate(void)
{
    gate_open(&gate);
}

static void close_gate(void)
{
    gate_close(&gate);
}

TestSuite(token, .init = open_gate, .fini = close_gate);

Test(token, accepts_a_good_token)
{
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_OK);
}

Test(token, every_result_has_a_name_of_its_own)
{
    for (int i = 0; i < TOKEN_RESULT_COUNT; i++) {
        const char *name = token_result_name((enum token_result)i);
        cr_assert_not_null(name);
        for (int j = 0; j < i; j++) {
            cr_expect_str_neq(name, token_result_name((enum token_result)j));
        }
    }
}

static size_t base64_chars(size_t bytes)
{
    return (bytes * 8 + 5) / 6;
}

static char *padded(const char *text, size_t pad)
{
    size_t n = strlen(text) - 1; /* without its brace */
    char *out = malloc(n + pad + 16);
    sprintf(out, "%.*s,\"pad\":\"%0*d\"}", (int)n, text, (int)pad, 0);
    return out;
}

/* A good token of exactly n bytes. */
static enum token_result try_size(size_t n)
{
    enum token_result result = TOKEN_RESULT_COUNT;
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    for (size_t i = 1; i <= 3 && result == TOKEN_RESULT_COUNT; i++) {
        char *long_header = padded(header, i);
        size_t rest = n - base64_chars(strlen(long_header)) - 2 - base64_chars(64);
        size_t bytes = rest * 6 / 8;
        if (base64_chars(bytes) == rest) {
            char *empty = padded(payload, 1);
            char *long_payload = padded(payload, bytes - strlen(empty) + 1);
            result = gate_try_text(&gate, slice_of(long_header), slice_of(long_payload));
            free(empty);
            free(long_payload);
        }
        free(long_header);
    }
    free(header);
    free(payload);
    return result;
}

Test(token, caps_size_at_8_kib)
{
    cr_expect_eq(try_size(TOKEN_MAX_BYTES - 1), TOKEN_OK);
    cr_expect_eq(try_size(TOKEN_MAX_BYTES), TOKEN_OK);
    cr_expect_eq(try_size(TOKEN_MAX_BYTES + 1), TOKEN_TOO_LARGE);
    cr_expect_eq(try_size(300000), TOKEN_TOO_LARGE);
}

Test(token, counts_bytes_before_anything_else)
{
    char *junk = malloc(TOKEN_MAX_BYTES + 1);
    memset(junk, '=', TOKEN_MAX_BYTES + 1);
    cr_expect_eq(gate_try_compact(&gate, (struct slice){junk, TOKEN_MAX_BYTES + 1}),
                 TOKEN_TOO_LARGE);
    cr_expect_eq(gate_try_compact(&gate, (struct slice){junk, TOKEN_MAX_BYTES}), TOKEN_MALFORMED);
    free(junk);
}

static enum token_result try_typ(const char *typ)
{
    char changes[64];
    snprintf(changes, sizeof(changes), "{\"typ\":%s}", typ);
    return gate_try(&gate, changes, "{}");
}

Test(token, strict_typ_accepts_access_tokens_alone)
{
    static const char *const GOOD[] = {"\"at+jwt\"", "\"AT+JWT\"", "\"application/at+jwt\"",
                                       "\"Application/AT+jwt\""};
    static const char *const BAD[] = {
        "\"JWT\"",      "\"dpop+jwt\"",    "\"logout+jwt\"", "1",     "null", "\"\"", "\"at+jwt \"",
        "[\"at+jwt\"]", "\"text/at+jwt\"", "\"at+jwt;x=1\"", "\"at\""};
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        cr_expect_eq(try_typ(GOOD[i]), TOKEN_OK, "%s", GOOD[i]);
    }
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_eq(try_typ(BAD[i]), TOKEN_TYP, "%s", BAD[i]);
    }
    cr_expect_eq(gate_try(&gate, "{\"-typ\":0}", "{}"), TOKEN_TYP);
}

Test(token, typ_any_accepts_jwt_and_none_beside_them)
{
    static const char *const BAD[] = {"\"dpop+jwt\"", "\"logout+jwt\"", "1",      "null",
                                      "\"\"",         "[\"JWT\"]",      "\"JWS\""};
    gate.issuer.typ_any = true;
    cr_expect_eq(try_typ("\"JWT\""), TOKEN_OK);
    cr_expect_eq(try_typ("\"jwt\""), TOKEN_OK);
    cr_expect_eq(try_typ("\"at+jwt\""), TOKEN_OK);
    cr_expect_eq(gate_try(&gate, "{\"-typ\":0}", "{}"), TOKEN_OK);
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_eq(try_typ(BAD[i]), TOKEN_TYP, "%s", BAD[i]);
    }
}

Test(token, rejects_an_algorithm_the_issuer_does_not_allow)
{
    gate.issuer.algs = 1U << JWS_RS256; /* the key for ES256 is still loaded */
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_ALG);
}

/* Header says one algorithm, the key of that kid is bound to another. */
Test(token, rejects_an_algorithm_that_is_not_the_keys)
{
    gate.issuer.algs = (1U << JWS_ALG_COUNT) - 1;
    for (int i = 0; i < JWS_ALG_COUNT; i++) {
        char changes[32];
        snprintf(changes, sizeof(changes), "{\"alg\":\"%s\"}", jws_alg_name((enum jws_alg)i));
        cr_expect_eq(gate_try(&gate, changes, "{}"), i == JWS_ES256 ? TOKEN_OK : TOKEN_KEY);
    }
}

/* ES256 means P-256 with SHA-256: the right hash on another curve is not it. */
Test(token, rejects_es256_with_another_curve)
{
    static const char *const GROUPS[] = {"P-384", "P-521", "secp256k1"};
    for (size_t i = 0; i < 3; i++) {
        EVP_PKEY_free(gate.pkey);
        gate.pkey = mint_ec(GROUPS[i]);
        cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_SIGNATURE, "%s", GROUPS[i]);
    }
}

Test(token, rejects_an_unknown_kid)
{
    cr_expect_eq(gate_try(&gate, "{\"kid\":\"k2\"}", "{}"), TOKEN_KEY);
    cr_expect_eq(gate_try(&gate, "{\"kid\":\"K1\"}", "{}"), TOKEN_KEY);
    cr_expect_eq(gate_try(&gate, "{\"kid\":\"k\"}", "{}"), TOKEN_KEY);
}

Test(token, without_a_kid_only_a_sole_key_will_do)
{
    cr_expect_eq(gate_try(&gate, "{\"-kid\":0}", "{}"), TOKEN_OK);
    EVP_PKEY *other = mint_pkey(JWS_ES256);
    struct dynbuf set;
    dynbuf_init(&set, MINT_MAX_BYTES);
    dynbuf_add_text(&set, "{\"keys\":[");
    mint_jwk(&set, gate.pkey, "\"kid\":\"k1\",");
    dynbuf_add_text(&set, ",");
    mint_jwk(&set, other, "\"kid\":\"k2\",");
    dynbuf_add_text(&set, "]}");
    jwks_unref(gate.keys);
    gate.keys = jwks_parse(dynbuf_get(&set), gate.issuer.algs, NULL);
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_OK);
    cr_expect_eq(gate_try(&gate, "{\"-kid\":0}", "{}"), TOKEN_KEY);
    EVP_PKEY_free(other);
    dynbuf_done(&set);
}

/* Two issuers, two keys, one kid: each is good for its own issuer and for no other. */
Test(token, an_issuers_key_is_good_for_that_issuer_alone)
{
    struct gate other;
    gate_open(&other);
    struct issuer issuers[2] = {gate.issuer, other.issuer};
    issuers[1].iss = SLICE_LIT("https://other.test/");
    struct jwks *const keys[2] = {gate.keys, other.keys};
    gate.trust = (struct token_trust){issuers, keys, 2};
    other.trust = gate.trust;
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_OK);
    cr_expect_eq(gate.claims.issuer, &issuers[0]);
    cr_expect_eq(gate_try(&other, "{}", "{\"iss\":\"https://other.test/\"}"), TOKEN_OK);
    cr_expect_eq(other.claims.issuer, &issuers[1]);
    cr_expect_eq(gate_try(&gate, "{}", "{\"iss\":\"https://other.test/\"}"), TOKEN_SIGNATURE);
    cr_expect_eq(gate_try(&other, "{}", "{}"), TOKEN_SIGNATURE);
    gate_close(&other);
}

Test(token, without_loaded_keys_the_key_is_unknown)
{
    struct jwks *const none[1] = {NULL};
    gate.trust.keys = none;
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_KEY);
    gate.trust.n = 0;
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_ISSUER);
}

static bool wants(struct slice header, struct slice payload, struct token_key *ret)
{
    struct dynbuf token;
    dynbuf_init(&token, MINT_MAX_BYTES);
    mint_compact(&token, gate.pkey, gate.alg, header, payload);
    bool good = token_wants_key(&gate.trust, dynbuf_get(&token), &gate.arena, ret);
    dynbuf_done(&token);
    return good;
}

Test(token, tells_which_key_it_asks_for)
{
    struct issuer issuers[2] = {gate.issuer, gate.issuer};
    struct jwks *const keys[2] = {gate.keys, NULL};
    issuers[1].iss = SLICE_LIT("https://other.test/");
    gate.trust = (struct token_trust){issuers, keys, 2};
    const struct slice header = SLICE_LIT("{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"new\"}");
    struct token_key key = {99, SLICE_NONE};
    cr_assert(wants(header, SLICE_LIT("{\"iss\":\"https://other.test/\"}"), &key));
    cr_expect_eq(key.issuer, 1);
    cr_expect(slice_is(key.kid, "new"));
    cr_assert(wants(SLICE_LIT("{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}"),
                    SLICE_LIT("{\"iss\":\"" GATE_ISS "\"}"), &key));
    cr_expect_eq(key.issuer, 0);
    cr_expect_null(key.kid.p);
}

Test(token, asks_for_no_key_where_it_is_refused_before)
{
    const struct slice good = SLICE_LIT("{\"iss\":\"" GATE_ISS "\"}");
    struct token_key key = {99, SLICE_NONE};
    cr_expect_not(wants(SLICE_LIT("{\"alg\":\"ES256\",\"typ\":\"at+jwt\"}"),
                        SLICE_LIT("{\"iss\":\"https://nobody.test/\"}"), &key));
    cr_expect_not(wants(SLICE_LIT("{\"alg\":\"RS256\",\"typ\":\"at+jwt\"}"), good, &key));
    cr_expect_not(wants(SLICE_LIT("{\"alg\":\"ES256\",\"typ\":\"x\"}"), good, &key));
    cr_expect_not(wants(SLICE_LIT("{\"alg\":\"none\",\"typ\":\"at+jwt\"}"), good, &key));
    cr_expect_not(token_wants_key(&gate.trust, SLICE_LIT("a.b.c"), &gate.arena, &key));
    cr_expect_eq(key.issuer, 99);
}

/* A token spoilt in two places is refused for the earlier one. */
Test(token, keeps_the_order_of_work)
{
    cr_expect_eq(gate_try(&gate, "{\"alg\":\"none\",\"crit\":[]}", "{\"-iss\":0}"), TOKEN_ALG);
    cr_expect_eq(gate_try(&gate, "{\"crit\":[],\"kid\":1}", "{\"-iss\":0}"), TOKEN_HEADER);
    cr_expect_eq(gate_try(&gate, "{\"typ\":\"JWT\"}", "{\"-iss\":0}"), TOKEN_ISSUER);
    cr_expect_eq(gate_try(&gate, "{\"kid\":\"k2\"}", "{\"exp\":1}"), TOKEN_KEY);
    EVP_PKEY_free(gate.pkey);
    gate.pkey = mint_pkey(JWS_ES256);
    cr_expect_eq(gate_try(&gate, "{}", "{\"exp\":1,\"-aud\":0}"), TOKEN_SIGNATURE);
}

Test(token, a_claim_changed_after_signing_is_noticed)
{
    struct dynbuf token;
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    dynbuf_init(&token, MINT_MAX_BYTES);
    mint_compact(&token, gate.pkey, gate.alg, slice_of(header), slice_of(payload));
    size_t accepted = 0;
    for (size_t at = 0; at < token.n; at++) {
        char before = token.p[at];
        token.p[at] = before == 'A' ? 'B' : 'A';
        accepted += gate_try_compact(&gate, dynbuf_get(&token)) == TOKEN_OK;
        token.p[at] = before;
    }
    cr_expect_eq(accepted, 0);
    free(header);
    free(payload);
    dynbuf_done(&token);
}

struct credential {
    const char *text, *token; /* token NULL: none */
};

Test(token, reads_the_authorization_header)
{
    static const struct credential TABLE[] = {{"Bearer a.b.c", "a.b.c"},
                                              {"bearer a.b.c", "a.b.c"},
                                              {"BEARER a", "a"},
                                              {"bEaReR   a", "a"},
                                              {"Bearer a-._~+/9Z==", "a-._~+/9Z=="},
                                              {"Bearer", NULL},
                                              {"Bearer ", NULL},
                                              {"Bearer   ", NULL},
                                              {"", NULL},
                                              {" Bearer a", NULL},
                                              {"Bearera", NULL},
                                              {"Bearer\ta", NULL},
                                              {"Bearer a ", NULL},
                                              {"Bearer a b", NULL},
                                              {"Bearer a,b", NULL},
                                              {"Bearer a=b", NULL},
                                              {"Bearer =", NULL},
                                              {"Bearer \"a\"", NULL},
                                              {"Basic a", NULL},
                                              {"Bearer a\xC3\xA9", NULL},
                                              {"Bearer a\n", NULL},
                                              {"Bearer a, Bearer b", NULL},
                                              {"DPoP a", NULL}};
    for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++) {
        struct slice token = SLICE_NONE;
        bool good = token_from_authorization(slice_of(TABLE[i].text), &token);
        cr_expect_eq(good, TABLE[i].token != NULL, "%s", TABLE[i].text);
        cr_expect(slice_eq(token, slice_of(TABLE[i].token)), "%s", TABLE[i].text);
    }
    struct slice token;
    cr_expect_not(token_from_authorization(SLICE_NONE, &token));
    cr_expect_not(token_from_authorization((struct slice){"Bearer a\0b", 10}, &token));
}
