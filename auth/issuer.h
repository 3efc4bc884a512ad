/* SPDX-License-Identifier: Apache-2.0 */
/* issuer: what the policy says of one authorization server. Plain data, filled by scope/policy. */
#ifndef AUTH_ISSUER_H
#define AUTH_ISSUER_H

#include "service/base/slice.h"

#include <stdint.h>

/* JWS algorithms (RFC 7518 §3.1, RFC 8037); there is no symmetric one and no "none". */
enum jws_alg {
    JWS_RS256,
    JWS_RS384,
    JWS_RS512,
    JWS_PS256,
    JWS_PS384,
    JWS_PS512,
    JWS_ES256,
    JWS_ES384,
    JWS_ES512,
    JWS_EDDSA,
    JWS_ALG_COUNT
};

/* Exact-case name to algorithm; false for anything else. */
bool jws_alg_parse(struct slice name, enum jws_alg *ret_alg);
const char *jws_alg_name(enum jws_alg alg);

enum claim_kind { CLAIM_SPACE_STRING, CLAIM_ARRAY, CLAIM_STRING };

/* Where a claim stands: "realm_access.roles" is two steps; `\.` is a dot inside a step. */
struct claim_rule {
    struct slice path; /* as written */
    enum claim_kind kind;
    const struct slice *overage; /* groups only: top-level claims that say the list was left out */
    size_t n_overage;
};

struct tenant_name {
    struct slice claim_value, tenant;
};

struct issuer {
    struct slice name;      /* its key in the policy file */
    struct slice iss;       /* compared byte for byte */
    struct slice jwks_file; /* one of the two is set */
    struct slice jwks_uri;
    struct slice ca_file;          /* PEM; jwks_uri's server is trusted by these CAs alone */
    int64_t max_stale_s;           /* how long fetched keys serve without a successful fetch */
    const struct slice *audiences; /* byte-equal resource identifiers, at least one */
    size_t n_audiences;
    uint32_t algs;    /* bit (1 << enum jws_alg) for each allowed one */
    bool typ_any;     /* accept typ JWT */
    bool development; /* loopback addresses only */
    /* path SLICE_NONE: not mapped. A mapped client_id replaces the claim of that name. */
    struct claim_rule scopes, groups, tenant, client_id;
    const struct tenant_name *tenants;
    size_t n_tenants;
    int64_t leeway_s;       /* 0..300 */
    int64_t max_lifetime_s; /* exp - iat */
    size_t max_scopes, max_groups;
};

#endif
