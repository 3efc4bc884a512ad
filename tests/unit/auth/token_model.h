/* SPDX-License-Identifier: Apache-2.0 */
/* token_model: who is let in, said once more as plainly as it can be said, for test_token_mutation.
 *
 * No cryptography, no limits on work, no order: a token is good when it is, byte for byte, one that
 * the issuer's own key signed and its header and payload follow the rules. It shares the JSON
 * parser with the verifier and nothing else. */
#ifndef TESTS_TOKEN_MODEL_H
#define TESTS_TOKEN_MODEL_H

#include "auth/token.h"

#include <jansson.h>

#define MODEL_NOW 1800000000
#define MODEL_LEEWAY 30
#define MODEL_LIFETIME 86400
#define MODEL_MAX_VALUES 4
#define MODEL_AUD "https://kb.test/mcp"
#define MODEL_STRICT "https://strict.test/"
#define MODEL_LOOSE "https://loose.test/"

/* A key, the issuer it belongs to and the only names it goes by there. */
struct model_key {
    const char *iss, *kid, *alg;
    bool is_sole; /* the issuer's only key of that algorithm */
};

/* What was signed, and the token that came out. */
struct model_token {
    const struct model_key *key;
    struct slice header, payload, compact;
};

static inline const char *model_text(const json_t *object, const char *name)
{
    return json_string_value(json_object_get(object, name));
}

static inline bool model_is(const json_t *object, const char *name, const char *value)
{
    const json_t *text = json_object_get(object, name);
    return json_is_string(text) && json_string_length(text) == strlen(value) &&
           strcmp(json_string_value(text), value) == 0;
}

static inline size_t model_depth(const json_t *value)
{
    size_t deepest = 0, i;
    const char *name;
    json_t *child;
    json_object_foreach((json_t *)value, name, child)
    {
        deepest = model_depth(child) > deepest ? model_depth(child) : deepest;
    }
    json_array_foreach(value, i, child)
    {
        deepest = model_depth(child) > deepest ? model_depth(child) : deepest;
    }
    return json_is_object(value) || json_is_array(value) ? deepest + 1 : 0;
}

static inline size_t model_members(const json_t *value)
{
    size_t n = json_object_size(value), i;
    const char *name;
    json_t *child;
    json_object_foreach((json_t *)value, name, child)
    {
        n += model_members(child);
    }
    json_array_foreach(value, i, child)
    {
        n += model_members(child);
    }
    return n;
}

static inline json_t *model_object(struct slice text, size_t max_members)
{
    json_t *value = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, NULL);
    if (!json_is_object(value) || model_depth(value) > 8 || model_members(value) > max_members) {
        json_decref(value);
        return NULL;
    }
    return value;
}

static inline bool model_typ(const json_t *header, bool loose)
{
    const json_t *typ = json_object_get(header, "typ");
    const char *text = json_string_value(typ);
    if (!typ) {
        return loose;
    }
    return text && (!strcasecmp(text, "at+jwt") || !strcasecmp(text, "application/at+jwt") ||
                    (loose && !strcasecmp(text, "JWT")));
}

static inline bool model_header(const json_t *header, const struct model_key *key, bool loose)
{
    static const char *const NEVER[] = {"crit", "b64", "zip", "jwk", "jku", "x5u", "x5c", "cty"};
    for (size_t i = 0; i < sizeof(NEVER) / sizeof(NEVER[0]); i++) {
        if (json_object_get(header, NEVER[i])) {
            return false;
        }
    }
    bool named = json_object_get(header, "kid") ? model_is(header, "kid", key->kid) : key->is_sole;
    return model_is(header, "alg", key->alg) && named && model_typ(header, loose);
}

/* -1: absent, where that may be; -2: not a date. */
static inline double model_date(const json_t *payload, const char *name)
{
    const json_t *value = json_object_get(payload, name);
    double date = json_number_value(value);
    if (!value) {
        return -1;
    }
    return json_is_number(value) && date >= 0 && date <= 9007199254740992.0 ? date : -2;
}

