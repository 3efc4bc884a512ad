/* SPDX-License-Identifier: Apache-2.0 */
/* challenge: what an unauthorised caller is told (RFC 6750 §3, RFC 9728). Pure. */
#ifndef AUTH_CHALLENGE_H
#define AUTH_CHALLENGE_H

#include "service/base/dynbuf.h"

enum challenge {
    CHALLENGE_NO_TOKEN,           /* 401, no error attribute */
    CHALLENGE_INVALID_TOKEN,      /* 401 */
    CHALLENGE_INVALID_REQUEST,    /* 400 */
    CHALLENGE_INSUFFICIENT_SCOPE, /* 403 */
};

struct challenge_options {
    struct slice resource;      /* the public URL of /mcp, no trailing slash */
    const struct slice *scopes; /* challenge_scopes of the policy */
    size_t n_scopes;
    const struct slice *authorization_servers; /* issuer identifiers, at least one */
    size_t n_authorization_servers;
};

int challenge_status(enum challenge c);

/* The WWW-Authenticate value: Bearer error="…", scope="…", resource_metadata="…". */
void challenge_header(struct dynbuf *out, const struct challenge_options *o, enum challenge c);

/* The body, one for every cause of its kind: {"error":"invalid_token"}; empty for
 * CHALLENGE_NO_TOKEN. */
struct slice challenge_body(enum challenge c);

/* The RFC 9728 document of the resource. */
void challenge_metadata(struct dynbuf *out, const struct challenge_options *o);

/* resource with /.well-known/oauth-protected-resource between its authority and its path. */
void challenge_metadata_url(struct dynbuf *out, struct slice resource);

#endif
