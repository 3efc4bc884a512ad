/* SPDX-License-Identifier: Apache-2.0 */
/* The registered claims: every wrong type and both sides of every limit. */
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

TestSuite(claims, .init = open_gate, .fini = close_gate);

struct trial {
    const char *changes;
    enum token_result expected;
};

static void expect_all(const struct trial *trials, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        enum token_result result = gate_try(&gate, "{}", trials[i].changes);
        cr_expect_eq(result, trials[i].expected, "%s: %s, not %s", trials[i].changes,
                     token_result_name(result), token_result_name(trials[i].expected));
    }
}

#define EXPECT_ALL(trials) expect_all(trials, sizeof(trials) / sizeof((trials)[0]))

Test(claims, fills_every_field)
{
    cr_assert_eq(gate_try(&gate, "{}", "{}"), TOKEN_OK);
    const struct claims *c = &gate.claims;
    cr_expect_eq(c->issuer, &gate.issuer);
    cr_expect(slice_is(c->sub, "alice"));
    cr_expect(slice_is(c->client_id, "agent"));
    cr_expect(slice_is(c->jti, "t-1"));
    cr_expect(slice_is(c->tenant, "acme"));
    cr_assert_eq(c->n_scopes, 2);
    cr_expect(slice_is(c->scopes[0], "kb:read"));
    cr_expect(slice_is(c->scopes[1], "kb:list"));
    cr_assert_eq(c->n_groups, 2);
    cr_expect(slice_is(c->groups[0], "legal"));
    cr_expect(slice_is(c->groups[1], "ir"));
    cr_expect_not(c->groups_overage);
    cr_expect_eq(c->expires_unix_s, GATE_NOW + 600);
}

Test(claims, subject_depends_on_issuer_and_sub_alone)
{
    cr_assert_eq(gate_try(&gate, "{}", "{}"), TOKEN_OK);
    struct digest first = gate.claims.subject;
    cr_assert_eq(gate_try(&gate, "{}", "{\"jti\":\"t-2\",\"scope\":\"\",\"tid\":\"T2\"}"),
                 TOKEN_OK);
    cr_expect(digest_eq(&first, &gate.claims.subject));
    cr_assert_eq(gate_try(&gate, "{}", "{\"sub\":\"alicf\"}"), TOKEN_OK);
    cr_expect_not(digest_eq(&first, &gate.claims.subject));
    gate.issuer.iss = SLICE_LIT("https://issuer.test/a"); /* same bytes when glued together */
    cr_assert_eq(gate_try(&gate, "{}", "{\"iss\":\"https://issuer.test/a\",\"sub\":\"lice\"}"),
                 TOKEN_OK);
    cr_expect_not(digest_eq(&first, &gate.claims.subject));
}

Test(claims, rejects_payloads_that_are_no_strict_object)
{
    static const char *const BAD[] = {
        "[1]", "\"x\"", "1", "null", "{", "{}x", "{\"aud\":\"\\u0000\"}", "{\"iss\":\"\xFF\"}"};
    char *header = gate_header(&gate, "{}");
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_eq(gate_try_text(&gate, slice_of(header), slice_of(BAD[i])), TOKEN_JSON);
    }
    cr_expect_eq(gate_try_text(&gate, slice_of(header), (struct slice){"{}\0", 3}), TOKEN_JSON);
    free(header);
}

Test(claims, rejects_duplicate_claims)
{
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    struct dynbuf twice;
    dynbuf_init(&twice, MINT_MAX_BYTES);
    dynbuf_add(&twice, slice_of(payload));
    dynbuf_cut(&twice, twice.n - 1);
    dynbuf_add_text(&twice, ",\"sub\":\"alice\"}");
    cr_expect_eq(gate_try_text(&gate, slice_of(header), dynbuf_get(&twice)), TOKEN_JSON);
    dynbuf_cut(&twice, strlen(payload) - 1);
    dynbuf_add_text(&twice, ",\"a\":{\"b\":1,\"b\":2}}");
    cr_expect_eq(gate_try_text(&gate, slice_of(header), dynbuf_get(&twice)), TOKEN_JSON);
    dynbuf_done(&twice);
    free(header);
    free(payload);
}

