/* SPDX-License-Identifier: Apache-2.0 */
/* The helper and the proof that it mints what OpenSSL itself verifies. It shares no line with the
 * code under test but base64url. */
#include "tests/unit/auth/mint.h"

#include "service/base/encode.h"

#include <criterion/criterion.h>
#include <openssl/core_names.h>
#include <openssl/ecdsa.h>
#include <openssl/rsa.h>

static bool is_pss(enum jws_alg alg)
{
    return alg == JWS_PS256 || alg == JWS_PS384 || alg == JWS_PS512;
}

static const char *digest_name(enum jws_alg alg)
{
    static const char *const NAMES[] = {"SHA256", "SHA384", "SHA512"};
    return alg == JWS_EDDSA ? NULL : NAMES[(int)alg % 3];
}

EVP_PKEY *mint_rsa(unsigned bits, unsigned long e)
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    BIGNUM *exponent = BN_new();
    EVP_PKEY *pkey = NULL;
    cr_assert(BN_set_word(exponent, e) == 1 && EVP_PKEY_keygen_init(ctx) == 1 &&
              EVP_PKEY_CTX_set_rsa_keygen_bits(ctx, (int)bits) == 1 &&
              EVP_PKEY_CTX_set1_rsa_keygen_pubexp(ctx, exponent) == 1);
    cr_assert_eq(EVP_PKEY_generate(ctx, &pkey), 1);
    BN_free(exponent);
    EVP_PKEY_CTX_free(ctx);
    return pkey;
}

EVP_PKEY *mint_ec(const char *group)
{
    EVP_PKEY *pkey = EVP_EC_gen(group);
    cr_assert_not_null(pkey);
    return pkey;
}

EVP_PKEY *mint_pkey(enum jws_alg alg)
{
    static const char *const GROUPS[] = {"P-256", "P-384", "P-521"};
    if (alg == JWS_EDDSA) {
        return EVP_PKEY_Q_keygen(NULL, NULL, "ED25519");
    }
    return alg < JWS_ES256 ? mint_rsa(2048, 65537) : mint_ec(GROUPS[alg - JWS_ES256]);
}

static void add_member(struct dynbuf *out, const char *name, const unsigned char *bytes, size_t n)
{
    dynbuf_add_text(out, "\"");
    dynbuf_add_text(out, name);
    dynbuf_add_text(out, "\":\"");
    encode_base64url(out, (struct slice){(const char *)bytes, n});
    dynbuf_add_text(out, "\",");
}

static void add_number(struct dynbuf *out, EVP_PKEY *pkey, const char *param, const char *name,
                       size_t width)
{
    BIGNUM *number = NULL;
    unsigned char bytes[2048];
    cr_assert_eq(EVP_PKEY_get_bn_param(pkey, param, &number), 1);
    size_t n = width ? width : (size_t)BN_num_bytes(number);
    cr_assert_eq(BN_bn2binpad(number, bytes, (int)n), (int)n);
    add_member(out, name, bytes, n);
    BN_free(number);
}

static void add_ec_members(struct dynbuf *out, EVP_PKEY *pkey)
{
    char group[64] = "";
    const char *crv = "secp256k1";
    size_t width = ((size_t)EVP_PKEY_get_bits(pkey) + 7) / 8;
    cr_assert_eq(EVP_PKEY_get_group_name(pkey, group, sizeof(group), NULL), 1);
    static const char *const CURVES[][2] = {
        {"prime256v1", "P-256"}, {"secp384r1", "P-384"}, {"secp521r1", "P-521"}};
    for (size_t i = 0; i < 3; i++) {
        crv = strcmp(group, CURVES[i][0]) == 0 ? CURVES[i][1] : crv;
    }
    dynbuf_add_text(out, "\"kty\":\"EC\",\"crv\":\"");
    dynbuf_add_text(out, crv);
    dynbuf_add_text(out, "\",");
    add_number(out, pkey, OSSL_PKEY_PARAM_EC_PUB_X, "x", width);
    add_number(out, pkey, OSSL_PKEY_PARAM_EC_PUB_Y, "y", width);
}

