/* SPDX-License-Identifier: Apache-2.0 */
/* The registered claims (RFC 7519 §4.1, RFC 9068 §2.2). Types are strict: a claim of the wrong type
 * is never treated as absent, for that would lift the limit it states. */
#include "auth/claim_path.h"
#include "auth/claims_read.h"
#include "auth/strict_json.h"

#define MAX_NUMERIC_DATE 9007199254740992.0 /* 2^53: beyond it doubles skip whole seconds */

/* A NumericDate (RFC 7519 §2) may have a fraction. */
struct moment {
    bool there;
    double unix_s;
};

static bool read_moment(const json_t *payload, const char *name, struct moment *ret_moment)
{
    const json_t *value = json_object_get(payload, name);
    *ret_moment = (struct moment){value != NULL, json_number_value(value)};
    return !value || (json_is_number(value) && ret_moment->unix_s >= 0 &&
                      ret_moment->unix_s <= MAX_NUMERIC_DATE);
}

/* Without iat the age is unknown, but what is left of the life is bounded all the same. */
static enum token_result check_times(const json_t *payload, const struct issuer *issuer,
                                     int64_t now_unix_ms, int64_t *ret_expires_unix_s)
{
    struct moment exp, nbf, iat;
    if (!read_moment(payload, "exp", &exp) || !read_moment(payload, "nbf", &nbf) ||
        !read_moment(payload, "iat", &iat) || !exp.there || exp.unix_s <= 0 ||
        (!iat.there && !issuer->typ_any)) {
        return TOKEN_CLAIM;
    }
    double now_s = (double)now_unix_ms / 1000, leeway_s = (double)issuer->leeway_s;
    if (now_s >= exp.unix_s + leeway_s) {
        return TOKEN_EXPIRED;
    }
    if ((nbf.there && nbf.unix_s > now_s + leeway_s) ||
        (iat.there && iat.unix_s > now_s + leeway_s)) {
        return TOKEN_NOT_YET;
    }
    if (exp.unix_s - (iat.there ? iat.unix_s : now_s) > (double)issuer->max_lifetime_s) {
        return TOKEN_LIFETIME;
    }
    *ret_expires_unix_s = (int64_t)exp.unix_s;
    return TOKEN_OK;
}

static bool is_audience(const struct issuer *issuer, struct slice value)
{
    for (size_t i = 0; i < issuer->n_audiences; i++) {
        if (slice_eq(value, issuer->audiences[i])) {
            return true;
        }
    }
    return false;
}

/* A string or an array of nothing but strings; one of ours must be among them, byte for byte. */
static enum token_result check_audience(const json_t *payload, const struct issuer *issuer)
{
    const json_t *aud = json_object_get(payload, "aud");
    if (json_is_string(aud)) {
        return is_audience(issuer, strict_json_text(aud)) ? TOKEN_OK : TOKEN_AUDIENCE;
    }
    bool ours = false;
    for (size_t i = 0; i < json_array_size(aud); i++) {
        struct slice member = strict_json_text(json_array_get(aud, i));
        if (!member.p) {
            return TOKEN_AUDIENCE;
        }
        ours = ours || is_audience(issuer, member);
    }
    return ours ? TOKEN_OK : TOKEN_AUDIENCE;
}

/* RFC 9068 tokens say what they are in typ. Where an issuer's do not, these two claims give away an
 * ID token, which was made for the client and not for us. */
static bool is_id_token(const json_t *payload)
{
    return json_object_get(payload, "nonce") || json_object_get(payload, "at_hash");
}

/* An identifier: present unless optional, a string of 1..CLAIMS_MAX_ID_BYTES bytes. */
static bool take_id(const json_t *value, bool is_optional, struct arena *arena,
                    struct slice *ret_id)
{
    struct slice text = strict_json_text(value);
    *ret_id = arena_copy(arena, text);
    return value ? text.n > 0 && text.n <= CLAIMS_MAX_ID_BYTES : is_optional;
}

/* The issuer's rule, where there is one, replaces the name client_id: azp, appid, cid. */
static bool take_client_id(const json_t *payload, const struct issuer *issuer, struct arena *arena,
                           struct slice *ret_id)
{
    struct slice path = issuer->client_id.path;
    bool blocked;
    const json_t *value =
        claim_path_get(payload, path.p ? path : SLICE_LIT("client_id"), arena, &blocked);
    return !blocked && take_id(value, issuer->typ_any, arena, ret_id);
}

static enum token_result take_ids(const json_t *payload, const struct issuer *issuer,
                                  struct arena *arena, struct claims *claims)
{
    bool good = take_id(json_object_get(payload, "sub"), false, arena, &claims->sub) &&
                take_id(json_object_get(payload, "jti"), issuer->typ_any, arena, &claims->jti) &&
                take_client_id(payload, issuer, arena, &claims->client_id);
    return good ? TOKEN_OK : TOKEN_CLAIM;
}

static void digest_subject(struct claims *claims)
{
    struct hasher h;
    hasher_init(&h);
    hasher_part(&h, claims->issuer->iss);
    hasher_part(&h, claims->sub);
    hasher_done(&h, &claims->subject);
}

enum token_result claims_read(const json_t *payload, const struct issuer *issuer,
                              int64_t now_unix_ms, struct arena *arena, struct claims *ret_claims)
{
    struct claims claims = {.issuer = issuer};
    enum token_result result = check_audience(payload, issuer);
    if (result == TOKEN_OK) {
        result = check_times(payload, issuer, now_unix_ms, &claims.expires_unix_s);
    }
    if (result == TOKEN_OK && issuer->typ_any && is_id_token(payload)) {
        result = TOKEN_CLAIM;
    }
    if (result == TOKEN_OK) {
        result = take_ids(payload, issuer, arena, &claims);
    }
    if (result == TOKEN_OK) {
        result = claims_map(payload, issuer, arena, &claims);
    }
    if (result == TOKEN_OK) {
        digest_subject(&claims);
        *ret_claims = claims;
    }
    return result;
}
