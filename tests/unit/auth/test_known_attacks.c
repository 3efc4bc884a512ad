/* SPDX-License-Identifier: Apache-2.0 */
/* The inputs that broke other JWT libraries, by the number of their advisory. Each comes beside a
 * token that passes, so that the refusal comes from the attack. (CVE-2026-35039, a collision in a
 * cache of verified tokens, stands in tests/unit/cache/test_token_cache.c.) */
#include "service/base/encode.h"
#include "tests/unit/auth/gate.h"

#include <criterion/criterion.h>
#include <openssl/core_names.h>
#include <openssl/encoder.h>
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

TestSuite(known_attacks, .init = open_gate, .fini = close_gate);

static enum token_result try_hmac(const char *alg, struct slice secret)
{
    unsigned char mac[EVP_MAX_MD_SIZE];
    unsigned n = 0;
    char header[96], *payload = gate_payload("{}");
    struct dynbuf token;
    (void)snprintf(header, sizeof(header), "{\"alg\":\"%s\",\"typ\":\"at+jwt\",\"kid\":\"k1\"}",
                   alg);
    dynbuf_init(&token, MINT_MAX_BYTES);
    encode_base64url(&token, slice_of(header));
    dynbuf_add_byte(&token, '.');
    encode_base64url(&token, slice_of(payload));
    HMAC(EVP_sha256(), secret.p, (int)secret.n, (unsigned char *)token.p, token.n, mac, &n);
    dynbuf_add_byte(&token, '.');
    encode_base64url(&token, (struct slice){(char *)mac, n});
    enum token_result result = gate_try_compact(&gate, dynbuf_get(&token));
    dynbuf_done(&token);
    free(payload);
    return result;
}

/* The public key as bytes an attacker can come by. */
static enum token_result try_hmac_with_encoded(const char *format, const char *structure)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    OSSL_ENCODER_CTX *ctx =
        OSSL_ENCODER_CTX_new_for_pkey(gate.pkey, EVP_PKEY_PUBLIC_KEY, format, structure, NULL);
    cr_assert_eq(OSSL_ENCODER_to_data(ctx, &bytes, &n), 1);
    enum token_result result = try_hmac("HS256", (struct slice){(char *)bytes, n});
    enum token_result cut = try_hmac("HS256", (struct slice){(char *)bytes, n - 1});
    cr_expect_eq(result, cut, "the end of a line makes no difference");
    OPENSSL_free(bytes);
    OSSL_ENCODER_CTX_free(ctx);
    return result;
}

static enum token_result rsa_pem_as_secret(void)
{
    gate_use(&gate, JWS_RS256);
    return try_hmac_with_encoded("PEM", "SubjectPublicKeyInfo");
}

static enum token_result rsa_pkcs1_pem_as_secret(void)
{
    gate_use(&gate, JWS_RS256);
    return try_hmac_with_encoded("PEM", "type-specific");
}

static enum token_result ec_pem_as_secret(void)
{
    return try_hmac_with_encoded("PEM", "SubjectPublicKeyInfo");
}

static void add_ssh_part(struct dynbuf *out, struct slice part)
{
    for (int shift = 24; shift >= 0; shift -= 8) {
        dynbuf_add_byte(out, (char)(part.n >> shift & 0xFF));
    }
    dynbuf_add(out, part);
}

/* "ssh-rsa AAAA…" (RFC 4253 §6.6); its base64 without padding and with the URL's two letters. */
static enum token_result ssh_key_as_secret(void)
{
    unsigned char n_bytes[512] = {0};
    BIGNUM *n = NULL;
    struct dynbuf raw, text;
    gate_use(&gate, JWS_RS256);
    cr_assert_eq(EVP_PKEY_get_bn_param(gate.pkey, OSSL_PKEY_PARAM_RSA_N, &n), 1);
    int n_size = BN_bn2bin(n, n_bytes + 1) + 1;
    dynbuf_init(&raw, MINT_MAX_BYTES);
    dynbuf_init(&text, MINT_MAX_BYTES);
    add_ssh_part(&raw, SLICE_LIT("ssh-rsa"));
    add_ssh_part(&raw, SLICE_LIT("\x01\x00\x01"));
    add_ssh_part(&raw, (struct slice){(char *)n_bytes, (size_t)n_size});
    dynbuf_add_text(&text, "ssh-rsa ");
    encode_base64url(&text, dynbuf_get(&raw));
    enum token_result result = try_hmac("HS256", dynbuf_get(&text));
    dynbuf_done(&raw);
    dynbuf_done(&text);
    BN_free(n);
    return result;
}

/* Good bytes, but every other algorithm's name in the header. */
static enum token_result header_names_another_alg(void)
{
    enum token_result result = TOKEN_KEY;
    gate_use(&gate, JWS_RS256);
    gate.issuer.algs = (1U << JWS_ALG_COUNT) - 1;
    for (int alg = JWS_RS384; alg < JWS_ALG_COUNT && result == TOKEN_KEY; alg++) {
        char changes[32];
        (void)snprintf(changes, sizeof(changes), "{\"alg\":\"%s\"}",
                       jws_alg_name((enum jws_alg)alg));
        result = gate_try(&gate, changes, "{}");
    }
    return result;
}

