/* SPDX-License-Identifier: Apache-2.0 */
/* claims_read: from the payload of a verified token to struct claims. Private to auth/. */
#ifndef AUTH_CLAIMS_READ_H
#define AUTH_CLAIMS_READ_H

#include "auth/token.h"

#include <jansson.h>

enum { CLAIMS_MAX_ID_BYTES = 256 }; /* sub, client_id, jti */

/* TOKEN_OK, TOKEN_AUDIENCE, TOKEN_EXPIRED, TOKEN_NOT_YET, TOKEN_LIFETIME or TOKEN_CLAIM; unless
 * TOKEN_OK *ret_claims is left alone. */
enum token_result claims_read(const json_t *payload, const struct issuer *issuer,
                              int64_t now_unix_ms, struct arena *arena, struct claims *ret_claims);

/* What each issuer maps by its own rules: scopes, groups and tenant. TOKEN_OK or TOKEN_CLAIM. */
enum token_result claims_map(const json_t *payload, const struct issuer *issuer,
                             struct arena *arena, struct claims *claims);

#endif