static inline bool model_dates(const json_t *payload, bool loose)
{
    double exp = model_date(payload, "exp"), nbf = model_date(payload, "nbf");
    double iat = model_date(payload, "iat");
    if (exp <= 0 || nbf == -2 || iat == -2 || (iat == -1 && !loose)) {
        return false;
    }
    return MODEL_NOW < exp + MODEL_LEEWAY && nbf <= MODEL_NOW + MODEL_LEEWAY &&
           iat <= MODEL_NOW + MODEL_LEEWAY && exp - (iat == -1 ? MODEL_NOW : iat) <= MODEL_LIFETIME;
}

static inline bool model_aud(const json_t *payload)
{
    const json_t *aud = json_object_get(payload, "aud"), *member;
    size_t i, texts = 0;
    bool ours = model_is(payload, "aud", MODEL_AUD);
    json_array_foreach(aud, i, member)
    {
        texts += json_is_string(member);
        ours = ours || (json_is_string(member) && json_string_length(member) == strlen(MODEL_AUD) &&
                        !strcmp(json_string_value(member), MODEL_AUD));
    }
    return ours && texts == json_array_size(aud);
}

static inline bool model_id(const json_t *payload, const char *name, bool may_miss)
{
    const json_t *id = json_object_get(payload, name);
    size_t n = json_string_length(id);
    return id ? json_is_string(id) && n >= 1 && n <= 256 : may_miss;
}

static inline bool model_texts(const json_t *list, size_t most)
{
    size_t i, texts = 0;
    const json_t *member;
    json_array_foreach(list, i, member)
    {
        texts += json_is_string(member);
    }
    return !list ||
           (json_is_array(list) && texts == json_array_size(list) && json_array_size(list) <= most);
}

static inline bool model_words(const json_t *scope)
{
    size_t words = 0;
    const char *text = json_string_value(scope);
    for (size_t i = 0; text && i < json_string_length(scope); i++) {
        char c = text[i];
        if (c < ' ' || c > '~' || c == '"' || c == '\\') {
            return false;
        }
        words += c != ' ' && (i == 0 || text[i - 1] == ' ');
    }
    return !scope || (text && words <= MODEL_MAX_VALUES);
}

static inline bool model_strict(const json_t *p)
{
    return model_id(p, "sub", false) && model_id(p, "jti", false) &&
           model_id(p, "client_id", false) && model_words(json_object_get(p, "scope")) &&
           model_texts(json_object_get(p, "groups"), SIZE_MAX);
}

static inline bool model_loose(const json_t *p)
{
    const json_t *realm = json_object_get(p, "realm");
    return !json_object_get(p, "nonce") && !json_object_get(p, "at_hash") &&
           model_id(p, "sub", false) && model_id(p, "jti", true) && model_id(p, "azp", true) &&
           model_texts(json_object_get(p, "scp"), MODEL_MAX_VALUES) &&
           (!realm || json_is_object(realm)) &&
           model_texts(json_object_get(realm, "roles"), SIZE_MAX);
}

static inline bool model_payload(const json_t *payload, const struct model_key *key, bool loose)
{
    return model_is(payload, "iss", key->iss) && model_aud(payload) &&
           model_dates(payload, loose) && (loose ? model_loose(payload) : model_strict(payload));
}

/* Whether token, made from t, may pass. */
static inline bool model_accepts(const struct model_token *t, struct slice token)
{
    bool loose = strcmp(t->key->iss, MODEL_LOOSE) == 0;
    json_t *header = model_object(t->header, 64), *payload = model_object(t->payload, 512);
    bool good = token.n <= 8192 && slice_eq(token, t->compact) && header && payload &&
                model_header(header, t->key, loose) && model_payload(payload, t->key, loose);
    json_decref(header);
    json_decref(payload);
    return good;
}

#endif