static enum token_result key_in_the_header(void)
{
    EVP_PKEY *attackers = mint_pkey(JWS_ES256), *own = gate.pkey;
    struct dynbuf changes;
    dynbuf_init(&changes, MINT_MAX_BYTES);
    dynbuf_add_text(&changes, "{\"jwk\":");
    mint_jwk(&changes, attackers, "\"kid\":\"k1\",");
    dynbuf_add_text(&changes, "}");
    gate.pkey = attackers;
    enum token_result result = gate_try(&gate, dynbuf_text(&changes), "{}");
    gate.pkey = own;
    EVP_PKEY_free(attackers);
    dynbuf_done(&changes);
    return result;
}

static enum token_result empty_audience_list(void)
{
    cr_expect_eq(gate_try(&gate, "{}", "{\"aud\":[\"\"]}"), TOKEN_AUDIENCE);
    return gate_try(&gate, "{}", "{\"aud\":[]}");
}

static enum token_result try_signature(struct slice signature, const char *header_changes)
{
    struct dynbuf token;
    char *header = gate_header(&gate, header_changes), *payload = gate_payload("{}");
    dynbuf_init(&token, MINT_MAX_BYTES);
    mint_compact_with(&token, slice_of(header), slice_of(payload), signature);
    enum token_result result = gate_try_compact(&gate, dynbuf_get(&token));
    dynbuf_done(&token);
    free(header);
    free(payload);
    return result;
}

static enum token_result psychic_signature(void)
{
    static const char ZEROS[64];
    return try_signature((struct slice){ZEROS, sizeof(ZEROS)}, "{}");
}

static enum token_result none_without_a_key(void)
{
    struct jwks *const none[1] = {NULL};
    gate.trust.keys = none;
    cr_expect_eq(try_signature(SLICE_LIT(""), "{\"alg\":\"none\"}"), TOKEN_MALFORMED);
    return try_signature(SLICE_LIT("x"), "{\"alg\":\"none\"}");
}

/* The kid leads to an RSA key, the algorithm to another kind. */
static enum token_result key_of_another_kind(void)
{
    gate_use(&gate, JWS_RS256);
    gate.issuer.algs |= 1U << JWS_ES256;
    return try_signature(
        SLICE_LIT("0123456789012345678901234567890123456789012345678901234567890123"),
        "{\"alg\":\"ES256\"}");
}

/* Compact and JSON at once: an old signature around forged claims. */
static enum token_result polyglot(void)
{
    struct dynbuf good, forged;
    char *header = gate_header(&gate, "{}"), *payload = gate_payload("{}");
    dynbuf_init(&good, MINT_MAX_BYTES);
    dynbuf_init(&forged, MINT_MAX_BYTES);
    mint_compact(&good, gate.pkey, gate.alg, slice_of(header), slice_of(payload));
    dynbuf_add_text(&forged, "{\"");
    dynbuf_add(&forged, dynbuf_get(&good));
    dynbuf_add_text(&forged, "\":\"\",\"payload\":\"e30\"}");
    enum token_result result = gate_try_compact(&gate, dynbuf_get(&forged));
    dynbuf_done(&good);
    dynbuf_done(&forged);
    free(header);
    free(payload);
    return result;
}

/* Even the right MAC under a known secret is never compared. */
static enum token_result hmac_is_never_compared(void)
{
    cr_expect_eq(try_hmac("HS384", SLICE_LIT("secret")), TOKEN_ALG);
    return try_hmac("HS256", SLICE_LIT("secret"));
}

static enum token_result part_of_the_issuer(void)
{
    cr_expect_eq(gate_try(&gate, "{}", "{\"iss\":\"h\"}"), TOKEN_ISSUER);
    cr_expect_eq(gate_try(&gate, "{}", "{\"iss\":\"\"}"), TOKEN_ISSUER);
    return gate_try(&gate, "{}", "{\"iss\":\"https://issuer.test\"}");
}

static enum token_result many_dots(void)
{
    char dots[TOKEN_MAX_BYTES];
    memset(dots, '.', sizeof(dots));
    return gate_try_compact(&gate, (struct slice){dots, sizeof(dots)});
}

/* The attacker's own issuer uses the victim's kid. */
static enum token_result kid_of_another_issuer(void)
{
    struct gate attacker;
    gate_open(&attacker);
    struct issuer issuers[2] = {gate.issuer, attacker.issuer};
    issuers[1].iss = SLICE_LIT("https://attacker.test/");
    struct jwks *const keys[2] = {gate.keys, attacker.keys};
    attacker.trust = (struct token_trust){issuers, keys, 2};
    cr_expect_eq(gate_try(&attacker, "{}", "{\"iss\":\"https://attacker.test/\"}"), TOKEN_OK);
    enum token_result result = gate_try(&attacker, "{}", "{}");
    gate_close(&attacker);
    return result;
}

