/* SPDX-License-Identifier: Apache-2.0 */
/* token: from the Authorization header to claims and the filter they compile to. Whoever has no
 * grant is turned away here, before the body is looked at (RFC 6750 §3.1). */
#include "service/base/clock.h"
#include "service/pipeline/respond.h"

static enum step_result refuse(struct request *r, enum token_result why)
{
    atomic_fetch_add(&r->gate->metrics.tokens_refused[why], 1);
    return respond_challenge(r, CHALLENGE_INVALID_TOKEN);
}

/* False: *ret_challenge says how to answer. */
static bool find_token(const struct request *r, struct slice *ret_token,
                       enum challenge *ret_challenge)
{
    if (r->in.n_authorization > 1) {
        *ret_challenge = CHALLENGE_INVALID_REQUEST;
        return false;
    }
    if (r->in.surface == SURFACE_STDIO) {
        *ret_token = r->in.authorization;
        return true;
    }
    *ret_challenge = CHALLENGE_NO_TOKEN;
    return r->in.n_authorization == 1 && token_from_authorization(r->in.authorization, ret_token);
}

enum step_result token_begin(struct request *r)
{
    struct slice token = SLICE_NONE;
    enum challenge challenge;
    if (!find_token(r, &token, &challenge)) {
        return respond_challenge(r, challenge);
    }
    const struct access_rules *s = r->access;
    enum token_result result = token_cache_verify(r->gate->tokens, &s->trust, s->generation, token,
                                                  clock_unix_ms(), &r->verified);
    if (result == TOKEN_OK) {
        r->claims = r->verified->claims;
        result = policy_is_revoked(s->policy, &r->claims) ? TOKEN_REVOKED : TOKEN_OK;
    }
    if (result != TOKEN_OK) {
        return refuse(r, result);
    }
    r->filter = policy_compile(s->policy, &r->claims);
    if (filter_is_none(r->filter)) {
        return respond_challenge(r, CHALLENGE_INSUFFICIENT_SCOPE);
    }
    return STEP_NEXT;
}
