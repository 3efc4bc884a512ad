/* SPDX-License-Identifier: Apache-2.0 */
/* The `grants` and `denies` parts of the file. A grant writes all three dimensions: one left out or
 * misspelt must never come to mean "all". */
#include "scope/policy_parts.h"

struct grant_file {
    struct slice id;
    struct yaml_texts tenants;
    const struct yaml_node *when, *allow;
};

static const struct yaml_field GRANT_FIELDS[] = {
    {"id", YAML_TEXT, true, offsetof(struct grant_file, id), 0, 0},
    {"tenants", YAML_TEXT_LIST, true, offsetof(struct grant_file, tenants), 0, 0},
    {"when", YAML_SUBTREE, false, offsetof(struct grant_file, when), 0, 0},
    {"allow", YAML_SUBTREE, true, offsetof(struct grant_file, allow), 0, 0},
};

struct deny_file {
    struct slice id;
    const struct yaml_node *unless, *match;
};

static const struct yaml_field DENY_FIELDS[] = {
    {"id", YAML_TEXT, true, offsetof(struct deny_file, id), 0, 0},
    {"unless", YAML_SUBTREE, false, offsetof(struct deny_file, unless), 0, 0},
    {"match", YAML_SUBTREE, true, offsetof(struct deny_file, match), 0, 0},
};

struct sets_file {
    struct yaml_texts collections, doc_types, labels;
};

#define AT(member) offsetof(struct sets_file, member)
static const struct yaml_field ALLOW_FIELDS[] = {
    {"collections", YAML_TEXT_LIST, true, AT(collections), 0, 0},
    {"doc_types", YAML_TEXT_LIST, true, AT(doc_types), 0, 0},
    {"labels", YAML_TEXT_LIST, true, AT(labels), 0, 0},
};

static const struct yaml_field MATCH_FIELDS[] = {
    {"collections", YAML_TEXT_LIST, false, AT(collections), 0, 0},
    {"doc_types", YAML_TEXT_LIST, false, AT(doc_types), 0, 0},
    {"labels_any", YAML_TEXT_LIST, false, AT(labels), 0, 0},
};
#undef AT

enum { N_DIMENSIONS = 3 };

struct rule_reader {
    struct policy *policy;
    struct err_detail *detail;
    const struct yaml_node *node; /* the map the set stands in, for error texts */
};

/* The one place where "*" becomes the wildcard: written in the file, alone in its list. */
static bool read_set(const struct rule_reader *r, const char *key, const struct yaml_texts *texts,
                     struct filter_set *ret_set)
{
    *ret_set = (struct filter_set){.items = texts->items, .n = texts->n};
    for (size_t i = 0; i < texts->n; i++) {
        bool star = slice_is(texts->items[i], "*");
        if (star && texts->n > 1) {
            policy_error(r->policy, r->node, key, r->detail,
                         "mixes \"*\" with names; write [\"*\"] alone or the names");
            return false;
        }
        if (!star && !scope_name_is_valid(texts->items[i])) {
            policy_error(
                r->policy, r->node, key, r->detail,
                "holds `%.64s`; a name is 1 to 64 letters, digits, . _ - beginning with a letter "
                "or digit",
                texts->items[i].p);
            return false;
        }
        ret_set->all = star;
    }
    return true;
}

static bool read_allow(struct rule_reader *r, struct filter_grant *ret_allow)
{
    struct sets_file file = {0};
    return yaml_read(r->policy->doc, r->node, ALLOW_FIELDS, N_DIMENSIONS, &file, r->detail) &&
           read_set(r, "collections", &file.collections, &ret_allow->collections) &&
           read_set(r, "doc_types", &file.doc_types, &ret_allow->doc_types) &&
           read_set(r, "labels", &file.labels, &ret_allow->labels);
}

static bool read_written(const struct rule_reader *r, const char *key,
                         const struct yaml_texts *texts, const struct filter_set **ret_set)
{
    if (!texts->items) {
        return true;
    }
    struct filter_set *set = arena_alloc(&r->policy->arena, sizeof(*set));
    *ret_set = set;
    return read_set(r, key, texts, set);
}