Test(claims, caps_payload_members_and_depth)
{
    for (int more = 501; more <= 503; more++) { /* beside the ten that are there */
        char changes[8192] = "{";
        for (int i = 0; i < more; i++) {
            sprintf(changes + strlen(changes), "%s\"x%d\":1", i ? "," : "", i);
        }
        strcat(changes, "}");
        cr_expect_eq(gate_try(&gate, "{}", changes), more <= 502 ? TOKEN_OK : TOKEN_JSON, "%d",
                     more);
    }
    cr_expect_eq(gate_try(&gate, "{}", "{\"x\":[[[[[[[]]]]]]]}"), TOKEN_OK);
    cr_expect_eq(gate_try(&gate, "{}", "{\"x\":[[[[[[[[]]]]]]]]}"), TOKEN_JSON);
}

Test(claims, rejects_other_issuers)
{
    static const struct trial TRIALS[] = {
        {"{\"-iss\":0}", TOKEN_ISSUER},
        {"{\"iss\":null}", TOKEN_ISSUER},
        {"{\"iss\":[\"" GATE_ISS "\"]}", TOKEN_ISSUER},
        {"{\"iss\":1}", TOKEN_ISSUER},
        {"{\"iss\":\"\"}", TOKEN_ISSUER},
        {"{\"iss\":\"https://issuer.test\"}", TOKEN_ISSUER}, /* a prefix */
        {"{\"iss\":\"https://issuer.test/x\"}", TOKEN_ISSUER},
        {"{\"iss\":\"https://ISSUER.test/\"}", TOKEN_ISSUER},
        {"{\"iss\":\"/\"}", TOKEN_ISSUER},
    };
    EXPECT_ALL(TRIALS);
}

Test(claims, demands_our_audience)
{
    static const struct trial TRIALS[] = {
        {"{\"-aud\":0}", TOKEN_AUDIENCE},
        {"{\"aud\":null}", TOKEN_AUDIENCE},
        {"{\"aud\":[]}", TOKEN_AUDIENCE},
        {"{\"aud\":{}}", TOKEN_AUDIENCE},
        {"{\"aud\":{\"0\":\"" GATE_AUD "\"}}", TOKEN_AUDIENCE},
        {"{\"aud\":1}", TOKEN_AUDIENCE},
        {"{\"aud\":\"\"}", TOKEN_AUDIENCE},
        {"{\"aud\":\"https://other.test\"}", TOKEN_AUDIENCE},
        {"{\"aud\":\"" GATE_AUD "/\"}", TOKEN_AUDIENCE},
        {"{\"aud\":\"https://kb.test/mc\"}", TOKEN_AUDIENCE},
        {"{\"aud\":\"HTTPS://kb.test/mcp\"}", TOKEN_AUDIENCE},
        {"{\"aud\":[\"https://other.test\"]}", TOKEN_AUDIENCE},
        {"{\"aud\":[\"" GATE_AUD "\",1]}", TOKEN_AUDIENCE},
        {"{\"aud\":[null,\"" GATE_AUD "\"]}", TOKEN_AUDIENCE},
        {"{\"aud\":[[\"" GATE_AUD "\"]]}", TOKEN_AUDIENCE},
        {"{\"aud\":[\"" GATE_AUD "\"]}", TOKEN_OK},
        {"{\"aud\":[\"https://other.test\",\"" GATE_AUD "\"]}", TOKEN_OK},
        {"{\"aud\":\"https://alias.test\"}", TOKEN_OK},
    };
    EXPECT_ALL(TRIALS);
}

Test(claims, demands_a_number_for_exp)
{
    static const struct trial TRIALS[] = {
        {"{\"-exp\":0}", TOKEN_CLAIM},
        {"{\"exp\":null}", TOKEN_CLAIM},
        {"{\"exp\":\"1800000600\"}", TOKEN_CLAIM},
        {"{\"exp\":[1800000600]}", TOKEN_CLAIM},
        {"{\"exp\":true}", TOKEN_CLAIM},
        {"{\"exp\":0}", TOKEN_CLAIM},
        {"{\"exp\":-1}", TOKEN_CLAIM},
        {"{\"exp\":9007199254740994}", TOKEN_CLAIM}, /* 2^53 + 2 */
        {"{\"exp\":9007199254740992}", TOKEN_LIFETIME},
        {"{\"exp\":1e300}", TOKEN_CLAIM},
        {"{\"exp\":1e12}", TOKEN_LIFETIME},
        {"{\"exp\":1.5}", TOKEN_EXPIRED},
        {"{\"exp\":1.8000006e9}", TOKEN_OK},
        {"{\"exp\":1800000600.75}", TOKEN_OK},
    };
    EXPECT_ALL(TRIALS);
    cr_expect_eq(gate.claims.expires_unix_s, 1800000600);
}

