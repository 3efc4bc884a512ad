/* SPDX-License-Identifier: Apache-2.0 */
/* A key is bound to one algorithm when it is loaded, and a token's header can only agree with it:
 * that leaves algorithm confusion (RFC 8725 §3.1) no representation. */
#include "auth/jwk.h"

#include "auth/strict_json.h"
#include "service/base/mem.h"

#include <openssl/err.h>
#include <stdlib.h>

/* Private or symmetric material (RFC 7518 §6.2.2, §6.3.2, §6.4.1). Where one of these is published,
 * the key is no secret any more. */
static const char *const PRIVATE_MEMBERS[] = {"d", "p", "q", "dp", "dq", "qi", "oth", "k"};

enum { N_PRIVATE_MEMBERS = sizeof(PRIVATE_MEMBERS) / sizeof(PRIVATE_MEMBERS[0]) };

bool jwk_kid_is_good(struct slice kid)
{
    if (!kid.p || kid.n == 0 || kid.n > JWK_MAX_KID_BYTES) {
        return false;
    }
    for (size_t i = 0; i < kid.n; i++) {
        unsigned char c = (unsigned char)kid.p[i];
        bool dots = c == '.' && i + 1 < kid.n && kid.p[i + 1] == '.';
        if (c < 0x20 || c == 0x7F || c == '"' || c == '\'' || c == '\\' || dots) {
            return false;
        }
    }
    return true;
}

static bool has_private_member(const json_t *member)
{
    for (int i = 0; i < N_PRIVATE_MEMBERS; i++) {
        if (json_object_get(member, PRIVATE_MEMBERS[i])) {
            return true;
        }
    }
    return false;
}

static bool ops_say_verify(const json_t *ops)
{
    for (size_t i = 0; i < json_array_size(ops); i++) {
        if (slice_is(strict_json_text(json_array_get(ops, i)), "verify")) {
            return true;
        }
    }
    return false;
}

static bool is_meant_for_signatures(const json_t *member)
{
    const json_t *use = json_object_get(member, "use");
    const json_t *ops = json_object_get(member, "key_ops");
    return (!use || slice_is(strict_json_text(use), "sig")) && (!ops || ops_say_verify(ops));
}

/* Whether a key of that type and curve can do this algorithm at all. */
static bool alg_fits(const json_t *member, enum jws_alg alg)
{
    const struct jws_alg_info *info = jws_alg_info(alg);
    struct slice kty = strict_json_text(json_object_get(member, "kty"));
    struct slice crv = strict_json_text(json_object_get(member, "crv"));
    switch (info->family) {
    case JWS_FAMILY_PKCS1:
    case JWS_FAMILY_PSS: return slice_is(kty, "RSA");
    case JWS_FAMILY_ECDSA: return slice_is(kty, "EC") && slice_is(crv, info->crv);
    case JWS_FAMILY_EDDSA: return slice_is(kty, "OKP") && slice_is(crv, info->crv);
    }
    return false;
}

/* The algorithm the key names, or else the first allowed one that fits it. */
static bool choose_alg(const json_t *member, uint32_t allowed, enum jws_alg *ret_alg)
{
    const json_t *name = json_object_get(member, "alg");
    enum jws_alg named = JWS_ALG_COUNT;
    if (name && !jws_alg_parse(strict_json_text(name), &named)) {
        return false;
    }
    for (int i = 0; i < JWS_ALG_COUNT; i++) {
        enum jws_alg alg = (enum jws_alg)i;
        if ((allowed >> i & 1) && (!name || alg == named) && alg_fits(member, alg)) {
            *ret_alg = alg;
            return true;
        }
    }
    return false;
}

bool jwk_read(const json_t *member, uint32_t allowed, struct jwk *ret_key)
{
    const json_t *kid = json_object_get(member, "kid");
    struct slice kid_text = strict_json_text(kid);
    enum jws_alg alg;
    if (has_private_member(member) || !is_meant_for_signatures(member) ||
        (kid && !jwk_kid_is_good(kid_text)) || !choose_alg(member, allowed, &alg)) {
        return false;
    }
    EVP_PKEY *pkey = jwk_material(member, alg);
    bool good = pkey && jwk_bind(alg, pkey, ret_key);
    ERR_clear_error(); /* a dirty queue can fail somebody else's TLS connection on this thread */
    if (good) {
        ret_key->kid = mem_text(kid_text);
    }
    return good;
}

void jwk_done(struct jwk *key)
{
    free(key->kid);
    EVP_MD_CTX_free(key->verifier);
    EVP_PKEY_free(key->pkey);
    *key = (struct jwk){0};
}
