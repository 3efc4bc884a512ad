/* SPDX-License-Identifier: Apache-2.0 */
/* The shape and the header of a token, each refusal through token_verify with a signature that
 * holds, so that nothing but the spoilt place can be the reason. */
#include "auth/jws.h"

#include "service/base/encode.h"
#include "tests/unit/auth/gate.h"

#include <openssl/hmac.h>
#include <openssl/pem.h>

static struct gate gate;

static void open_gate(void)
{
    gate_open(&gate);
}

static void close_gate(void)
{
    gate_close(&gate);
}

TestSuite(jws, .init = open_gate, .fini = close_gate);

static enum token_result try_z(const char *compact)
{
    return gate_try_compact(&gate, slice_of(compact));
}

/* The good token, for spoiling in place; dynbuf_done. */
static struct dynbuf good_token(void)
{
    struct dynbuf token;
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    dynbuf_init(&token, MINT_MAX_BYTES);
    mint_compact(&token, gate.pkey, gate.alg, slice_of(header), slice_of(payload));
    free(header);
    free(payload);
    return token;
}

static struct slice signature_segment(struct slice token)
{
    size_t at = token.n;
    while (token.p[at - 1] != '.') {
        at--;
    }
    return slice_skip(token, at);
}

Test(jws, rejects_anything_but_three_segments)
{
    static const char *const BAD[] = {"",       "a",       "a.b",       ".",       "..",
                                      "...",    "a..c",    ".b.c",      "a.b.",    "a.b.c.",
                                      ".a.b.c", "a.b.c.d", "a.b.c.d.e", "e30.e30", "e30..e30"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_eq(try_z(BAD[i]), TOKEN_MALFORMED, "%s", BAD[i]);
    }
}

Test(jws, rejects_thousands_of_dots)
{
    char *dots = malloc(100000);
    memset(dots, '.', 100000);
    struct jws jws;
    cr_expect_eq(gate_try_compact(&gate, (struct slice){dots, TOKEN_MAX_BYTES}), TOKEN_MALFORMED);
    cr_expect_eq(jws_parse((struct slice){dots, 100000}, &gate.arena, &jws), TOKEN_MALFORMED);
    free(dots);
}

Test(jws, rejects_an_encrypted_token)
{
    struct dynbuf token = good_token();
    dynbuf_add_text(&token, ".AAAA.AAAA");
    cr_expect_eq(gate_try_compact(&gate, dynbuf_get(&token)), TOKEN_MALFORMED);
    dynbuf_done(&token);
}

Test(jws, rejects_json_serialisation)
{
    struct dynbuf token = good_token(), polyglot;
    dynbuf_init(&polyglot, MINT_MAX_BYTES);
    dynbuf_add_text(&polyglot, "{\"payload\":\"e30\",\"x\":\"");
    dynbuf_add(&polyglot, dynbuf_get(&token));
    dynbuf_add_text(&polyglot, "\"}");
    cr_expect_eq(gate_try_compact(&gate, dynbuf_get(&polyglot)), TOKEN_ENCODING);
    cr_expect_eq(try_z("{\"payload\":\"e30\",\"signatures\":[]}"), TOKEN_MALFORMED);
    dynbuf_done(&token);
    dynbuf_done(&polyglot);
}

Test(jws, rejects_bytes_outside_base64url_in_any_segment)
{
    static const char BYTES[] = "=+/ \n\t\r{\"\x80";
    struct dynbuf token = good_token();
    for (size_t b = 0; b <= sizeof(BYTES) - 1; b++) { /* the last one is NUL */
        for (size_t at = 0; at < token.n; at++) {
            char before = token.p[at];
            if (before == '.') {
                continue;
            }
            token.p[at] = BYTES[b];
            cr_assert_eq(gate_try_compact(&gate, dynbuf_get(&token)), TOKEN_ENCODING);
            token.p[at] = before;
        }
    }
    dynbuf_done(&token);
}

Test(jws, rejects_padding_and_impossible_lengths)
{
    static const char *const TAILS[] = {"=", "==", "\n",
                                        " ", "A",  "AAA"}; /* 86 characters before */
    for (size_t i = 0; i < sizeof(TAILS) / sizeof(TAILS[0]); i++) {
        struct dynbuf token = good_token();
        dynbuf_add_text(&token, TAILS[i]);
        enum token_result result = gate_try_compact(&gate, dynbuf_get(&token));
        cr_expect(result == TOKEN_ENCODING || result == TOKEN_SIGNATURE, "%s", TAILS[i]);
        dynbuf_done(&token);
    }
}

/* The last character of 86 carries four bits that belong to no byte. */
Test(jws, rejects_nonzero_trailing_bits)
{
    static const char ALPHABET[] =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    struct dynbuf token = good_token();
    char *last = &token.p[token.n - 1];
    size_t value = (size_t)(strchr(ALPHABET, *last) - ALPHABET);
    cr_assert_eq(value % 16, 0);
    for (size_t bits = 1; bits < 16; bits++) {
        *last = ALPHABET[value + bits];
        cr_expect_eq(gate_try_compact(&gate, dynbuf_get(&token)), TOKEN_ENCODING);
    }
    *last = ALPHABET[value];
    cr_expect_eq(gate_try_compact(&gate, dynbuf_get(&token)), TOKEN_OK);
    dynbuf_done(&token);
}

