/* SPDX-License-Identifier: Apache-2.0 */
/* claims: what a verified token says of its caller. All that later steps ever see of a token. */
#ifndef AUTH_CLAIMS_H
#define AUTH_CLAIMS_H

#include "auth/issuer.h"
#include "service/digest/digest.h"

struct claims {
    const struct issuer *issuer; /* outlives the claims: both belong to one policy */
    struct slice sub, client_id,
        jti;             /* client_id, jti: SLICE_NONE where typ_any lets them be absent */
    struct slice tenant; /* the mapped name; SLICE_NONE: missing or unknown, so no documents */
    const struct slice *scopes;
    size_t n_scopes;
    const struct slice *groups;
    size_t n_groups;
    bool groups_overage; /* conditions on groups count as unmet */
    int64_t expires_unix_s;
    struct digest subject; /* SHA-256 over (iss, sub): who is charged */
};

#endif