Test(claims, rejects_an_expired_token)
{
    static const struct trial TRIALS[] = {
        {"{\"exp\":1799999971}", TOKEN_OK}, /* 30 s of leeway, one left */
        {"{\"exp\":1799999970.5}", TOKEN_OK},    {"{\"exp\":1799999970}", TOKEN_EXPIRED},
        {"{\"exp\":1799999969}", TOKEN_EXPIRED}, {"{\"exp\":1}", TOKEN_EXPIRED},
    };
    EXPECT_ALL(TRIALS);
    gate.now_ms = (int64_t)(GATE_NOW + 630) * 1000 - 1;
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_OK);
    gate.now_ms++;
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_EXPIRED);
}

Test(claims, takes_the_leeway_from_the_issuer)
{
    gate.issuer.leeway_s = 0;
    cr_expect_eq(gate_try(&gate, "{}", "{\"exp\":1800000000}"), TOKEN_EXPIRED);
    cr_expect_eq(gate_try(&gate, "{}", "{\"exp\":1800000001}"), TOKEN_OK);
    gate.issuer.leeway_s = 300;
    cr_expect_eq(gate_try(&gate, "{}", "{\"exp\":1799999701,\"iat\":1799999000}"), TOKEN_OK);
    cr_expect_eq(gate_try(&gate, "{}", "{\"nbf\":1800000300}"), TOKEN_OK);
    cr_expect_eq(gate_try(&gate, "{}", "{\"nbf\":1800000301}"), TOKEN_NOT_YET);
}

Test(claims, rejects_a_token_before_nbf_or_iat)
{
    static const struct trial TRIALS[] = {
        {"{\"nbf\":1800000030}", TOKEN_OK},
        {"{\"nbf\":1800000030.5}", TOKEN_NOT_YET},
        {"{\"nbf\":1800000031}", TOKEN_NOT_YET},
        {"{\"nbf\":0}", TOKEN_OK},
        {"{\"nbf\":\"0\"}", TOKEN_CLAIM},
        {"{\"nbf\":null}", TOKEN_CLAIM},
        {"{\"nbf\":false}", TOKEN_CLAIM},
        {"{\"nbf\":-1}", TOKEN_CLAIM},
        {"{\"iat\":1800000030}", TOKEN_OK},
        {"{\"iat\":1800000031}", TOKEN_NOT_YET},
        {"{\"iat\":\"1799999940\"}", TOKEN_CLAIM},
        {"{\"iat\":null}", TOKEN_CLAIM},
        {"{\"iat\":-1}", TOKEN_CLAIM},
        {"{\"-iat\":0}", TOKEN_CLAIM},
    };
    EXPECT_ALL(TRIALS);
}

Test(claims, caps_the_lifetime)
{
    static const struct trial TRIALS[] = {
        {"{\"iat\":1799999940,\"exp\":1800086339}", TOKEN_OK},
        {"{\"iat\":1799999940,\"exp\":1800086340}", TOKEN_OK},
        {"{\"iat\":1799999940,\"exp\":1800086341}", TOKEN_LIFETIME},
        {"{\"iat\":0}", TOKEN_LIFETIME},
    };
    EXPECT_ALL(TRIALS);
    gate.issuer.typ_any = true; /* no iat: what is left of it counts */
    cr_expect_eq(gate_try(&gate, "{}", "{\"-iat\":0,\"exp\":1800086400}"), TOKEN_OK);
    cr_expect_eq(gate_try(&gate, "{}", "{\"-iat\":0,\"exp\":1800086401}"), TOKEN_LIFETIME);
}