static bool read_match(struct rule_reader *r, struct filter_deny *ret_match)
{
    struct sets_file file = {0};
    if (!yaml_read(r->policy->doc, r->node, MATCH_FIELDS, N_DIMENSIONS, &file, r->detail) ||
        !read_written(r, "collections", &file.collections, &ret_match->collections) ||
        !read_written(r, "doc_types", &file.doc_types, &ret_match->doc_types) ||
        !read_written(r, "labels_any", &file.labels, &ret_match->labels_any)) {
        return false;
    }
    if (r->node->n == 0) {
        yaml_error(r->policy->doc, r->node->line, r->node->key, r->detail,
                   "has no dimension; write collections, doc_types or labels_any");
        return false;
    }
    if (ret_match->labels_any && ret_match->labels_any->all) {
        policy_error(r->policy, r->node, "labels_any", r->detail,
                     "cannot be \"*\"; name the labels, or remove the key to match any document");
        return false;
    }
    return true;
}

static bool tenant_is_known(const struct policy *p, struct slice tenant)
{
    for (size_t i = 0; i < p->n_issuers; i++) {
        for (size_t k = 0; k < p->issuers[i].n_tenants; k++) {
            if (slice_eq(p->issuers[i].tenants[k].tenant, tenant)) {
                return true;
            }
        }
    }
    return false;
}

static bool check_tenants(const struct rule_reader *r, const struct yaml_texts *tenants)
{
    for (size_t i = 0; i < tenants->n; i++) {
        if (!tenant_is_known(r->policy, tenants->items[i])) {
            policy_error(
                r->policy, r->node, "tenants", r->detail,
                "names `%.64s`, which no issuer's tenants hold; add it there or correct it",
                tenants->items[i].p);
            return false;
        }
    }
    return true;
}

static bool refuse_repeated_id(const struct rule_reader *r, struct slice id)
{
    policy_error(r->policy, r->node, "id", r->detail, "`%.64s` is used twice; give each its own",
                 id.p);
    return false;
}

static bool read_grant(struct rule_reader *r, struct grant *ret_grant)
{
    struct grant_file file = {0};
    if (!yaml_read(r->policy->doc, r->node, GRANT_FIELDS, 4, &file, r->detail)) {
        return false;
    }
    ret_grant->id = file.id;
    ret_grant->tenants = file.tenants;
    for (const struct grant *other = r->policy->grants; other < ret_grant; other++) {
        if (slice_eq(other->id, file.id)) {
            return refuse_repeated_id(r, file.id);
        }
    }
    if (!check_tenants(r, &file.tenants) ||
        (file.when && !condition_read(r->policy->doc, file.when, &ret_grant->when, r->detail))) {
        return false;
    }
    r->node = file.allow;
    return read_allow(r, &ret_grant->allow);
}

static bool read_deny(struct rule_reader *r, struct deny *ret_deny)
{
    struct deny_file file = {0};
    if (!yaml_read(r->policy->doc, r->node, DENY_FIELDS, 3, &file, r->detail)) {
        return false;
    }
    ret_deny->id = file.id;
    ret_deny->has_unless = file.unless != NULL;
    for (const struct deny *other = r->policy->denies; other < ret_deny; other++) {
        if (slice_eq(other->id, file.id)) {
            return refuse_repeated_id(r, file.id);
        }
    }
    if (file.unless && !condition_read(r->policy->doc, file.unless, &ret_deny->unless, r->detail)) {
        return false;
    }
    r->node = file.match;
    return read_match(r, &ret_deny->match);
}

static bool expect_list(const struct policy *p, const struct yaml_node *node,
                        struct err_detail *detail)
{
    if (node->kind != YAML_LIST) {
        yaml_error(p->doc, node->line, node->key, detail, "must be a list; begin each with \"- \"");
    }
    return node->kind == YAML_LIST;
}

bool policy_read_grants(struct policy *p, const struct yaml_node *list, struct err_detail *detail)
{
    if (!expect_list(p, list, detail)) {
        return false;
    }
    p->grants = arena_alloc(&p->arena, list->n * sizeof(*p->grants));
    for (const struct yaml_node *node = list->first; node; node = node->next) {
        struct rule_reader r = {p, detail, node};
        if (!read_grant(&r, &p->grants[p->n_grants])) {
            return false;
        }
        p->n_grants++;
    }
    return true;
}

bool policy_read_denies(struct policy *p, const struct yaml_node *list, struct err_detail *detail)
{
    if (!expect_list(p, list, detail)) {
        return false;
    }
    p->denies = arena_alloc(&p->arena, list->n * sizeof(*p->denies));
    for (const struct yaml_node *node = list->first; node; node = node->next) {
        struct rule_reader r = {p, detail, node};
        if (!read_deny(&r, &p->denies[p->n_denies])) {
            return false;
        }
        p->n_denies++;
    }
    return true;
}
