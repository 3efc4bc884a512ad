/* SPDX-License-Identifier: Apache-2.0 */
/* policy: the strict YAML file that turns claims into a filter.
 *
 * Pure: bytes in. Thread: any; immutable and reference-counted. Failure: a file with anything
 * unknown, misspelt, dangling or contradictory is refused whole, with file, line, key and the fix.
 */
#ifndef SCOPE_POLICY_H
#define SCOPE_POLICY_H

#include "auth/claims.h"
#include "scope/filter.h"
#include "service/base/err.h"

struct policy; /* opaque */

struct policy *policy_parse(struct slice yaml, const char *file_name, struct err_detail *detail);
struct policy *policy_ref(struct policy *p);
void policy_unref(struct policy *p);

/* The issuers, in file order; at least one. They live as long as the policy. */
const struct issuer *policy_issuers(const struct policy *p, size_t *ret_n);

/* challenge_scopes: what 401/403 and scopes_supported show. */
const struct slice *policy_challenge_scopes(const struct policy *p, size_t *ret_n);

/* SHA-256 of the file's bytes, for logs and metrics. */
const struct digest *policy_hash(const struct policy *p);

/* Whether the token's jti, sub or client_id is on the revocation lists. */
bool policy_is_revoked(const struct policy *p, const struct claims *c);

/* A new filter (filter_unref): none where no grant applies or a limit is passed. Never NULL. */
struct filter *policy_compile(const struct policy *p, const struct claims *c);

/* One line of text for each grant and deny: whether it applies to the claims and the first unmet
 * condition; one more where a limit puts all of them out of force. For `kbgate check`. */
void policy_explain(const struct policy *p, const struct claims *c, struct dynbuf *out);

/* Appends the ids, separated by commas, of the grants that apply to the claims and let `where` be
 * seen, denies aside. For `kbgate check`. */
void policy_explain_scope(const struct policy *p, const struct claims *c,
                          const struct doc_scope *where, struct dynbuf *out);

#endif
