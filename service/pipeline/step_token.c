/* SPDX-License-Identifier: Apache-2.0 */
/* token: from the Authorization header to claims and the filter they compile to. Whoever has no
 * grant is turned away here, before the body is looked at (RFC 6750 §3.1). A token whose key is
 * missing or does not fit may wait for a fetch of its issuer's keys. */
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

static enum token_result verify(struct request *r)
{
    const struct access_rules *s = r->access;
    enum token_result result = token_cache_verify(r->gate->tokens, &s->trust, s->generation,
                                                  r->token, clock_unix_ms(), &r->verified);
    if (result == TOKEN_OK) {
        r->claims = r->verified->claims;
        result = policy_is_revoked(s->policy, &r->claims) ? TOKEN_REVOKED : TOKEN_OK;
    }
    return result;
}

/* The key that a token asked for in vain. */
struct missed {
    struct token_key key;
    struct jwks_source *source; /* where it could come from; NULL: nowhere */
    bool has_keys;              /* others of that issuer are in force */
};

static struct missed missed_key(struct request *r, enum token_result result)
{
    const struct access_rules *s = r->access;
    struct missed m = {.has_keys = true};
    if ((result == TOKEN_KEY || result == TOKEN_SIGNATURE) &&
        token_wants_key(&s->trust, r->token, &r->arena, &m.key)) {
        m.source = s->sources[m.key.issuer];
        m.has_keys = s->keys[m.key.issuer] != NULL;
    }
    return m;
}

static enum step_result conclude(struct request *r, enum token_result result,
                                 const struct missed *m)
{
    if (!m->has_keys) { /* the token is neither good nor bad */
        r->failure = ERR_KEYS_DOWN;
        return STEP_FAIL;
    }
    if (result != TOKEN_OK) {
        return refuse(r, result);
    }
    r->filter = policy_compile(r->access->policy, &r->claims);
    if (filter_is_none(r->filter)) {
        return respond_challenge(r, CHALLENGE_INSUFFICIENT_SCOPE);
    }
    return STEP_NEXT;
}

enum step_result token_begin(struct request *r)
{
    enum challenge challenge;
    if (!find_token(r, &r->token, &challenge)) {
        return respond_challenge(r, challenge);
    }
    enum token_result result = verify(r);
    const struct missed m = missed_key(r, result);
    if (m.source && jwks_source_refresh(m.source, r->loop, m.key.kid, &r->keys_op)) {
        request_await(r); /* a fetch never ends inside the call that asks for it */
        return STEP_WAIT;
    }
    return conclude(r, result, &m);
}

/* Once more, by the rules that are in force now. */
enum step_result token_finish(struct request *r)
{
    access_rules_unref(r->access);
    r->access = gate_access_rules(r->gate);
    enum token_result result = verify(r);
    const struct missed m = missed_key(r, result);
    return conclude(r, result, &m);
}
