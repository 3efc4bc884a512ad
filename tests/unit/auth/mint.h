/* SPDX-License-Identifier: Apache-2.0 */
/* mint: fresh keys and tokens signed with them, good and bad, for the tests of this folder. */
#ifndef TESTS_MINT_H
#define TESTS_MINT_H

#include "auth/issuer.h"
#include "service/base/dynbuf.h"

#include <openssl/evp.h>

enum { MINT_MAX_BYTES = 1 << 20 };

/* A key pair that can sign with alg; EVP_PKEY_free. */
EVP_PKEY *mint_pkey(enum jws_alg alg);
EVP_PKEY *mint_rsa(unsigned bits, unsigned long e);
EVP_PKEY *mint_ec(const char *group);

/* Its public half as a JWK. more: further members, each with a comma behind it, or "". */
void mint_jwk(struct dynbuf *out, EVP_PKEY *pkey, const char *more);

/* A signature as JWS writes it: r and s side by side, not DER. */
void mint_signature(struct dynbuf *out, EVP_PKEY *pkey, enum jws_alg alg, struct slice input);

/* header "." payload "." signature; header and payload are any bytes. */
void mint_compact(struct dynbuf *out, EVP_PKEY *pkey, enum jws_alg alg, struct slice header,
                  struct slice payload);

/* The same with any bytes for a signature. */
void mint_compact_with(struct dynbuf *out, struct slice header, struct slice payload,
                       struct slice signature);

#endif
