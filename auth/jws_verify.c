/* SPDX-License-Identifier: Apache-2.0 */
/* The signature check. Lengths are compared before OpenSSL sees the bytes, so that one message has
 * one encoding of a signature, and only the result 1 counts: 0 and negative results are refusals.
 */
#include "auth/jws.h"

#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/rsa.h>

enum { ED25519_SIGNATURE_BYTES = 64 };

/* RFC 7518 §3.5: the salt is as long as the digest, MGF1 uses the same digest. */
static bool set_pss(EVP_PKEY_CTX *ctx)
{
    return EVP_PKEY_CTX_set_rsa_padding(ctx, RSA_PKCS1_PSS_PADDING) == 1 &&
           EVP_PKEY_CTX_set_rsa_pss_saltlen(ctx, RSA_PSS_SALTLEN_DIGEST) == 1;
}

/* Looking the algorithms up anew would cost a fifth of an RSA check. */
bool jwk_bind(enum jws_alg alg, EVP_PKEY *pkey, struct jwk *ret_key)
{
    const struct jws_alg_info *info = jws_alg_info(alg);
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    EVP_PKEY_CTX *pkey_ctx = NULL; /* belongs to ctx */
    bool good =
        ctx && EVP_DigestVerifyInit_ex(ctx, &pkey_ctx, info->digest, NULL, NULL, pkey, NULL) == 1;
    good = good && (info->family != JWS_FAMILY_PSS || set_pss(pkey_ctx));
    if (!good) {
        EVP_MD_CTX_free(ctx);
        EVP_PKEY_free(pkey);
        return false;
    }
    *ret_key = (struct jwk){.alg = alg, .pkey = pkey, .verifier = ctx};
    return true;
}

static bool verify_bytes(const struct jwk *key, struct slice input, struct slice signature)
{
    EVP_MD_CTX *ctx = EVP_MD_CTX_new();
    bool good = ctx && EVP_MD_CTX_copy_ex(ctx, key->verifier) == 1;
    good = good && EVP_DigestVerify(ctx, (const unsigned char *)signature.p, signature.n,
                                    (const unsigned char *)input.p, input.n) == 1;
    EVP_MD_CTX_free(ctx);
    return good;
}

/* r and s of n bytes each (RFC 7518 §3.4) as the DER that OpenSSL reads; its length, or 0. */
static int to_der(struct slice signature, size_t n, unsigned char **ret_der)
{
    const unsigned char *bytes = (const unsigned char *)signature.p;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(bytes, (int)n, NULL);
    BIGNUM *s = BN_bin2bn(bytes + n, (int)n, NULL);
    int der_bytes = 0;
    if (pair && r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        r = s = NULL; /* the pair owns them now */
        der_bytes = i2d_ECDSA_SIG(pair, ret_der);
    }
    BN_free(r);
    BN_free(s);
    ECDSA_SIG_free(pair);
    return der_bytes > 0 ? der_bytes : 0;
}

static bool verify_ecdsa(const struct jwk *key, struct slice input, struct slice signature)
{
    size_t n = jws_alg_info(key->alg)->coordinate_bytes;
    if (signature.n != 2 * n) {
        return false;
    }
    unsigned char *der = NULL;
    int der_bytes = to_der(signature, n, &der);
    bool good =
        der_bytes && verify_bytes(key, input, (struct slice){(char *)der, (size_t)der_bytes});
    OPENSSL_free(der);
    return good;
}

static bool verify(const struct jws *jws, const struct jwk *key)
{
    switch (jws_alg_info(key->alg)->family) {
    case JWS_FAMILY_PKCS1:
    case JWS_FAMILY_PSS:
        return jws->signature.n == (size_t)EVP_PKEY_get_size(key->pkey) &&
               verify_bytes(key, jws->signing_input, jws->signature);
    case JWS_FAMILY_ECDSA: return verify_ecdsa(key, jws->signing_input, jws->signature);
    case JWS_FAMILY_EDDSA:
        return jws->signature.n == ED25519_SIGNATURE_BYTES &&
               verify_bytes(key, jws->signing_input, jws->signature);
    }
    return false;
}

bool jws_verify(const struct jws *jws, const struct jwk *key)
{
    bool good = jws->alg == key->alg && verify(jws, key);
    ERR_clear_error(); /* a dirty queue can fail somebody else's TLS connection on this thread */
    return good;
}
