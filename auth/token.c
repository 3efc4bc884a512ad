/* SPDX-License-Identifier: Apache-2.0 */
/* The order of work is the security argument: each step reads only what the one before it has
 * bounded or proved, the issuer is chosen before the key, and no claim but `iss` is looked at
 * before the signature holds. */
#include "auth/token.h"

#include "auth/claims_read.h"
#include "auth/jws.h"
#include "auth/strict_json.h"

#include <strings.h>

enum { MAX_PAYLOAD_MEMBERS = 512 };

/* One token on its way. */
struct check {
    const struct token_trust *trust;
    struct slice token;
    int64_t now_unix_ms;
    struct arena *arena;
    struct jws jws;
    json_t *payload;
    size_t at; /* its issuer, among those of `trust` */
    const struct jwk *key;
    struct claims claims;
};

static enum token_result check_size(struct check *c)
{
    return c->token.n <= TOKEN_MAX_BYTES ? TOKEN_OK : TOKEN_TOO_LARGE;
}

static enum token_result check_parts(struct check *c)
{
    return jws_parse(c->token, c->arena, &c->jws);
}

static enum token_result check_payload(struct check *c)
{
    c->payload = strict_json_object(c->jws.payload, MAX_PAYLOAD_MEMBERS);
    return c->payload ? TOKEN_OK : TOKEN_JSON;
}

static enum token_result check_issuer(struct check *c)
{
    struct slice iss = strict_json_text(json_object_get(c->payload, "iss"));
    for (c->at = 0; iss.n && c->at < c->trust->n; c->at++) {
        if (slice_eq(iss, c->trust->issuers[c->at].iss)) {
            return TOKEN_OK;
        }
    }
    return TOKEN_ISSUER;
}

static enum token_result check_alg(struct check *c)
{
    return c->trust->issuers[c->at].algs >> c->jws.alg & 1 ? TOKEN_OK : TOKEN_ALG;
}

static bool is_type(struct slice typ, const char *name)
{
    return typ.n == strlen(name) && strncasecmp(typ.p, name, typ.n) == 0;
}

static enum token_result check_typ(struct check *c)
{
    struct slice typ = c->jws.typ;
    bool good = is_type(typ, "at+jwt") || is_type(typ, "application/at+jwt") ||
                (c->trust->issuers[c->at].typ_any && (!typ.p || is_type(typ, "JWT")));
    return good ? TOKEN_OK : TOKEN_TYP;
}

static enum token_result check_key(struct check *c)
{
    const struct jwks *keys = c->trust->keys[c->at];
    c->key = keys ? jwks_find(keys, c->jws.kid, c->jws.alg) : NULL;
    return c->key ? TOKEN_OK : TOKEN_KEY;
}

static enum token_result check_signature(struct check *c)
{
    return jws_verify(&c->jws, c->key) ? TOKEN_OK : TOKEN_SIGNATURE;
}

static enum token_result check_claims(struct check *c)
{
    return claims_read(c->payload, &c->trust->issuers[c->at], c->now_unix_ms, c->arena, &c->claims);
}

typedef enum token_result (*check_fn)(struct check *c);

static const check_fn ORDER_OF_WORK[] = {
    check_size, check_parts, check_payload,   check_issuer, check_alg,
    check_typ,  check_key,   check_signature, check_claims,
};

enum { N_CHECKS = sizeof(ORDER_OF_WORK) / sizeof(ORDER_OF_WORK[0]) };

/* The checks before `end`, as far as they pass. */
static enum token_result run_checks(struct check *c, check_fn end)
{
    enum token_result result = TOKEN_OK;
    for (int i = 0; i < N_CHECKS && ORDER_OF_WORK[i] != end && result == TOKEN_OK; i++) {
        result = ORDER_OF_WORK[i](c);
    }
    return result;
}

enum token_result token_verify(const struct token_trust *trust, struct slice token,
                               int64_t now_unix_ms, struct arena *arena, struct claims *ret_claims)
{
    struct check c = {.trust = trust, .token = token, .now_unix_ms = now_unix_ms, .arena = arena};
    enum token_result result = run_checks(&c, NULL);
    if (result == TOKEN_OK) {
        *ret_claims = c.claims;
    }
    json_decref(c.payload);
    return result;
}

bool token_wants_key(const struct token_trust *trust, struct slice token, struct arena *arena,
                     struct token_key *ret_key)
{
    struct check c = {.trust = trust, .token = token, .arena = arena};
    bool good = run_checks(&c, check_key) == TOKEN_OK;
    json_decref(c.payload);
    if (good) {
        *ret_key = (struct token_key){c.at, c.jws.kid};
    }
    return good;
}

const char *token_result_name(enum token_result result)
{
    static const char *const NAMES[TOKEN_RESULT_COUNT] = {
#define X(name, text) [name] = (text),
        TOKEN_TABLE(X)
#undef X
    };
    return NAMES[result];
}

static bool is_b64token_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~+/", c));
}

/* 1*( ALPHA / DIGIT / "-" / "." / "_" / "~" / "+" / "/" ) *"=" */
static bool is_b64token(struct slice text)
{
    size_t n = 0;
    while (n < text.n && is_b64token_byte(text.p[n])) {
        n++;
    }
    bool good = n > 0;
    while (n < text.n && text.p[n] == '=') {
        n++;
    }
    return good && n == text.n;
}

bool token_from_authorization(struct slice authorization, struct slice *ret_token)
{
    const size_t scheme_bytes = sizeof("Bearer ") - 1;
    if (authorization.n <= scheme_bytes ||
        strncasecmp(authorization.p, "Bearer ", scheme_bytes) != 0) {
        return false;
    }
    struct slice rest = slice_skip(authorization, scheme_bytes);
    while (rest.n && rest.p[0] == ' ') {
        rest = slice_skip(rest, 1);
    }
    if (!is_b64token(rest)) {
        return false;
    }
    *ret_token = rest;
    return true;
}
