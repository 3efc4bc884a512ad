/* SPDX-License-Identifier: Apache-2.0 */
/* jws: compact JSON Web Signatures (RFC 7515 §7.1) as an access token may use them. Private to
 * auth/.
 *
 * Knows nothing of issuers and claims, so published signature vectors can drive it. */
#ifndef AUTH_JWS_H
#define AUTH_JWS_H

#include "auth/jwk.h"
#include "auth/token.h"

#include <jansson.h>

struct jws {
    enum jws_alg alg;
    struct slice kid, typ;           /* SLICE_NONE where the header has none */
    struct slice signing_input;      /* header and payload as they came, borrowed from the text */
    struct slice payload, signature; /* decoded */
};

/* Strict parts and header; the signature is not checked. Slices are in `arena` unless said
 * otherwise. TOKEN_OK, TOKEN_MALFORMED, TOKEN_ENCODING, TOKEN_JSON, TOKEN_ALG, TOKEN_HEADER,
 * TOKEN_KID or TOKEN_TYP. */
enum token_result jws_parse(struct slice compact, struct arena *arena, struct jws *ret_jws);

/* Whether key, by its own algorithm, signed it. Leaves this thread's OpenSSL error queue empty. */
bool jws_verify(const struct jws *jws, const struct jwk *key);

#endif
