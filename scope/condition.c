/* SPDX-License-Identifier: Apache-2.0 */
/* Values are compared byte for byte and none is a pattern: what a token says can only equal what
 * the policy's author wrote. An empty list is met by nothing, "all of nothing" included, because a
 * list somebody emptied must not open what it used to guard. */
#include "scope/condition.h"

static const struct yaml_field FIELDS[CONDITION_COUNT] = {
    {"scopes_all", YAML_TEXT_LIST, false, offsetof(struct condition, lists[CONDITION_SCOPES_ALL]),
     0, 0},
    {"scopes_any", YAML_TEXT_LIST, false, offsetof(struct condition, lists[CONDITION_SCOPES_ANY]),
     0, 0},
    {"groups_all", YAML_TEXT_LIST, false, offsetof(struct condition, lists[CONDITION_GROUPS_ALL]),
     0, 0},
    {"groups_any", YAML_TEXT_LIST, false, offsetof(struct condition, lists[CONDITION_GROUPS_ANY]),
     0, 0},
    {"client_ids_any", YAML_TEXT_LIST, false,
     offsetof(struct condition, lists[CONDITION_CLIENT_IDS_ANY]), 0, 0},
};

const char *condition_name(enum condition_kind kind)
{
    return kind < CONDITION_COUNT ? FIELDS[kind].key : "";
}

bool condition_read(struct yaml_doc *doc, const struct yaml_node *map,
                    struct condition *ret_condition, struct err_detail *detail)
{
    *ret_condition = (struct condition){0};
    if (!yaml_read(doc, map, FIELDS, CONDITION_COUNT, ret_condition, detail)) {
        return false;
    }
    if (map->n == 0) {
        yaml_error(doc, map->line, map->key, detail,
                   "has no condition; write one or remove the key");
        return false;
    }
    return true;
}

static bool has(const struct slice *values, size_t n, struct slice wanted)
{
    for (size_t i = 0; i < n; i++) {
        if (slice_eq(values[i], wanted)) {
            return true;
        }
    }
    return false;
}

static bool meets(const struct yaml_texts *wanted, bool every, const struct slice *values, size_t n)
{
    size_t found = 0;
    for (size_t i = 0; i < wanted->n; i++) {
        found += has(values, n, wanted->items[i]);
    }
    return found > 0 && (!every || found == wanted->n);
}

static bool is_met(enum condition_kind kind, const struct yaml_texts *wanted,
                   const struct claims *claims)
{
    switch (kind) {
    case CONDITION_SCOPES_ALL: return meets(wanted, true, claims->scopes, claims->n_scopes);
    case CONDITION_SCOPES_ANY: return meets(wanted, false, claims->scopes, claims->n_scopes);
    case CONDITION_GROUPS_ALL:
        return !claims->groups_overage && meets(wanted, true, claims->groups, claims->n_groups);
    case CONDITION_GROUPS_ANY:
        return !claims->groups_overage && meets(wanted, false, claims->groups, claims->n_groups);
    case CONDITION_CLIENT_IDS_ANY:
        return claims->client_id.p && meets(wanted, false, &claims->client_id, 1);
    case CONDITION_COUNT: break;
    }
    return false;
}

enum condition_kind condition_first_unmet(const struct condition *c, const struct claims *claims)
{
    for (int kind = 0; kind < CONDITION_COUNT; kind++) {
        if (c->lists[kind].items && !is_met((enum condition_kind)kind, &c->lists[kind], claims)) {
            return (enum condition_kind)kind;
        }
    }
    return CONDITION_COUNT;
}
