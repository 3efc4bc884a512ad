/* SPDX-License-Identifier: Apache-2.0 */
/* policy_parts: what a policy is made of, and how its file is read. Private to this folder. */
#ifndef SCOPE_POLICY_PARTS_H
#define SCOPE_POLICY_PARTS_H

#include "scope/condition.h"
#include "scope/filter_build.h"
#include "scope/policy.h"
#include "service/base/arena.h"

#include <stdatomic.h>

struct grant {
    struct slice id;
    struct yaml_texts tenants;
    struct condition when;
    struct filter_grant allow;
};

struct deny {
    struct slice id;
    bool has_unless;
    struct condition unless;
    struct filter_deny match;
};

struct revoked {
    struct yaml_texts jti, sub, client_id;
};

struct policy_limits {
    int64_t max_scopes, max_groups, max_matched_grants;
};

struct policy {
    atomic_size_t refs;
    struct yaml_doc *doc; /* every text of the policy lies in it */
    struct arena arena;
    struct digest hash;
    struct issuer *issuers;
    size_t n_issuers;
    struct grant *grants;
    size_t n_grants;
    struct deny *denies;
    size_t n_denies;
    struct revoked revoked;
    struct yaml_texts challenge_scopes;
    struct policy_limits limits;
};

/* Each fills its part of p; false with a reason. */
bool policy_read_issuers(struct policy *p, const struct yaml_node *map, struct err_detail *detail);
bool policy_read_grants(struct policy *p, const struct yaml_node *list, struct err_detail *detail);
bool policy_read_denies(struct policy *p, const struct yaml_node *list, struct err_detail *detail);

/* Writes "FILE:LINE: key `KEY`: …" with the line of map's own KEY, or of map where it has none. */
void policy_error(const struct policy *p, const struct yaml_node *map, const char *key,
                  struct err_detail *detail, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

/* Why a caller gets nothing before any grant is looked at; NULL: nothing stands against it. */
const char *policy_bar(const struct policy *p, const struct claims *c);

bool grant_names_tenant(const struct grant *g, struct slice tenant);

/* A deny holds for everybody who does not meet its `unless`. */
bool deny_applies(const struct deny *d, const struct claims *c);

#endif
