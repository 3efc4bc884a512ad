/* SPDX-License-Identifier: Apache-2.0 */
/* The policy as a whole: read once, then asked at every request. It fails closed: no tenant, too
 * many scopes or more matching grants than the limit make the filter `none`, never a shorter one.
 */
#include "scope/policy_parts.h"

#include "service/base/mem.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

struct policy_file {
    int64_t version;
    const struct yaml_node *issuers, *grants, *denies, *revoked, *limits;
    struct yaml_texts challenge_scopes;
};

#define AT(member) offsetof(struct policy_file, member)
static const struct yaml_field FILE_FIELDS[] = {
    {"policy_version", YAML_INTEGER, true, AT(version), 1, 1},
    {"issuers", YAML_SUBTREE, true, AT(issuers), 0, 0},
    {"grants", YAML_SUBTREE, true, AT(grants), 0, 0},
    {"denies", YAML_SUBTREE, false, AT(denies), 0, 0},
    {"revoked", YAML_SUBTREE, false, AT(revoked), 0, 0},
    {"challenge_scopes", YAML_TEXT_LIST, false, AT(challenge_scopes), 0, 0},
    {"limits", YAML_SUBTREE, false, AT(limits), 0, 0},
};
#undef AT

static const struct yaml_field REVOKED_FIELDS[] = {
    {"jti", YAML_TEXT_LIST, false, offsetof(struct revoked, jti), 0, 0},
    {"sub", YAML_TEXT_LIST, false, offsetof(struct revoked, sub), 0, 0},
    {"client_id", YAML_TEXT_LIST, false, offsetof(struct revoked, client_id), 0, 0},
};

static const struct yaml_field LIMIT_FIELDS[] = {
    {"max_scopes", YAML_INTEGER, false, offsetof(struct policy_limits, max_scopes), 1, 1024},
    {"max_groups", YAML_INTEGER, false, offsetof(struct policy_limits, max_groups), 1, 10000},
    {"max_matched_grants", YAML_INTEGER, false, offsetof(struct policy_limits, max_matched_grants),
     1, 1024},
};

static const struct policy_limits DEFAULT_LIMITS = {128, 256, 64};

/* RFC 6749 §3.3: they stand in a header, between quotes. */
static bool is_scope_token(struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < 0x21 || text.p[i] > 0x7E || text.p[i] == '"' || text.p[i] == '\\') {
            return false;
        }
    }
    return true;
}

void policy_error(const struct policy *p, const struct yaml_node *map, const char *key,
                  struct err_detail *detail, const char *format, ...)
{
    char reason[sizeof(detail->text)];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    const struct yaml_node *child = map->first;
    while (child && !slice_is(child->key, key)) {
        child = child->next;
    }
    yaml_error(p->doc, child ? child->line : map->line, slice_of(key), detail, "%s", reason);
}

static bool check_challenge_scopes(const struct policy *p, struct err_detail *detail)
{
    for (size_t i = 0; i < p->challenge_scopes.n; i++) {
        if (!is_scope_token(p->challenge_scopes.items[i])) {
            policy_error(p, yaml_root(p->doc), "challenge_scopes", detail,
                         "holds `%.64s`; a scope is printable ASCII without space, \" and \\",
                         p->challenge_scopes.items[i].p);
            return false;
        }
    }
    return true;
}

/* Limits first: every issuer carries a copy of them. */
static bool read_parts(struct policy *p, const struct policy_file *file, struct err_detail *detail)
{
    return (!file->limits ||
            yaml_read(p->doc, file->limits, LIMIT_FIELDS, 3, &p->limits, detail)) &&
           policy_read_issuers(p, file->issuers, detail) &&
           policy_read_grants(p, file->grants, detail) &&
           (!file->denies || policy_read_denies(p, file->denies, detail)) &&
           (!file->revoked ||
            yaml_read(p->doc, file->revoked, REVOKED_FIELDS, 3, &p->revoked, detail)) &&
           check_challenge_scopes(p, detail);
}

static bool read_file(struct policy *p, struct slice yaml, const char *file_name,
                      struct err_detail *detail)
{
    struct policy_file file = {0};
    p->doc = yaml_parse(yaml, file_name, detail);
    if (!p->doc || !yaml_read(p->doc, yaml_root(p->doc), FILE_FIELDS,
                              sizeof(FILE_FIELDS) / sizeof(FILE_FIELDS[0]), &file, detail)) {
        return false;
    }
    p->challenge_scopes = file.challenge_scopes;
    return read_parts(p, &file, detail);
}