static enum token_result dates_as_texts(void)
{
    cr_expect_eq(gate_try(&gate, "{}", "{\"nbf\":\"1900000000\"}"), TOKEN_CLAIM);
    return gate_try(&gate, "{}", "{\"exp\":\"1\"}");
}

static enum token_result unknown_crit(void)
{
    cr_expect_eq(gate_try(&gate, "{\"crit\":[\"bork\"],\"bork\":true}", "{}"), TOKEN_HEADER);
    return gate_try(&gate, "{\"crit\":[\"cnf\"]}", "{}");
}

/* The key set names no algorithm, so the header seems free to. */
static enum token_result empty_secret_and_key_without_alg(void)
{
    gate_use(&gate, JWS_RS256); /* its JWK has no alg */
    return try_hmac("HS256", SLICE_LIT(""));
}

static enum token_result unsigned_with_an_empty_key(void)
{
    cr_expect_eq(try_signature(SLICE_LIT(""), "{}"), TOKEN_MALFORMED);
    return try_hmac("", SLICE_LIT(""));
}

static enum token_result array_for_a_payload(void)
{
    char *header = gate_header(&gate, "{}");
    enum token_result result = gate_try_text(&gate, slice_of(header), SLICE_LIT("[]"));
    free(header);
    return result;
}

static enum token_result alg_beside_the_protected_header(void)
{
    return gate_try_compact(
        &gate, SLICE_LIT("{\"payload\":\"e30\",\"protected\":\"e30\",\"header\":{\"alg\":\"none\"},"
                         "\"signature\":\"\"}"));
}

static enum token_result costly_encryption(void)
{
    struct dynbuf token;
    dynbuf_init(&token, MINT_MAX_BYTES);
    encode_base64url(&token, SLICE_LIT("{\"alg\":\"PBES2-HS512+A256KW\",\"enc\":\"A256GCM\","
                                       "\"p2c\":2147483647,\"p2s\":\"AA\"}"));
    dynbuf_add_text(&token, ".AA.AA.AA.AA");
    enum token_result result = gate_try_compact(&gate, dynbuf_get(&token));
    dynbuf_done(&token);
    return result;
}

static const struct {
    const char *advisory;
    enum token_result (*attack)(void);
    enum token_result expected;
} ATTACKS[] = {
    {"CVE-2015-9235", rsa_pem_as_secret, TOKEN_ALG},
    {"CVE-2016-10555", header_names_another_alg, TOKEN_KEY},
    {"CVE-2018-0114", key_in_the_header, TOKEN_HEADER},
    {"CVE-2020-26160", empty_audience_list, TOKEN_AUDIENCE},
    {"CVE-2022-21449", psychic_signature, TOKEN_SIGNATURE},
    {"CVE-2022-29217", ssh_key_as_secret, TOKEN_ALG},
    {"CVE-2022-23540", none_without_a_key, TOKEN_ALG},
    {"CVE-2022-23541", key_of_another_kind, TOKEN_KEY},
    {"CVE-2022-39227", polyglot, TOKEN_ENCODING},
    {"CVE-2023-48223", rsa_pkcs1_pem_as_secret, TOKEN_ALG},
    {"CVE-2023-48238", header_names_another_alg, TOKEN_KEY},
    {"CVE-2024-25189", hmac_is_never_compared, TOKEN_ALG},
    {"CVE-2024-54150", ec_pem_as_secret, TOKEN_ALG},
    {"CVE-2024-53861", part_of_the_issuer, TOKEN_ISSUER},
    {"CVE-2025-30204", many_dots, TOKEN_MALFORMED},
    {"CVE-2025-27144", many_dots, TOKEN_MALFORMED},
    {"CVE-2025-59936", kid_of_another_issuer, TOKEN_SIGNATURE},
    {"CVE-2026-49998", kid_of_another_issuer, TOKEN_SIGNATURE},
    {"CVE-2026-25537", dates_as_texts, TOKEN_CLAIM},
    {"CVE-2025-59420", unknown_crit, TOKEN_HEADER},
    {"CVE-2026-32597", unknown_crit, TOKEN_HEADER},
    {"CVE-2026-35042", unknown_crit, TOKEN_HEADER},
    {"CVE-2026-44699", empty_secret_and_key_without_alg, TOKEN_ALG},
    {"CVE-2026-107720", unsigned_with_an_empty_key, TOKEN_ALG},
    {"CVE-2026-107723", array_for_a_payload, TOKEN_JSON},
    {"GHSA-jc38-x7x8-2xc8", alg_beside_the_protected_header, TOKEN_MALFORMED},
    {"CVE-2023-50967", costly_encryption, TOKEN_MALFORMED},
};

Test(known_attacks, each_is_refused_for_what_it_is)
{
    for (size_t i = 0; i < sizeof(ATTACKS) / sizeof(ATTACKS[0]); i++) {
        gate_close(&gate);
        gate_open(&gate); /* proves that a good token passes */
        enum token_result result = ATTACKS[i].attack();
        cr_expect_eq(result, ATTACKS[i].expected, "%s: %s", ATTACKS[i].advisory,
                     token_result_name(result));
    }
}
