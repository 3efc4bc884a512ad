/* SPDX-License-Identifier: Apache-2.0 */
/* The files of bare signatures: message and signature go to jws_verify under the one algorithm that
 * the group's curve or digest comes to. The key is the group's DER, because the files need keys
 * that a key set may not hold (RSA with e = 3); where it stands as a JWK too, the key reader must
 * take exactly the good ones and judge alike. */
#include "tests/unit/auth/wycheproof/vectors.h"

#include <openssl/err.h>
#include <openssl/x509.h>

#include <stdio.h>

enum { MAX_BYTES = 1 << 20 };

static const struct {
    const char *type, *curve, *sha;
    enum jws_alg alg;
} GROUPS[] = {
    {"EcdsaP1363Verify", "secp256r1", "SHA-256", JWS_ES256},
    {"EcdsaP1363Verify", "secp384r1", "SHA-384", JWS_ES384},
    {"EcdsaP1363Verify", "secp521r1", "SHA-512", JWS_ES512},
    {"EddsaVerify", "edwards25519", "", JWS_EDDSA},
    {"RsassaPkcs1Verify", "", "SHA-256", JWS_RS256},
    {"RsassaPkcs1Verify", "", "SHA-384", JWS_RS384},
    {"RsassaPkcs1Verify", "", "SHA-512", JWS_RS512},
    {"RsassaPssVerify", "", "SHA-256", JWS_PS256},
    {"RsassaPssVerify", "", "SHA-384", JWS_PS384},
    {"RsassaPssVerify", "", "SHA-512", JWS_PS512},
};

static bool group_alg(const json_t *group, enum jws_alg *ret_alg)
{
    const json_t *key = json_object_get(group, "publicKey");
    const char *mgf_sha = text_of(group, "mgfSha");
    for (size_t i = 0; i < sizeof(GROUPS) / sizeof(GROUPS[0]); i++) {
        if (strcmp(text_of(group, "type"), GROUPS[i].type) == 0 &&
            strcmp(text_of(key, "curve"), GROUPS[i].curve) == 0 &&
            strcmp(text_of(group, "sha"), GROUPS[i].sha) == 0 &&
            (!mgf_sha[0] || strcmp(mgf_sha, GROUPS[i].sha) == 0)) {
            *ret_alg = GROUPS[i].alg;
            return true;
        }
    }
    return false;
}

static int hex_value(char c)
{
    const char *digits = "0123456789abcdef", *at = c ? strchr(digits, c) : NULL;
    return at ? (int)(at - digits) : -1;
}

static bool add_hex(struct dynbuf *out, const char *text)
{
    for (; text[0]; text += 2) {
        if (hex_value(text[0]) < 0 || hex_value(text[1]) < 0) {
            return false;
        }
        dynbuf_add_byte(out, (char)(hex_value(text[0]) * 16 + hex_value(text[1])));
    }
    return true;
}

static EVP_PKEY *der_key(const json_t *group)
{
    struct dynbuf der;
    dynbuf_init(&der, MAX_BYTES);
    EVP_PKEY *key = NULL;
    if (add_hex(&der, text_of(group, "publicKeyDer")) && der.n) {
        const unsigned char *at = (const unsigned char *)der.p;
        key = d2i_PUBKEY(NULL, &at, (long)der.n);
    }
    ERR_clear_error();
    dynbuf_done(&der);
    return key;
}

/* RFC 7518 §3.5 leaves no choice of salt; other lengths stand in files of their own. */
static int salt_bytes(enum jws_alg alg)
{
    return alg == JWS_PS256 ? 32 : alg == JWS_PS384 ? 48 : alg == JWS_PS512 ? 64 : 0;
}

static enum adaptation adapt(const json_t *group, enum jws_alg alg)
{
    const json_t *salt = json_object_get(group, "sLen");
    return salt && json_integer_value(salt) != salt_bytes(alg) ? ADAPTATION_SALT : ADAPTATION_NONE;
}

/* In a file of another salt, the one spoilt vector whose salt became the right one for us. */
static bool has_our_salt(const json_t *test, enum jws_alg alg)
{
    char comment[64];
    (void)snprintf(comment, sizeof(comment), "s_len changed to %d", salt_bytes(alg));
    return strcmp(text_of(test, "comment"), comment) == 0;
}

struct group_keys {
    struct jwk der, jwk;
    bool has_jwk;
};

static void judge_test(struct judge *j, const json_t *test, const struct group_keys *keys,
                       enum adaptation a)
{
    struct dynbuf message, signature;
    dynbuf_init(&message, MAX_BYTES);
    dynbuf_init(&signature, MAX_BYTES);
    bool good =
        add_hex(&message, text_of(test, "msg")) && add_hex(&signature, text_of(test, "sig"));
    struct jws jws = {.alg = keys->der.alg,
                      .signing_input = dynbuf_get(&message),
                      .signature = dynbuf_get(&signature)};
    bool accepted = good && keys->der.pkey && jws_verify(&jws, &keys->der);
    if (!good) {
        judge_fail(j, test, "its bytes are not hexadecimal");
    } else if (keys->has_jwk && jws_verify(&jws, &keys->jwk) != accepted) {
        judge_fail(j, test, "the key as JWK judges otherwise than the key as DER");
    } else if (a == ADAPTATION_SALT && has_our_salt(test, keys->der.alg)) {
        j->either++;
    } else {
        judge_vector(j, test, accepted, a);
    }
    dynbuf_done(&message);
    dynbuf_done(&signature);
}

/* RSA exponents below 65537 are the one kind of key here that a key set must not hold. */
static bool may_load(const json_t *group)
{
    const char *e = text_of(json_object_get(group, "publicKey"), "publicExponent");
    return !e[0] || strcmp(e, "010001") == 0;
}

static void load_jwk(struct judge *j, const json_t *group, enum jws_alg alg,
                     struct group_keys *keys)
{
    const json_t *jwk = json_object_get(group, "publicKeyJwk");
    jwk = jwk ? jwk : json_object_get(group, "keyJwk");
    if (!jwk) {
        return;
    }
    keys->has_jwk = jwk_read(jwk, 1U << alg, &keys->jwk);
    if (keys->has_jwk != may_load(group)) {
        j->failed++;
        printf("FAILED: %s: a key was %s\n", j->file, keys->has_jwk ? "loaded" : "dropped");
    }
}

bool judge_raw(struct judge *j, const json_t *group)
{
    const json_t *tests = json_object_get(group, "tests");
    enum jws_alg alg;
    if (!group_alg(group, &alg)) {
        return false;
    }
    struct group_keys keys = {.der = {.alg = alg}};
    EVP_PKEY *der = der_key(group);
    if (der && !jwk_bind(alg, der, &keys.der)) {
        keys.der = (struct jwk){.alg = alg};
    }
    load_jwk(j, group, alg, &keys);
    for (size_t i = 0; i < json_array_size(tests); i++) {
        judge_test(j, json_array_get(tests, i), &keys, adapt(group, alg));
    }
    jwk_done(&keys.der);
    jwk_done(&keys.jwk);
    return true;
}