static enum token_result try_header_text(struct slice header)
{
    char *payload = gate_payload("{}");
    enum token_result result = gate_try_text(&gate, header, slice_of(payload));
    free(payload);
    return result;
}

Test(jws, rejects_headers_that_are_no_strict_object)
{
    static const char *const BAD[] = {
        "[1]",
        "\"ES256\"",
        "1",
        "null",
        "{",
        "{}x",
        "{\"alg\":\"ES256\",\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"k1\"}",
        "{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"k1\",\"x\":{\"y\":1,\"y\":1}}",
        "{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"k1\",\"x\":\"\\u0000\"}",
        "{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"k1\",\"x\":\"\xFF\"}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_eq(try_header_text(slice_of(BAD[i])), TOKEN_JSON, "%s", BAD[i]);
    }
    cr_expect_eq(try_header_text((struct slice){"{\"alg\":\"ES256\"}\0", 16}), TOKEN_JSON);
}

Test(jws, caps_header_members_at_64)
{
    for (int more = 60; more <= 62; more++) { /* beside alg, typ and kid */
        char changes[1024] = "{";
        for (int i = 0; i < more; i++) {
            sprintf(changes + strlen(changes), "%s\"x%d\":1", i ? "," : "", i);
        }
        strcat(changes, "}");
        cr_expect_eq(gate_try(&gate, changes, "{}"), more <= 61 ? TOKEN_OK : TOKEN_JSON);
    }
}

Test(jws, rejects_alg_none)
{
    static const char *const NONE[] = {"none", "None", "nOnE", "NONE", "", " none"};
    for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++) {
        char changes[64];
        snprintf(changes, sizeof(changes), "{\"alg\":\"%s\"}", NONE[i]);
        cr_expect_eq(gate_try(&gate, changes, "{}"), TOKEN_ALG, "%s", NONE[i]);
    }
    cr_expect_eq(try_z("eyJhbGciOiJub25lIn0.e30."), TOKEN_MALFORMED);
    cr_expect_eq(try_z("eyJhbGciOiJub25lIn0.e30.AA"), TOKEN_ALG);
}

Test(jws, rejects_alg_missing_or_not_a_string)
{
    static const char *const BAD[] = {"{\"-alg\":0}",          "{\"alg\":null}", "{\"alg\":256}",
                                      "{\"alg\":[\"ES256\"]}", "{\"alg\":{}}",   "{\"alg\":true}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_eq(gate_try(&gate, BAD[i], "{}"), TOKEN_ALG, "%s", BAD[i]);
    }
}

Test(jws, rejects_alg_in_another_case)
{
    cr_expect_eq(gate_try(&gate, "{\"alg\":\"es256\"}", "{}"), TOKEN_ALG);
    cr_expect_eq(gate_try(&gate, "{\"alg\":\"Es256\"}", "{}"), TOKEN_ALG);
}

/* HMAC over the token with every public form of the key for a secret, and with an empty one. */
Test(jws, rejects_hmac_keyed_with_the_public_key)
{
    BIO *bio = BIO_new(BIO_s_mem());
    unsigned char *der = NULL;
    char *pem = NULL, *payload = gate_payload("{}");
    PEM_write_bio_PUBKEY(bio, gate.pkey);
    size_t pem_bytes = (size_t)BIO_get_mem_data(bio, &pem);
    int der_bytes = i2d_PUBKEY(gate.pkey, &der);
    struct dynbuf jwk;
    dynbuf_init(&jwk, MINT_MAX_BYTES);
    mint_jwk(&jwk, gate.pkey, "\"kid\":\"k1\",");
    struct slice secrets[] = {{pem, pem_bytes},
                              {pem, pem_bytes - 1},
                              {(char *)der, (size_t)der_bytes},
                              dynbuf_get(&jwk),
                              SLICE_LIT("")};
    struct slice header = SLICE_LIT("{\"alg\":\"HS256\",\"typ\":\"at+jwt\",\"kid\":\"k1\"}");
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++) {
        unsigned char mac[32];
        struct dynbuf token;
        dynbuf_init(&token, MINT_MAX_BYTES);
        encode_base64url(&token, header);
        dynbuf_add_byte(&token, '.');
        encode_base64url(&token, slice_of(payload));
        HMAC(EVP_sha256(), secrets[i].p, (int)secrets[i].n, (unsigned char *)token.p, token.n, mac,
             NULL);
        dynbuf_add_byte(&token, '.');
        encode_base64url(&token, (struct slice){(char *)mac, sizeof(mac)});
        cr_expect_eq(gate_try_compact(&gate, dynbuf_get(&token)), TOKEN_ALG);
        dynbuf_done(&token);
    }
    dynbuf_done(&jwk);
    OPENSSL_free(der);
    BIO_free(bio);
    free(payload);
}

