/* SPDX-License-Identifier: Apache-2.0 */
/* From JWK members to an EVP_PKEY, once, when the set is loaded. Moduli are bounded because a
 * verification costs their square; the other checks refuse keys whose signatures prove nothing. */
#include "auth/jwk.h"
#include "auth/strict_json.h"
#include "service/base/encode.h"

#include <openssl/core_names.h>
#include <openssl/param_build.h>

enum {
    RSA_MIN_BITS = 2048,
    RSA_MAX_BITS = 8192,
    RSA_MIN_EXPONENT = 65537,
    RSA_MAX_EXPONENT_BITS = 32,
    ED25519_BYTES = 32,
    MAX_COORDINATE_BYTES = 66,
    POINT_UNCOMPRESSED = 4,
};

/* The bytes of a base64url member; nothing in `out` where it is missing or ill-formed. */
static void add_member(struct dynbuf *out, const json_t *member, const char *name)
{
    struct slice text = strict_json_text(json_object_get(member, name));
    if (text.n) {
        (void)decode_base64url(out, text);
    }
}

static BIGNUM *member_number(const json_t *member, const char *name)
{
    struct dynbuf bytes;
    dynbuf_init(&bytes, RSA_MAX_BITS / 8 + 1); /* some encoders put a sign byte in front */
    add_member(&bytes, member, name);
    BIGNUM *number = NULL;
    if (bytes.n && !bytes.failed) {
        number = BN_bin2bn((const unsigned char *)bytes.p, (int)bytes.n, NULL);
    }
    dynbuf_done(&bytes);
    return number;
}

/* Whether value is a power of 65537 modulo the small prime. */
static bool is_power_modulo(BN_ULONG value, BN_ULONG prime)
{
    BN_ULONG power = 1;
    for (BN_ULONG i = 0; i < prime; i++) {
        if (power == value) {
            return true;
        }
        power = power * (65537 % prime) % prime;
    }
    return false;
}

/* The fingerprint of keys that can be factored because of how one maker's chips chose their primes
 * (CVE-2017-15361): such a modulus is a power of 65537 modulo every small prime. */
static bool has_weak_primes(const BIGNUM *n)
{
    static const unsigned char PRIMES[] = {
        3,  5,  7,  11, 13, 17,  19,  23,  29,  31,  37,  41,  43,  47,  53,  59,  61,  67,  71,
        73, 79, 83, 89, 97, 101, 103, 107, 109, 113, 127, 131, 137, 139, 149, 151, 157, 163, 167};
    for (size_t i = 0; i < sizeof(PRIMES); i++) {
        if (!is_power_modulo(BN_mod_word(n, PRIMES[i]), PRIMES[i])) {
            return false;
        }
    }
    return true;
}

static bool rsa_is_good(const BIGNUM *n, const BIGNUM *e)
{
    return n && e && BN_num_bits(n) >= RSA_MIN_BITS && BN_num_bits(n) <= RSA_MAX_BITS &&
           BN_is_odd(n) && BN_is_odd(e) && BN_num_bits(e) <= RSA_MAX_EXPONENT_BITS &&
           BN_get_word(e) >= RSA_MIN_EXPONENT && !has_weak_primes(n);
}

static EVP_PKEY *key_from(const char *type, OSSL_PARAM_BLD *build)
{
    OSSL_PARAM *params = OSSL_PARAM_BLD_to_param(build);
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    EVP_PKEY *key = NULL;
    if (params && ctx && EVP_PKEY_fromdata_init(ctx) == 1) {
        (void)EVP_PKEY_fromdata(ctx, &key, EVP_PKEY_PUBLIC_KEY,
                                params); /* leaves NULL on failure */
    }
    EVP_PKEY_CTX_free(ctx);
    OSSL_PARAM_free(params);
    return key;
}

static EVP_PKEY *rsa_key(const json_t *member)
{
    BIGNUM *n = member_number(member, "n");
    BIGNUM *e = member_number(member, "e");
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (build && rsa_is_good(n, e) && OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_N, n) &&
        OSSL_PARAM_BLD_push_BN(build, OSSL_PKEY_PARAM_RSA_E, e)) {
        key = key_from("RSA", build);
    }
    OSSL_PARAM_BLD_free(build); /* it borrowed n and e until now */
    BN_free(n);
    BN_free(e);
    return key;
}

/* Both coordinates in full length (RFC 7518 §6.2.1.2), as an uncompressed point. */
static bool read_point(const json_t *member, size_t coordinate_bytes, struct dynbuf *ret_point)
{
    dynbuf_add_byte(ret_point, POINT_UNCOMPRESSED);
    add_member(ret_point, member, "x");
    bool good = ret_point->n == 1 + coordinate_bytes;
    add_member(ret_point, member, "y");
    return good && ret_point->n == 1 + 2 * coordinate_bytes && !ret_point->failed;
}

static bool is_on_curve(EVP_PKEY *key)
{
    EVP_PKEY_CTX *ctx = EVP_PKEY_CTX_new_from_pkey(NULL, key, NULL);
    bool good = ctx && EVP_PKEY_public_check(ctx) == 1;
    EVP_PKEY_CTX_free(ctx);
    return good;
}

static EVP_PKEY *ec_key(const json_t *member, const struct jws_alg_info *info)
{
    struct dynbuf point;
    dynbuf_init(&point, 1 + 2 * MAX_COORDINATE_BYTES);
    OSSL_PARAM_BLD *build = OSSL_PARAM_BLD_new();
    EVP_PKEY *key = NULL;
    if (build && read_point(member, info->coordinate_bytes, &point) &&
        OSSL_PARAM_BLD_push_utf8_string(build, OSSL_PKEY_PARAM_GROUP_NAME, info->group, 0) &&
        OSSL_PARAM_BLD_push_octet_string(build, OSSL_PKEY_PARAM_PUB_KEY, point.p, point.n)) {
        key = key_from("EC", build);
    }
    if (key && !is_on_curve(key)) {
        EVP_PKEY_free(key);
        key = NULL;
    }
    OSSL_PARAM_BLD_free(build);
    dynbuf_done(&point);
    return key;
}

static EVP_PKEY *ed25519_key(const json_t *member)
{
    struct dynbuf x;
    dynbuf_init(&x, ED25519_BYTES + 1);
    add_member(&x, member, "x");
    EVP_PKEY *key = NULL;
    if (x.n == ED25519_BYTES && !x.failed) {
        key =
            EVP_PKEY_new_raw_public_key_ex(NULL, "ED25519", NULL, (const unsigned char *)x.p, x.n);
    }
    dynbuf_done(&x);
    return key;
}

EVP_PKEY *jwk_material(const json_t *member, enum jws_alg alg)
{
    const struct jws_alg_info *info = jws_alg_info(alg);
    switch (info->family) {
    case JWS_FAMILY_PKCS1:
    case JWS_FAMILY_PSS: return rsa_key(member);
    case JWS_FAMILY_ECDSA: return ec_key(member, info);
    case JWS_FAMILY_EDDSA: return ed25519_key(member);
    }
    return NULL;
}
