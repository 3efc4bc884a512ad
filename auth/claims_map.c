/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, groups and tenant stand in other places and forms with every issuer. The policy says
 * which; nothing is guessed, because a guess would split the array element "a admin" into two
 * scopes. Missing claims grant nothing; a claim of another type makes the token invalid. */
#include "auth/claim_path.h"
#include "auth/claims_read.h"
#include "auth/strict_json.h"

struct values {
    const struct slice *p;
    size_t n;
};

enum values_result { VALUES_OK, VALUES_WRONG_TYPE, VALUES_TOO_MANY };

/* RFC 6749 §3.3: %x21 / %x23-5B / %x5D-7E, separated by spaces. */
static bool is_scope_text(struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c < 0x20 || c > 0x7E || c == '"' || c == '\\') {
            return false;
        }
    }
    return true;
}

static struct slice next_word(struct slice *rest)
{
    while (rest->n && rest->p[0] == ' ') {
        *rest = slice_skip(*rest, 1);
    }
    size_t n = 0;
    while (n < rest->n && rest->p[n] != ' ') {
        n++;
    }
    struct slice word = {rest->p, n};
    *rest = slice_skip(*rest, n);
    return word;
}

static enum values_result read_words(const json_t *claim, size_t max, struct arena *arena,
                                     struct values *ret_values)
{
    struct slice text = strict_json_text(claim);
    if (!text.p || !is_scope_text(text)) {
        return VALUES_WRONG_TYPE;
    }
    struct slice rest = arena_copy(arena, text);
    size_t most = text.n / 2 + 1; /* words of one byte */
    struct slice *words = arena_alloc(arena, (max < most ? max : most) * sizeof(*words));
    size_t n = 0;
    for (struct slice word = next_word(&rest); word.n; word = next_word(&rest)) {
        if (n == max) {
            return VALUES_TOO_MANY;
        }
        words[n++] = word;
    }
    *ret_values = (struct values){words, n};
    return VALUES_OK;
}

static enum values_result read_array(const json_t *claim, size_t max, struct arena *arena,
                                     struct values *ret_values)
{
    size_t n = json_array_size(claim);
    if (!json_is_array(claim)) {
        return VALUES_WRONG_TYPE;
    }
    struct slice *items = arena_alloc(arena, n * sizeof(*items));
    for (size_t i = 0; i < n; i++) {
        items[i] = arena_copy(arena, strict_json_text(json_array_get(claim, i)));
        if (!items[i].p) {
            return VALUES_WRONG_TYPE;
        }
    }
    *ret_values = (struct values){items, n};
    return n > max ? VALUES_TOO_MANY : VALUES_OK;
}

static enum values_result read_string(const json_t *claim, size_t max, struct arena *arena,
                                      struct values *ret_values)
{
    struct slice *item = arena_alloc(arena, sizeof(*item));
    *item = arena_copy(arena, strict_json_text(claim));
    if (!item->p) {
        return VALUES_WRONG_TYPE;
    }
    *ret_values = (struct values){item, 1};
    return max < 1 ? VALUES_TOO_MANY : VALUES_OK;
}

static enum values_result read_values(const json_t *payload, const struct claim_rule *rule,
                                      size_t max, struct arena *arena, struct values *ret_values)
{
    bool blocked = false;
    const json_t *claim =
        rule->path.p ? claim_path_get(payload, rule->path, arena, &blocked) : NULL;
    *ret_values = (struct values){NULL, 0};
    if (!claim) {
        return blocked ? VALUES_WRONG_TYPE : VALUES_OK;
    }
    switch (rule->kind) {
    case CLAIM_SPACE_STRING: return read_words(claim, max, arena, ret_values);
    case CLAIM_ARRAY: return read_array(claim, max, arena, ret_values);
    case CLAIM_STRING: return read_string(claim, max, arena, ret_values);
    }
    return VALUES_WRONG_TYPE;
}

/* Too many scopes make the token invalid: issuers have no sign for a list left out, and which of
 * them to keep nobody can say. */
static enum token_result map_scopes(const json_t *payload, const struct issuer *issuer,
                                    struct arena *arena, struct claims *claims)
{
    struct values values;
    if (read_values(payload, &issuer->scopes, issuer->max_scopes, arena, &values) != VALUES_OK) {
        return TOKEN_CLAIM;
    }
    claims->scopes = values.p;
    claims->n_scopes = values.n;
    return TOKEN_OK;
}

static bool says_left_out(const json_t *payload, const struct claim_rule *rule)
{
    for (size_t i = 0; i < rule->n_overage; i++) {
        const json_t *sign = json_object_getn(payload, rule->overage[i].p, rule->overage[i].n);
        if (sign && !json_is_false(sign)) {
            return true;
        }
    }
    return false;
}

/* Too many groups are the same as a list that was left out: members of many groups are honest
 * callers, and grants without a condition on groups still stand for them. No group is kept then, so
 * that no later step can rely on part of a list. */
static enum token_result map_groups(const json_t *payload, const struct issuer *issuer,
                                    struct arena *arena, struct claims *claims)
{
    struct values values;
    enum values_result result =
        read_values(payload, &issuer->groups, issuer->max_groups, arena, &values);
    if (result == VALUES_WRONG_TYPE) {
        return TOKEN_CLAIM;
    }
    claims->groups_overage = result == VALUES_TOO_MANY || says_left_out(payload, &issuer->groups);
    if (!claims->groups_overage) {
        claims->groups = values.p;
        claims->n_groups = values.n;
    }
    return TOKEN_OK;
}

/* Unknown, missing and of another type are alike: a valid token that sees nothing. */
static void map_tenant(const json_t *payload, const struct issuer *issuer, struct arena *arena,
                       struct claims *claims)
{
    bool blocked;
    struct slice path = issuer->tenant.path;
    const json_t *claim = path.p ? claim_path_get(payload, path, arena, &blocked) : NULL;
    struct slice value = strict_json_text(claim);
    claims->tenant = SLICE_NONE;
    for (size_t i = 0; value.n && i < issuer->n_tenants && !claims->tenant.p; i++) {
        if (slice_eq(value, issuer->tenants[i].claim_value)) {
            claims->tenant = arena_copy(arena, issuer->tenants[i].tenant);
        }
    }
}

enum token_result claims_map(const json_t *payload, const struct issuer *issuer,
                             struct arena *arena, struct claims *claims)
{
    map_tenant(payload, issuer, arena, claims);
    enum token_result result = map_scopes(payload, issuer, arena, claims);
    return result == TOKEN_OK ? map_groups(payload, issuer, arena, claims) : result;
}
