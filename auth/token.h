/* SPDX-License-Identifier: Apache-2.0 */
/* token: a bearer token's way from bytes to claims (RFC 7515, 7519, 9068).
 *
 * size -> segments -> strict base64url -> strict JSON -> header policy -> issuer -> key ->
 * signature -> claims. The key decides the algorithm. Thread: any; no I/O, no clock. Blocking:
 * never (one signature check, 20..70 us). */
#ifndef AUTH_TOKEN_H
#define AUTH_TOKEN_H

#include "auth/claims.h"
#include "auth/jwks.h"
#include "service/base/arena.h"

enum { TOKEN_MAX_BYTES = 8 * 1024 };

/* Why a token was refused: a bounded list for logs and metrics. The caller learns none of it. */
#define TOKEN_TABLE(X)                                                                             \
    X(TOKEN_OK, "ok")                                                                              \
    X(TOKEN_TOO_LARGE, "too_large")                                                                \
    X(TOKEN_MALFORMED, "malformed")                                                                \
    X(TOKEN_ENCODING, "encoding")                                                                  \
    X(TOKEN_JSON, "json")                                                                          \
    X(TOKEN_ALG, "alg")                                                                            \
    X(TOKEN_HEADER, "header")                                                                      \
    X(TOKEN_TYP, "typ")                                                                            \
    X(TOKEN_KID, "kid")                                                                            \
    X(TOKEN_ISSUER, "issuer")                                                                      \
    X(TOKEN_KEY, "unknown_key")                                                                    \
    X(TOKEN_SIGNATURE, "signature")                                                                \
    X(TOKEN_AUDIENCE, "audience")                                                                  \
    X(TOKEN_EXPIRED, "expired")                                                                    \
    X(TOKEN_NOT_YET, "not_yet_valid")                                                              \
    X(TOKEN_LIFETIME, "lifetime")                                                                  \
    X(TOKEN_CLAIM, "claim")                                                                        \
    X(TOKEN_REVOKED, "revoked")

enum token_result {
#define X(name, text) name,
    TOKEN_TABLE(X)
#undef X
        TOKEN_RESULT_COUNT
};

const char *token_result_name(enum token_result result);

/* The issuers a token may come from and the keys of each. */
struct token_trust {
    const struct issuer *issuers;
    struct jwks *const *keys; /* keys[i] belongs to issuers[i]; NULL: none loaded, so unknown_key */
    size_t n;
};

/* token is the compact serialisation without "Bearer ". On TOKEN_OK *ret_claims is filled, its
 * slices in `arena`; otherwise it is left alone. now_unix_ms: wall clock. */
enum token_result token_verify(const struct token_trust *trust, struct slice token,
                               int64_t now_unix_ms, struct arena *arena, struct claims *ret_claims);

/* Which key a token asks for. */
struct token_key {
    size_t issuer;    /* index in the trust's issuers */
    struct slice kid; /* in the arena; SLICE_NONE: the token names none */
};

/* After TOKEN_KEY or TOKEN_SIGNATURE: the key that fresher key sets may hold. False where the token
 * is refused before its key is looked for. */
bool token_wants_key(const struct token_trust *trust, struct slice token, struct arena *arena,
                     struct token_key *ret_key);

/* The token of an Authorization value: scheme Bearer in any case, one run of spaces, b64token
 * characters (RFC 6750 §2.1). False: not a bearer credential. */
bool token_from_authorization(struct slice authorization, struct slice *ret_token);

#endif