Test(claims, demands_sub_client_id_and_jti)
{
    static const char *const NAMES[] = {"sub", "client_id", "jti"};
    static const char *const BAD[] = {"null", "\"\"", "1", "[\"x\"]", "{}", "true"};
    char changes[512];
    for (size_t i = 0; i < 3; i++) {
        snprintf(changes, sizeof(changes), "{\"-%s\":0}", NAMES[i]);
        cr_expect_eq(gate_try(&gate, "{}", changes), TOKEN_CLAIM, "%s", changes);
        for (size_t j = 0; j < sizeof(BAD) / sizeof(BAD[0]); j++) {
            snprintf(changes, sizeof(changes), "{\"%s\":%s}", NAMES[i], BAD[j]);
            cr_expect_eq(gate_try(&gate, "{}", changes), TOKEN_CLAIM, "%s", changes);
        }
        for (int n = 255; n <= 257; n++) {
            snprintf(changes, sizeof(changes), "{\"%s\":\"%0*d\"}", NAMES[i], n, 1);
            cr_expect_eq(gate_try(&gate, "{}", changes), n <= 256 ? TOKEN_OK : TOKEN_CLAIM);
        }
    }
}

Test(claims, typ_any_lets_jti_and_client_id_be_absent_but_not_sub)
{
    gate.issuer.typ_any = true;
    cr_expect_eq(gate_try(&gate, "{}", "{\"-jti\":0,\"-client_id\":0,\"-iat\":0}"), TOKEN_OK);
    cr_expect_null(gate.claims.jti.p);
    cr_expect_null(gate.claims.client_id.p);
    cr_expect_eq(gate_try(&gate, "{}", "{\"-sub\":0}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{}", "{\"jti\":1}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{}", "{\"jti\":\"\"}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{}", "{\"client_id\":null}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{}", "{\"-exp\":0}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{}", "{\"-aud\":0}"), TOKEN_AUDIENCE);
}

Test(claims, typ_any_refuses_id_tokens)
{
    cr_expect_eq(gate_try(&gate, "{}", "{\"nonce\":\"x\"}"), TOKEN_OK); /* at+jwt says it is none */
    gate.issuer.typ_any = true;
    cr_expect_eq(gate_try(&gate, "{\"typ\":\"JWT\"}", "{}"), TOKEN_OK);
    cr_expect_eq(gate_try(&gate, "{\"typ\":\"JWT\"}", "{\"nonce\":\"x\"}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{\"typ\":\"JWT\"}", "{\"at_hash\":\"x\"}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{\"typ\":\"JWT\"}", "{\"nonce\":null}"), TOKEN_CLAIM);
}

Test(claims, takes_client_id_from_the_mapped_claim)
{
    gate.issuer.client_id = (struct claim_rule){.path = SLICE_LIT("azp"), .kind = CLAIM_STRING};
    cr_expect_eq(gate_try(&gate, "{}", "{\"azp\":\"app\"}"), TOKEN_OK);
    cr_expect(slice_is(gate.claims.client_id, "app"));
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{}", "{\"azp\":[\"app\"]}"), TOKEN_CLAIM);
    gate.issuer.client_id.path = SLICE_LIT("azp.id");
    cr_expect_eq(gate_try(&gate, "{}", "{\"azp\":\"app\"}"), TOKEN_CLAIM);
    gate.issuer.typ_any = true;
    cr_expect_eq(gate_try(&gate, "{}", "{\"azp\":\"app\"}"), TOKEN_CLAIM);
    cr_expect_eq(gate_try(&gate, "{}", "{\"azp\":{\"id\":\"app\"}}"), TOKEN_OK);
}

Test(claims, live_in_the_arena)
{
    cr_assert_eq(gate_try(&gate, "{}", "{}"), TOKEN_OK);
    struct claims first = gate.claims;
    for (int i = 0; i < 20; i++) { /* what was freed gets used again */
        cr_assert_eq(gate_try(&gate, "{}", "{\"sub\":\"xxxxx\",\"groups\":[\"yyyyy\"]}"), TOKEN_OK);
    }
    cr_expect(slice_is(first.sub, "alice"));
    cr_expect(slice_is(first.groups[0], "legal"));
    cr_expect(slice_is(first.scopes[1], "kb:list"));
}