void mint_jwk(struct dynbuf *out, EVP_PKEY *pkey, const char *more)
{
    unsigned char raw[32];
    size_t n = sizeof(raw);
    dynbuf_add_text(out, "{");
    dynbuf_add_text(out, more);
    if (EVP_PKEY_is_a(pkey, "RSA")) {
        dynbuf_add_text(out, "\"kty\":\"RSA\",");
        add_number(out, pkey, OSSL_PKEY_PARAM_RSA_N, "n", 0);
        add_number(out, pkey, OSSL_PKEY_PARAM_RSA_E, "e", 0);
    } else if (EVP_PKEY_is_a(pkey, "EC")) {
        add_ec_members(out, pkey);
    } else {
        dynbuf_add_text(out, "\"kty\":\"OKP\",\"crv\":\"Ed25519\",");
        cr_assert_eq(EVP_PKEY_get_raw_public_key(pkey, raw, &n), 1);
        add_member(out, "x", raw, n);
    }
    dynbuf_cut(out, out->n - 1);
    dynbuf_add_text(out, "}");
}

static void add_raw_ecdsa(struct dynbuf *out, EVP_PKEY *pkey, const unsigned char *der, size_t n)
{
    unsigned char both[132];
    size_t width = ((size_t)EVP_PKEY_get_bits(pkey) + 7) / 8;
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)n);
    cr_assert_not_null(pair);
    BN_bn2binpad(ECDSA_SIG_get0_r(pair), both, (int)width);
    BN_bn2binpad(ECDSA_SIG_get0_s(pair), both + width, (int)width);
    dynbuf_add(out, (struct slice){(const char *)both, 2 * width});
    ECDSA_SIG_free(pair);
}

void mint_signature(struct dynbuf *out, EVP_PKEY *pkey, enum jws_alg alg, struct slice input)
{
    unsigned char signature[2048];
    size_t n = sizeof(signature);
    EVP_PKEY_CTX *pctx = NULL;
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    cr_assert_eq(EVP_DigestSignInit_ex(ctx, &pctx, digest_name(alg), NULL, NULL, pkey, NULL), 1);
    if (is_pss(alg)) {
        cr_assert(EVP_PKEY_CTX_set_rsa_padding(pctx, RSA_PKCS1_PSS_PADDING) == 1 &&
                  EVP_PKEY_CTX_set_rsa_pss_saltlen(pctx, RSA_PSS_SALTLEN_DIGEST) == 1);
    }
    cr_assert_eq(EVP_DigestSign(ctx, signature, &n, (const unsigned char *)input.p, input.n), 1);
    EVP_MD_CTX_free(ctx);
    if (EVP_PKEY_is_a(pkey, "EC")) {
        add_raw_ecdsa(out, pkey, signature, n);
    } else {
        dynbuf_add(out, (struct slice){(const char *)signature, n});
    }
}

void mint_compact_with(struct dynbuf *out, struct slice header, struct slice payload,
                       struct slice signature)
{
    encode_base64url(out, header);
    dynbuf_add_byte(out, '.');
    encode_base64url(out, payload);
    dynbuf_add_byte(out, '.');
    encode_base64url(out, signature);
}

void mint_compact(struct dynbuf *out, EVP_PKEY *pkey, enum jws_alg alg, struct slice header,
                  struct slice payload)
{
    size_t start = out->n;
    struct dynbuf signature;
    dynbuf_init(&signature, MINT_MAX_BYTES);
    encode_base64url(out, header);
    dynbuf_add_byte(out, '.');
    encode_base64url(out, payload);
    mint_signature(&signature, pkey, alg, slice_skip(dynbuf_get(out), start));
    dynbuf_add_byte(out, '.');
    encode_base64url(out, dynbuf_get(&signature));
    dynbuf_done(&signature);
}

Test(mint, signs_what_openssl_verifies)
{
    EVP_PKEY *pkey = mint_pkey(JWS_EDDSA);
    struct slice input = SLICE_LIT("a.b");
    struct dynbuf signature;
    dynbuf_init(&signature, MINT_MAX_BYTES);
    mint_signature(&signature, pkey, JWS_EDDSA, input);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    cr_assert_eq(EVP_DigestVerifyInit_ex(ctx, NULL, NULL, NULL, NULL, pkey, NULL), 1);
    cr_expect_eq(EVP_DigestVerify(ctx, (const unsigned char *)signature.p, signature.n,
                                  (const unsigned char *)input.p, input.n),
                 1);
    EVP_MD_CTX_free(ctx);
    EVP_PKEY_free(pkey);
    dynbuf_done(&signature);
}
