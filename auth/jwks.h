/* SPDX-License-Identifier: Apache-2.0 */
/* jwks: an issuer's public keys (RFC 7517), parsed once and immutable from then on.
 *
 * Thread: any, for reading. Unusable keys are dropped and counted: kty oct,
 * private members, use other than sig, key_ops without verify, unknown crv, alg that does not fit
 * the key, RSA outside 2048..8192 bits or even e or e < 65537, a point off the curve, a kid twice
 * (both). */
#ifndef AUTH_JWKS_H
#define AUTH_JWKS_H

#include "auth/issuer.h"
#include "service/base/err.h"

enum { JWKS_MAX_BYTES = 256 * 1024, JWKS_MAX_KEYS = 64 };

struct jwks; /* opaque, reference-counted */
struct jwk;  /* opaque: a kid, one algorithm, an EVP_PKEY */

/* json is a JWK set, {"keys":[…]}. allowed: bit set of algorithms; it picks the algorithm of a key
 * that names none. NULL with a reason where it does not parse or no usable key is left. */
struct jwks *jwks_parse(struct slice json, uint32_t allowed, struct err_detail *detail);
struct jwks *jwks_ref(struct jwks *set);
void jwks_unref(struct jwks *set);

size_t jwks_count(const struct jwks *set);
size_t jwks_dropped(const struct jwks *set);

/* The key of that kid and algorithm. kid SLICE_NONE: the only key of that algorithm, else NULL. */
const struct jwk *jwks_find(const struct jwks *set, struct slice kid, enum jws_alg alg);

#endif