struct policy *policy_parse(struct slice yaml, const char *file_name, struct err_detail *detail)
{
    struct policy *p = mem_alloc(sizeof(*p));
    atomic_init(&p->refs, 1);
    arena_init(&p->arena);
    p->limits = DEFAULT_LIMITS;
    digest_of(yaml, &p->hash);
    if (!read_file(p, yaml, file_name, detail)) {
        policy_unref(p);
        return NULL;
    }
    return p;
}

struct policy *policy_ref(struct policy *p)
{
    atomic_fetch_add_explicit(&p->refs, 1, memory_order_relaxed);
    return p;
}

void policy_unref(struct policy *p)
{
    if (p && atomic_fetch_sub_explicit(&p->refs, 1, memory_order_acq_rel) == 1) {
        yaml_doc_free(p->doc);
        arena_done(&p->arena);
        free(p);
    }
}

const struct issuer *policy_issuers(const struct policy *p, size_t *ret_n)
{
    *ret_n = p->n_issuers;
    return p->issuers;
}

const struct slice *policy_challenge_scopes(const struct policy *p, size_t *ret_n)
{
    *ret_n = p->challenge_scopes.n;
    return p->challenge_scopes.items;
}

const struct digest *policy_hash(const struct policy *p)
{
    return &p->hash;
}

static bool lists(const struct yaml_texts *texts, struct slice value)
{
    for (size_t i = 0; value.p && i < texts->n; i++) {
        if (slice_eq(texts->items[i], value)) {
            return true;
        }
    }
    return false;
}

bool policy_is_revoked(const struct policy *p, const struct claims *c)
{
    return lists(&p->revoked.jti, c->jti) || lists(&p->revoked.sub, c->sub) ||
           lists(&p->revoked.client_id, c->client_id);
}

const char *policy_bar(const struct policy *p, const struct claims *c)
{
    if (!c->tenant.p || c->tenant.n == 0) {
        return "the token names no known tenant";
    }
    if (c->n_scopes > (size_t)p->limits.max_scopes) {
        return "the token has more scopes than limits.max_scopes";
    }
    if (c->n_groups > (size_t)p->limits.max_groups) {
        return "the token has more groups than limits.max_groups";
    }
    return NULL;
}

bool grant_names_tenant(const struct grant *g, struct slice tenant)
{
    return lists(&g->tenants, tenant);
}

bool deny_applies(const struct deny *d, const struct claims *c)
{
    return !d->has_unless || condition_first_unmet(&d->unless, c) != CONDITION_COUNT;
}

/* At most `room`; returns how many there are, which may be more. */
static size_t match_grants(const struct policy *p, const struct claims *c, size_t room,
                           struct filter_grant *ret_grants)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_grants; i++) {
        const struct grant *g = &p->grants[i];
        if (grant_names_tenant(g, c->tenant) &&
            condition_first_unmet(&g->when, c) == CONDITION_COUNT) {
            if (n < room) {
                ret_grants[n] = g->allow;
            }
            n++;
        }
    }
    return n;
}

static size_t match_denies(const struct policy *p, const struct claims *c,
                           struct filter_deny *ret_denies)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_denies; i++) {
        if (deny_applies(&p->denies[i], c)) {
            ret_denies[n++] = p->denies[i].match;
        }
    }
    return n;
}

struct filter *policy_compile(const struct policy *p, const struct claims *c)
{
    size_t limit = (size_t)p->limits.max_matched_grants;
    size_t room = p->n_grants < limit ? p->n_grants : limit;
    struct filter_grant *grants = mem_array(room + 1, sizeof(*grants));
    struct filter_deny *denies = mem_array(p->n_denies + 1, sizeof(*denies));
    size_t n_grants = policy_bar(p, c) ? 0 : match_grants(p, c, room, grants);
    if (n_grants > limit) {
        n_grants = 0; /* part of a caller's rights is nobody's intention */
    }
    struct filter *f = filter_build(grants, n_grants, denies, match_denies(p, c, denies));
    free(grants);
    free(denies);
    return f;
}
