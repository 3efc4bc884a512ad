/* SPDX-License-Identifier: Apache-2.0 */
/* The `issuers` part of the file: whom a token may come from and where its claims stand. */
#include "scope/policy_parts.h"

enum { DEFAULT_MAX_STALE_S = 86400 };

struct issuer_file {
    struct issuer issuer;
    struct yaml_texts audiences, algs;
    const struct yaml_node *claims, *tenants;
};

#define AT(member) offsetof(struct issuer_file, member)
static const struct yaml_field ISSUER_FIELDS[] = {
    {"iss", YAML_TEXT, true, AT(issuer.iss), 0, 0},
    {"jwks_uri", YAML_TEXT, false, AT(issuer.jwks_uri), 0, 0},
    {"jwks_file", YAML_TEXT, false, AT(issuer.jwks_file), 0, 0},
    {"ca_file", YAML_TEXT, false, AT(issuer.ca_file), 0, 0},
    {"max_stale_s", YAML_INTEGER, false, AT(issuer.max_stale_s), 10, 30LL * 86400},
    {"audiences", YAML_TEXT_LIST, true, AT(audiences), 0, 0},
    {"algs", YAML_TEXT_LIST, false, AT(algs), 0, 0},
    {"typ_any", YAML_FLAG, false, AT(issuer.typ_any), 0, 0},
    {"development", YAML_FLAG, false, AT(issuer.development), 0, 0},
    {"claims", YAML_SUBTREE, true, AT(claims), 0, 0},
    {"tenants", YAML_SUBTREE, true, AT(tenants), 0, 0},
    {"leeway_s", YAML_INTEGER, false, AT(issuer.leeway_s), 0, 300},
    {"max_lifetime_s", YAML_INTEGER, false, AT(issuer.max_lifetime_s), 1, 366LL * 86400},
};
#undef AT

struct claims_file {
    const struct yaml_node *scopes, *groups, *tenant, *client_id;
};

static const struct yaml_field CLAIMS_FIELDS[] = {
    {"scopes", YAML_SUBTREE, true, offsetof(struct claims_file, scopes), 0, 0},
    {"groups", YAML_SUBTREE, false, offsetof(struct claims_file, groups), 0, 0},
    {"tenant", YAML_SUBTREE, true, offsetof(struct claims_file, tenant), 0, 0},
    {"client_id", YAML_SUBTREE, false, offsetof(struct claims_file, client_id), 0, 0},
};

struct rule_file {
    struct slice path, kind;
    struct yaml_texts overage;
};

static const struct yaml_field RULE_FIELDS[] = {
    {"path", YAML_TEXT, true, offsetof(struct rule_file, path), 0, 0},
    {"kind", YAML_TEXT, true, offsetof(struct rule_file, kind), 0, 0},
    {"overage", YAML_TEXT_LIST, false, offsetof(struct rule_file, overage), 0, 0},
};

enum { N_RULE_FIELDS = 3, N_RULE_FIELDS_WITHOUT_OVERAGE = 2 };

struct issuer_reader {
    struct policy *policy;
    struct issuer *issuer;
    struct err_detail *detail;
};

static bool refuse(const struct issuer_reader *r, const struct yaml_node *map, const char *key,
                   const char *reason)
{
    policy_error(r->policy, map, key, r->detail, "%s", reason);
    return false;
}

static bool kind_parse(struct slice name, enum claim_kind *ret_kind)
{
    static const struct {
        const char *name;
        enum claim_kind kind;
    } kinds[] = {
        {"space_string", CLAIM_SPACE_STRING}, {"array", CLAIM_ARRAY}, {"string", CLAIM_STRING}};
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (slice_is(name, kinds[i].name)) {
            *ret_kind = kinds[i].kind;
            return true;
        }
    }
    return false;
}

/* Steps are not empty; a backslash stands before a dot and nowhere else. */
static bool path_is_valid(struct slice path)
{
    bool step_empty = true;
    for (size_t i = 0; i < path.n; i++) {
        bool escaped = path.p[i] == '\\';
        i += escaped;
        if (escaped && (i == path.n || path.p[i] != '.')) {
            return false;
        }
        bool ends_step = !escaped && path.p[i] == '.';
        if (ends_step && step_empty) {
            return false;
        }
        step_empty = ends_step;
    }
    return !step_empty;
}

static bool read_rule(const struct issuer_reader *r, const struct yaml_node *node,
                      struct claim_rule *ret_rule)
{
    struct rule_file file = {0};
    size_t n = ret_rule == &r->issuer->groups ? N_RULE_FIELDS : N_RULE_FIELDS_WITHOUT_OVERAGE;
    if (!node) {
        return true;
    }
    if (!yaml_read(r->policy->doc, node, RULE_FIELDS, n, &file, r->detail)) {
        return false;
    }
    if (!path_is_valid(file.path)) {
        return refuse(r, node, "path",
                      "must be claim names joined by dots, a dot inside a name written \\.");
    }
    if (!kind_parse(file.kind, &ret_rule->kind)) {
        return refuse(r, node, "kind", "must be space_string, array or string");
    }
    ret_rule->path = file.path;
    ret_rule->overage = file.overage.items;
    ret_rule->n_overage = file.overage.n;
    return true;
}

static bool check_single(const struct issuer_reader *r, const struct yaml_node *node,
                         const struct claim_rule *rule)
{
    if (rule->path.p && rule->kind != CLAIM_STRING) {
        yaml_error(r->policy->doc, node->line, node->key, r->detail,
                   "names one value; write kind: string");
        return false;
    }
    return true;
}

