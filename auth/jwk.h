/* SPDX-License-Identifier: Apache-2.0 */
/* jwk: one usable public key (RFC 7517 §4, RFC 7518 §6, RFC 8037 §2). Private to auth/. */
#ifndef AUTH_JWK_H
#define AUTH_JWK_H

#include "auth/alg.h"

#include <jansson.h>
#include <openssl/evp.h>

enum { JWK_MAX_KID_BYTES = 128 };

struct jwk {
    char *kid;        /* NULL: it has none */
    enum jws_alg alg; /* the only one this key verifies */
    EVP_PKEY *pkey;
    EVP_MD_CTX *verifier; /* set up for the two above; each check starts from a copy of it */
};

/* Makes a key without kid of pkey, which it takes. False, with pkey released, where OpenSSL cannot
 * verify alg with it. */
bool jwk_bind(enum jws_alg alg, EVP_PKEY *pkey, struct jwk *ret_key);

/* False where the key is unusable. Release with jwk_done. */
bool jwk_read(const json_t *member, uint32_t allowed, struct jwk *ret_key);
void jwk_done(struct jwk *key);

/* What we accept as a key identifier, in a token and in a set: 1..JWK_MAX_KID_BYTES bytes without
 * control bytes, quotes, backslashes or "..". */
bool jwk_kid_is_good(struct slice kid);

/* The key material alone, checked. alg says which curve; any RSA algorithm does for RSA. NULL:
 * unusable. */
EVP_PKEY *jwk_material(const json_t *member, enum jws_alg alg);

#endif
