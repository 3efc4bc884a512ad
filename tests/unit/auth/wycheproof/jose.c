/* SPDX-License-Identifier: Apache-2.0 */
/* The JOSE files: the key is read as a key set, as an issuer would publish it, then the token goes
 * the verifier's way: parts and header, key by kid and algorithm, signature. Private halves count
 * where a group has no public one; such keys are refused, as they must be. */
#include "auth/jwks.h"
#include "tests/unit/auth/wycheproof/vectors.h"

#include <stdio.h>
#include <stdlib.h>

#define ALL_ALGS ((1U << JWS_ALG_COUNT) - 1)

/* The key of a group, the first where it is a set. */
static const json_t *first_key(const json_t *key)
{
    const json_t *set = json_object_get(key, "keys");
    return set ? json_array_get(set, 0) : key;
}

static struct jwks *load(const json_t *key)
{
    json_t *set =
        json_object_get(key, "keys") ? json_deep_copy(key) : json_pack("{s:[O]}", "keys", key);
    char *text = json_dumps(set, JSON_COMPACT);
    struct jwks *keys = jwks_parse(slice_of(text), ALL_ALGS, NULL);
    free(text);
    json_decref(set);
    return keys;
}

static bool verify(const struct jwks *keys, struct slice token, struct jws *jws,
                   struct arena *arena)
{
    if (jws_parse(token, arena, jws) != TOKEN_OK || !keys) {
        return false;
    }
    const struct jwk *key = jwks_find(keys, jws->kid, jws->alg);
    return key && jws_verify(jws, key);
}

static bool has_empty_payload(const char *token)
{
    return strstr(token, "..") != NULL;
}

static enum adaptation adapt(const json_t *key, const json_t *test)
{
    enum jws_alg alg;
    if (json_object_get(test, "jwe")) {
        return ADAPTATION_ENCRYPTED;
    }
    if (strcmp(text_of(key, "kty"), "oct") == 0) {
        return ADAPTATION_SYMMETRIC;
    }
    if (!jws_alg_parse(slice_of(text_of(key, "alg")), &alg)) {
        return ADAPTATION_UNKNOWN_ALG;
    }
    if (has_empty_payload(text_of(test, "jws"))) {
        return ADAPTATION_EMPTY_PAYLOAD;
    }
    return ADAPTATION_NONE;
}

/* One vector's key says PS256 and its header PS384. */
static bool names_other_alg(const json_t *key, const struct jws *jws)
{
    return jws->signing_input.p && strcmp(text_of(key, "alg"), jws_alg_name(jws->alg)) != 0;
}

/* The token as it would arrive: JSON serialisations are texts too. */
static char *token_text(const json_t *test)
{
    const json_t *token = json_object_get(test, "jws");
    token = token ? token : json_object_get(test, "jwe");
    return json_is_string(token) ? strdup(json_string_value(token))
                                 : json_dumps(token, JSON_COMPACT);
}

static void judge_test(struct judge *j, const json_t *key, const struct jwks *keys,
                       const json_t *test)
{
    struct arena arena = {0};
    struct jws jws = {0};
    char *token = token_text(test);
    bool accepted = token && verify(keys, slice_of(token), &jws, &arena);
    enum adaptation a = adapt(first_key(key), test);
    a = a == ADAPTATION_NONE && names_other_alg(first_key(key), &jws) ? ADAPTATION_OTHER_ALG : a;
    if (!token) {
        judge_fail(j, test, "it has no token");
    } else if (json_object_get(test, "jwe") && jws.signing_input.p) {
        judge_fail(j, test, "an encrypted token was taken for a signed one");
    } else {
        judge_vector(j, test, accepted, a);
    }
    free(token);
    arena_done(&arena);
}

bool judge_jose(struct judge *j, const json_t *group)
{
    if (strncmp(text_of(group, "type"), "JsonWeb", 7) != 0) {
        return false;
    }
    const json_t *key = json_object_get(group, "public");
    key = key ? key : json_object_get(group, "private");
    const json_t *tests = json_object_get(group, "tests");
    struct jwks *keys = load(key);
    for (size_t i = 0; i < json_array_size(tests); i++) {
        judge_test(j, key, keys, json_array_get(tests, i));
    }
    jwks_unref(keys);
    return true;
}
