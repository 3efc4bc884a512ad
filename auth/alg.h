/* SPDX-License-Identifier: Apache-2.0 */
/* alg: what each JWS algorithm is made of (RFC 7518 §3.1, RFC 8037 §3.1). Private to auth/. */
#ifndef AUTH_ALG_H
#define AUTH_ALG_H

#include "auth/issuer.h"

enum jws_family { JWS_FAMILY_PKCS1, JWS_FAMILY_PSS, JWS_FAMILY_ECDSA, JWS_FAMILY_EDDSA };

struct jws_alg_info {
    const char *name;
    enum jws_family family;
    const char *digest;      /* NULL: the algorithm hashes by itself */
    const char *crv;         /* as a JWK names the curve; NULL for RSA */
    const char *group;       /* as OpenSSL names it; NULL unless ECDSA */
    size_t coordinate_bytes; /* of x, y, r, s; 0 unless ECDSA */
};

const struct jws_alg_info *jws_alg_info(enum jws_alg alg);

#endif