Test(jws, rejects_crit_of_any_value)
{
    static const char *const BAD[] = {"{\"crit\":[]}",        "{\"crit\":[\"b64\"]}",
                                      "{\"crit\":[\"exp\"]}", "{\"crit\":null}",
                                      "{\"crit\":\"b64\"}",   "{\"crit\":[\"b64\"],\"b64\":false}"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        cr_expect_eq(gate_try(&gate, BAD[i], "{}"), TOKEN_HEADER, "%s", BAD[i]);
    }
}

Test(jws, rejects_b64_without_crit_and_zip)
{
    cr_expect_eq(gate_try(&gate, "{\"b64\":false}", "{}"), TOKEN_HEADER);
    cr_expect_eq(gate_try(&gate, "{\"b64\":true}", "{}"), TOKEN_HEADER);
    cr_expect_eq(gate_try(&gate, "{\"zip\":\"DEF\"}", "{}"), TOKEN_HEADER);
}

/* Signed with the attacker's own key, which the header brings along. */
Test(jws, rejects_keys_brought_along)
{
    EVP_PKEY *own = gate.pkey, *attackers = mint_pkey(JWS_ES256);
    struct dynbuf changes;
    dynbuf_init(&changes, MINT_MAX_BYTES);
    dynbuf_add_text(&changes, "{\"jwk\":");
    mint_jwk(&changes, attackers, "");
    dynbuf_add_text(&changes, "}");
    dynbuf_add(&changes, (struct slice){"\0", 1});
    gate.pkey = attackers;
    cr_expect_eq(gate_try(&gate, changes.p, "{}"), TOKEN_HEADER);
    cr_expect_eq(gate_try(&gate, "{\"jku\":\"https://evil.test/jwks\"}", "{}"), TOKEN_HEADER);
    cr_expect_eq(gate_try(&gate, "{\"x5u\":\"https://evil.test/x\"}", "{}"), TOKEN_HEADER);
    cr_expect_eq(gate_try(&gate, "{\"x5c\":[\"MII\"]}", "{}"), TOKEN_HEADER);
    cr_expect_eq(gate_try(&gate, "{}", "{}"), TOKEN_SIGNATURE);
    gate.pkey = own;
    EVP_PKEY_free(attackers);
    dynbuf_done(&changes);
}

Test(jws, ignores_header_members_without_meaning_to_it)
{
    cr_expect_eq(gate_try(&gate, "{\"x5t\":\"abc\",\"foo\":{\"alg\":\"none\"}}", "{}"), TOKEN_OK);
}

Test(jws, rejects_nested_tokens)
{
    cr_expect_eq(gate_try(&gate, "{\"cty\":\"JWT\"}", "{}"), TOKEN_HEADER);
    cr_expect_eq(gate_try(&gate, "{\"cty\":\"jwt\"}", "{}"), TOKEN_HEADER);
    struct dynbuf inner = good_token();
    char *header = gate_header(&gate, "{}");
    cr_expect_eq(gate_try_text(&gate, slice_of(header), dynbuf_get(&inner)), TOKEN_JSON);
    free(header);
    dynbuf_done(&inner);
}

Test(jws, rejects_hostile_kids)
{
    static const char *const BAD[] = {"1",
                                      "null",
                                      "[\"k1\"]",
                                      "{}",
                                      "\"\"",
                                      "\"../k1\"",
                                      "\"..\"",
                                      "\"k1\\n\"",
                                      "\"\\\"k1\\\"\"",
                                      "\"k1' OR 1=1\"",
                                      "\"k1\\\\\"",
                                      "\"k1\\u007f\""};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        char changes[64];
        snprintf(changes, sizeof(changes), "{\"kid\":%s}", BAD[i]);
        cr_expect_eq(gate_try(&gate, changes, "{}"), TOKEN_KID, "%s", BAD[i]);
    }
    cr_expect_eq(
        try_header_text(SLICE_LIT("{\"alg\":\"ES256\",\"typ\":\"at+jwt\",\"kid\":\"k1\\u0000\"}")),
        TOKEN_JSON);
}

Test(jws, caps_kid_at_128_bytes)
{
    for (int n = 127; n <= 129; n++) {
        char changes[256];
        snprintf(changes, sizeof(changes), "{\"kid\":\"%0*d\"}", n, 7);
        cr_expect_eq(gate_try(&gate, changes, "{}"), n <= 128 ? TOKEN_KEY : TOKEN_KID, "%d", n);
    }
}

Test(jws, parses_into_parts_that_are_its_own)
{
    struct dynbuf token = good_token();
    struct jws jws;
    cr_assert_eq(jws_parse(dynbuf_get(&token), &gate.arena, &jws), TOKEN_OK);
    size_t input_bytes = token.n - signature_segment(dynbuf_get(&token)).n - 1;
    cr_expect_eq(jws.alg, JWS_ES256);
    cr_expect(slice_is(jws.kid, "k1"));
    cr_expect(slice_is(jws.typ, "at+jwt"));
    cr_expect(slice_eq(jws.signing_input, (struct slice){token.p, input_bytes}));
    cr_expect_eq(jws.signature.n, 64);
    dynbuf_done(&token);
    cr_expect(slice_starts(jws.payload, SLICE_LIT("{\"iss\":")));
}