static bool read_claims(const struct issuer_reader *r, const struct yaml_node *map)
{
    struct claims_file file = {0};
    struct issuer *issuer = r->issuer;
    return yaml_read(r->policy->doc, map, CLAIMS_FIELDS,
                     sizeof(CLAIMS_FIELDS) / sizeof(CLAIMS_FIELDS[0]), &file, r->detail) &&
           read_rule(r, file.scopes, &issuer->scopes) &&
           read_rule(r, file.groups, &issuer->groups) &&
           read_rule(r, file.tenant, &issuer->tenant) &&
           check_single(r, file.tenant, &issuer->tenant) &&
           read_rule(r, file.client_id, &issuer->client_id) &&
           check_single(r, file.client_id, &issuer->client_id);
}

static bool read_tenants(const struct issuer_reader *r, const struct yaml_node *map)
{
    if (map->kind != YAML_MAP || map->n == 0) {
        return refuse(r, map, "tenants",
                      "must map at least one value of the tenant claim to a tenant's name");
    }
    struct tenant_name *tenants = arena_alloc(&r->policy->arena, map->n * sizeof(*tenants));
    for (const struct yaml_node *node = map->first; node; node = node->next) {
        if (node->kind != YAML_SCALAR || !scope_name_is_valid(node->text)) {
            yaml_error(r->policy->doc, node->line, node->key, r->detail,
                       "must map to a tenant's name: 1 to 64 letters, digits, . _ - beginning "
                       "with a letter or digit");
            return false;
        }
        tenants[r->issuer->n_tenants++] = (struct tenant_name){node->key, node->text};
    }
    r->issuer->tenants = tenants;
    return true;
}

static bool read_algs(const struct issuer_reader *r, const struct yaml_node *node,
                      const struct yaml_texts *algs)
{
    if (!algs->items) {
        r->issuer->algs = 1U << JWS_RS256 | 1U << JWS_ES256;
        return true;
    }
    for (size_t i = 0; i < algs->n; i++) {
        enum jws_alg alg;
        if (!jws_alg_parse(algs->items[i], &alg)) {
            return refuse(r, node, "algs",
                          "must list RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, "
                          "ES512 or EdDSA");
        }
        r->issuer->algs |= 1U << alg;
    }
    return algs->n > 0 || refuse(r, node, "algs", "is empty; name an algorithm or remove the key");
}

static bool check_keys(const struct issuer_reader *r, const struct yaml_node *node)
{
    const struct issuer *issuer = r->issuer;
    if (!issuer->jwks_file.p && !issuer->jwks_uri.p) {
        return refuse(r, node, "jwks_file", "is missing; give jwks_file or jwks_uri");
    }
    if (issuer->jwks_file.p && issuer->jwks_uri.p) {
        return refuse(r, node, "jwks_file", "stands beside jwks_uri; keep one of the two");
    }
    if (issuer->jwks_uri.p && !slice_starts(issuer->jwks_uri, SLICE_LIT("https://"))) {
        return refuse(r, node, "jwks_uri", "must begin with https://");
    }
    if (issuer->ca_file.p && !issuer->jwks_uri.p) {
        return refuse(r, node, "ca_file", "serves jwks_uri alone; remove it");
    }
    if (issuer->max_stale_s && !issuer->jwks_uri.p) {
        return refuse(r, node, "max_stale_s", "serves jwks_uri alone; remove it");
    }
    if (!issuer->max_stale_s) {
        r->issuer->max_stale_s = DEFAULT_MAX_STALE_S;
    }
    return true;
}

/* The issuer of a token is chosen by `iss`, so two entries may not claim the same. */
static bool check_iss(const struct issuer_reader *r, const struct yaml_node *node)
{
    for (const struct issuer *other = r->policy->issuers; other < r->issuer; other++) {
        if (slice_eq(other->iss, r->issuer->iss)) {
            return refuse(r, node, "iss", "is that of another issuer too; merge the two");
        }
    }
    return true;
}

static bool read_issuer(const struct issuer_reader *r, const struct yaml_node *node)
{
    struct issuer_file file = {.issuer = {.leeway_s = 30, .max_lifetime_s = 86400}};
    if (!yaml_read(r->policy->doc, node, ISSUER_FIELDS,
                   sizeof(ISSUER_FIELDS) / sizeof(ISSUER_FIELDS[0]), &file, r->detail)) {
        return false;
    }
    *r->issuer = file.issuer;
    r->issuer->name = node->key;
    r->issuer->audiences = file.audiences.items;
    r->issuer->n_audiences = file.audiences.n;
    r->issuer->max_scopes = (size_t)r->policy->limits.max_scopes;
    r->issuer->max_groups = (size_t)r->policy->limits.max_groups;
    if (file.audiences.n == 0) {
        return refuse(r, node, "audiences",
                      "is empty; name the resource that tokens are issued for");
    }
    return check_keys(r, node) && check_iss(r, node) && read_algs(r, node, &file.algs) &&
           read_claims(r, file.claims) && read_tenants(r, file.tenants);
}

bool policy_read_issuers(struct policy *p, const struct yaml_node *map, struct err_detail *detail)
{
    if (map->kind != YAML_MAP || map->n == 0) {
        yaml_error(p->doc, map->line, SLICE_LIT("issuers"), detail,
                   "must be a map with at least one issuer");
        return false;
    }
    p->issuers = arena_alloc(&p->arena, map->n * sizeof(*p->issuers));
    for (const struct yaml_node *node = map->first; node; node = node->next) {
        struct issuer_reader r = {p, &p->issuers[p->n_issuers], detail};
        if (!read_issuer(&r, node)) {
            return false;
        }
        p->n_issuers++;
    }
    return true;
}
