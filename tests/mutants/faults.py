# SPDX-License-Identifier: Apache-2.0
"""The faults: mistakes that real verifiers and filters have had, each as a change of a few characters.

fault(name, what, suites, (file, old, new)…): `old` stands in `file` exactly once. Suites are those that
should notice: a unit target, with a Criterion filter where the whole would take long."""

from typing import NamedTuple


class Change(NamedTuple):
    file: str
    old: str
    new: str


class Fault(NamedTuple):
    name: str
    what: str
    suites: list
    changes: list


FAULTS: list[Fault] = []


def fault(name, what, suites, *changes):
    FAULTS.append(Fault(name, what, suites, [Change(*c) for c in changes]))


# The quick part first: making keys takes most of the time.
AUTH = ["unit_auth:!(jws_verify|jwks|token_mutation)/*", "unit_auth"]
SCOPE, CACHE, PIPELINE, YAML = ["unit_scope"], ["unit_cache"], ["unit_service_pipeline"], ["unit_service_yaml", "unit_scope"]
EMBEDDED = ["unit_service_retrieval:embedded*/*"]
POSTINGS, SCORING = ["unit_service_retrieval:postings/*"], ["unit_service_retrieval:@(maxscore|lexical)/*"]
INDEX = ["unit_service_retrieval:@(segment|segment_index|segment_write_terms|lexical)/*"]
WHOLE = ["unit_whole:hidden/*"]
FLIGHT, SHARED = ["unit_cache:flight/*"], ["unit_cache:shared*/*"]
FENCE = ["unit_service_retrieval:@(fence|shape|shape_passages)/*"]
PLAIN = ["unit_service_retrieval:@(neutralise_plain|text_normal)/*"]
SCAN = ["unit_service_retrieval:@(scan|scan_rules|scan_words)/*"]
ABSTAIN = ["unit_service_retrieval:abstain/*"]
BUDGET = ["unit_cache:budget*/*"]

# --- the token: shape and header ---

fault("no_size_limit", "tokens of any length are decoded", AUTH,
      ("auth/token.c", "return c->token.n <= TOKEN_MAX_BYTES ? TOKEN_OK : TOKEN_TOO_LARGE;", "(void)c;\n    return TOKEN_OK;"))
fault("more_segments", "what stands behind a third dot is not looked at", AUTH,
      ("auth/jws.c", "rest.n &&\n           !next_segment(&rest, &more);", "rest.n &&\n           (!next_segment(&rest, &more) || (ret_segments->signature = more).n);"))
fault("loose_base64", "unused bits of the last character may be set", AUTH,
      ("service/base/encode.c", "bool good = seen < 64 && (held & ((1U << bits) - 1)) == 0;", "bool good = seen < 64;"))
fault("duplicate_keys", "the last of two equal members wins", AUTH,
      ("auth/strict_json.c", "JSON_REJECT_DUPLICATES", "0"))
fault("any_json_value", "an array passes for an object", AUTH,
      ("auth/strict_json.c", "if (value && !json_is_object(value)) {", "if (false) {"))
fault("crit_ignored", "extensions that must be understood are skipped", AUTH,
      ("auth/jws.c", '{"crit", "b64",', '{"b64", "b64",'))
fault("embedded_key_tolerated", "jwk in the header is skipped", AUTH,
      ("auth/jws.c", '"zip", "jwk",', '"zip", "zip",'))
fault("any_typ", "every typ passes", AUTH,
      ("auth/token.c", "return good ? TOKEN_OK : TOKEN_TYP;", "(void)good;\n    return TOKEN_OK;"))
fault("header_decides_alg", "the header's alg is used, not the key's", AUTH,
      ("auth/jws_verify.c", "bool good = jws->alg == key->alg && verify(jws, key);",
       "struct jwk as_said = *key;\n    as_said.alg = jws->alg;\n    bool good = verify(jws, &as_said);"))
fault("issuer_algs_ignored", "any algorithm of ours will do for any issuer", AUTH,
      ("auth/token.c", "issuers[c->at].algs >> c->jws.alg & 1 ?", "issuers[c->at].algs ?"))

# --- issuer, key, signature ---

fault("issuer_by_prefix", "an issuer that begins like a known one is that one", AUTH,
      ("auth/token.c", "if (slice_eq(iss, c->trust->issuers[c->at].iss)) {", "if (slice_starts(iss, c->trust->issuers[c->at].iss)) {"))
fault("keys_of_any_issuer", "keys are looked up without regard to the issuer", AUTH,
      ("auth/token.c", "c->trust->keys[c->at];", "c->trust->keys[0];"))
fault("kid_without_alg", "a key is found by its kid whatever its algorithm", AUTH,
      ("auth/jwks.c", "if (set->keys[i].alg == alg && is_kid_of(&set->keys[i], kid)) {", "if (is_kid_of(&set->keys[i], kid)) {"))
fault("first_key_without_kid", "without a kid the first of several keys is taken", AUTH,
      ("auth/jwks.c", "            if (found) {\n                return NULL;\n            }\n", ""))
fault("same_kid_twice", "of two keys with one kid the first is kept", AUTH,
      ("auth/jwks.c", "    drop_equal_kids(set);\n}", "    if (set->n > JWKS_MAX_KEYS) {\n        drop_equal_kids(set);\n    }\n}"))
fault("small_rsa", "RSA keys of 512 bits are loaded", AUTH,
      ("auth/jwk_material.c", "RSA_MIN_BITS = 2048,", "RSA_MIN_BITS = 512,"))
fault("rsa_exponent", "an RSA exponent of 1 is loaded", AUTH,
      ("auth/jwk_material.c", "RSA_MIN_EXPONENT = 65537,", "RSA_MIN_EXPONENT = 1,"))
fault("encryption_keys", "keys for encryption verify signatures", AUTH,
      ("auth/jwk.c", 'return (!use || slice_is(strict_json_text(use), "sig")) &&', "return (!use || json_is_string(use)) &&"))
fault("private_keys", "a published private key is still trusted", AUTH,
      ("auth/jwk.c", "if (has_private_member(member) ||", "if ((false && has_private_member(member)) ||"))
fault("failed_is_verified", "a failed verification counts as one", AUTH,
      ("auth/jws_verify.c", "(const unsigned char *)input.p, input.n) == 1;", "(const unsigned char *)input.p, input.n) >= 0;"))
fault("long_ecdsa_signature", "bytes behind r and s are ignored", AUTH,
      ("auth/jws_verify.c", "if (signature.n != 2 * n) {", "if (signature.n < 2 * n) {"))
fault("any_pss_salt", "any salt length passes", AUTH,
      ("auth/jws_verify.c", "RSA_PSS_SALTLEN_DIGEST", "RSA_PSS_SALTLEN_AUTO"))
fault("dirty_error_queue", "OpenSSL's errors stay for the next caller on the thread", AUTH,
      ("auth/jws_verify.c", "    ERR_clear_error(); /* a dirty queue can fail somebody else's TLS connection on this thread */\n", ""))

# --- claims ---

fault("audience_skipped", "tokens for other services pass", AUTH,
      ("auth/claims.c", "enum token_result result = check_audience(payload, issuer);", "enum token_result result = TOKEN_OK;\n    (void)check_audience;"))
fault("audience_by_prefix", "an audience that begins like ours is ours", AUTH,
      ("auth/claims.c", "if (slice_eq(value, issuer->audiences[i])) {", "if (slice_starts(value, issuer->audiences[i])) {"))
fault("expiry_skipped", "expired tokens pass", AUTH,
      ("auth/claims.c", "if (now_s >= exp.unix_s + leeway_s) {", "if (false) {"))
fault("text_exp_is_absent", "an expiry of the wrong type counts as none, and none as for ever", AUTH,
      ("auth/claims.c", "(struct moment){value != NULL, json_number_value(value)};", "(struct moment){json_is_number(value), json_number_value(value)};"),
      ("auth/claims.c", "return !value || (json_is_number(value) &&", "return !json_is_number(value) || (true &&"),
      ("auth/claims.c", "!exp.there || exp.unix_s <= 0 ||", "(exp.there && exp.unix_s <= 0) ||"),
      ("auth/claims.c", "if (now_s >= exp.unix_s + leeway_s) {", "if (exp.there && now_s >= exp.unix_s + leeway_s) {"))
fault("text_nbf_is_absent", "a date of the wrong type counts as none", AUTH,
      ("auth/claims.c", "(struct moment){value != NULL, json_number_value(value)};", "(struct moment){json_is_number(value), json_number_value(value)};"),
      ("auth/claims.c", "return !value || (json_is_number(value) &&", "return !json_is_number(value) || (true &&"))
fault("nbf_skipped", "tokens pass before their time", AUTH,
      ("auth/claims.c", "if ((nbf.there && nbf.unix_s > now_s + leeway_s) ||", "if ((false && nbf.there) ||"))
fault("lifetime_unlimited", "tokens may live for years", AUTH,
      ("auth/claims.c", "> (double)issuer->max_lifetime_s) {", "> 1e15) {"))
fault("leeway_unlimited", "the policy may set any leeway", SCOPE,
      ("scope/policy_issuers.c", '{"leeway_s", YAML_INTEGER, false, AT(issuer.leeway_s), 0, 300},', '{"leeway_s", YAML_INTEGER, false, AT(issuer.leeway_s), 0, 300000000},'))
fault("id_token", "an ID token passes for an access token", AUTH,
      ("auth/claims.c", "issuer->typ_any && is_id_token(payload)", "issuer->typ_any && false && is_id_token(payload)"))
fault("scope_of_any_type", "a scope claim of the wrong type counts as none", AUTH,
      ("auth/claims_map.c", "issuer->max_scopes, arena, &values) != VALUES_OK) {", "issuer->max_scopes, arena, &values) == VALUES_TOO_MANY) {"))
fault("array_elements_split", "an array's element is cut at its spaces", AUTH,
      ("auth/claims_map.c", "items[i] = arena_copy(arena, strict_json_text(json_array_get(claim, i)));",
       "struct slice element = strict_json_text(json_array_get(claim, i));\n        items[i] = arena_copy(arena, element.n ? next_word(&element) : element);"))
fault("overage_sign_ignored", "a part of the groups counts as all of them", AUTH,
      ("auth/claims_map.c", "result == VALUES_TOO_MANY || says_left_out(payload, &issuer->groups);", "result == VALUES_TOO_MANY || (false && says_left_out(payload, &issuer->groups));"))
fault("default_tenant", "a token without a known tenant gets the first", AUTH,
      ("auth/claims_map.c", "    claims->tenant = SLICE_NONE;\n", "    claims->tenant = issuer->tenants[0].tenant;\n"))
fault("error_code_without_token", "a challenge to no token names an error", AUTH,
      ("auth/challenge.c", "[CHALLENGE_NO_TOKEN] = {401, NULL},", '[CHALLENGE_NO_TOKEN] = {401, "invalid_token"},'))

# --- the policy and its filter ---

fault("grants_merged", "the dimensions of several grants are united", SCOPE,
      ("scope/filter.c", "        if (grant_permits(&f->grants[i], where)) {\n            return true;\n        }\n    }\n    return false;",
       "        seen |= set_has(&f->grants[i].collections, where->collection) ? 1U : 0U;\n        seen |= set_has(&f->grants[i].doc_types, where->doc_type) ? 2U : 0U;\n"
       "        seen |= set_has_every(&f->grants[i].labels, where->labels, where->n_labels) ? 4U : 0U;\n    }\n    (void)grant_permits;\n    return seen == 7U;"),
      ("scope/filter.c", "bool filter_permits(const struct filter *f, const struct doc_scope *where)\n{\n", "bool filter_permits(const struct filter *f, const struct doc_scope *where)\n{\n    unsigned seen = 0;\n"))
fault("empty_means_all", "an empty list matches everything", SCOPE,
      ("scope/filter.c", "    return set->all ||\n           (set->n &&", "    return set->all || set->n == 0 ||\n           (set->n &&"))
fault("any_label", "one listed label of a document is enough", SCOPE,
      ("scope/filter.c", "set_has_every(&grant->labels, where->labels, where->n_labels);", "(set_has_every(&grant->labels, where->labels, where->n_labels) ||\n            set_has_any(&grant->labels, where->labels, where->n_labels));"))
fault("unlabelled_for_all", "a document without labels is seen by every grant", SCOPE,
      ("scope/filter.c", "    return n > 0;\n}", "    return true;\n}"))
fault("nameless_for_star", "a document of no collection is seen by \"*\"", SCOPE,
      ("scope/filter.c", "if (where->collection.n == 0 || where->doc_type.n == 0) {", "if (where->doc_type.n == 0) {"))
fault("denies_ignored", "denies have no force", SCOPE,
      ("scope/filter.c", "if (deny_matches(&f->denies[i], where)) {", "if (false && deny_matches(&f->denies[i], where)) {"))
fault("denies_not_in_digest", "the filter's digest leaves its denies out", SCOPE,
      ("scope/filter.c", 'write_sorted(&w, "none_of", denies, f->n_denies);', 'write_sorted(&w, "none_of", denies, 0);'))
fault("unless_inverted", "a deny holds for those it exempts", SCOPE,
      ("scope/policy.c", "condition_first_unmet(&d->unless, c) != CONDITION_COUNT;", "condition_first_unmet(&d->unless, c) == CONDITION_COUNT;"))
fault("claim_star", "a claim of \"*\" meets every condition", SCOPE,
      ("scope/condition.c", "if (slice_eq(values[i], wanted)) {", 'if (slice_eq(values[i], wanted) || slice_is(values[i], "*")) {'))
fault("one_of_all", "one of several required values is enough", SCOPE,
      ("scope/condition.c", "return found > 0 && (!every || found == wanted->n);", "(void)every;\n    return found > 0;"))
fault("overage_meets_groups", "conditions on groups look at a list that is not whole", SCOPE,
      ("scope/condition.c", "return !claims->groups_overage && meets(wanted, false, claims->groups, claims->n_groups);", "return meets(wanted, false, claims->groups, claims->n_groups);"))
fault("groups_as_scopes", "a group stands for a scope of its name", SCOPE,
      ("scope/condition.c", "case CONDITION_SCOPES_ANY: return meets(wanted, false, claims->scopes, claims->n_scopes);",
       "case CONDITION_SCOPES_ANY: return meets(wanted, false, claims->scopes, claims->n_scopes) ||\n               meets(wanted, false, claims->groups, claims->n_groups);"))
fault("grants_of_any_tenant", "a grant holds for every tenant", SCOPE,
      ("scope/policy.c", "return lists(&g->tenants, tenant);", "return tenant.n || lists(&g->tenants, tenant);"))
fault("grants_cut_at_the_limit", "past the limit some of the grants hold", SCOPE,
      ("scope/policy.c", "n_grants = 0; /* part of a caller's rights is nobody's intention */", "n_grants = limit;"))
fault("revoked_ignored", "revoked subjects pass", SCOPE,
      ("scope/policy.c", "lists(&p->revoked.sub, c->sub) ||", ""))
fault("unknown_tenant_in_grant", "a grant may name a tenant that nobody maps", SCOPE,
      ("scope/policy_rules.c", "        if (!tenant_is_known(r->policy, tenants->items[i])) {", "        if (false && !tenant_is_known(r->policy, tenants->items[i])) {"))
fault("unknown_keys_skipped", "a misspelt key of the policy is skipped", YAML,
      ("service/yaml/read.c", "        if (at == n_fields) {\n", "        if (at == n_fields && map->n) {\n            continue;\n        }\n        if (at == n_fields) {\n"))
fault("same_key_twice", "the last of two equal keys of the policy wins", YAML,
      ("service/yaml/parse.c", "    if (repeated) {\n        yaml_error(b->doc, repeated->line,", "    repeated = NULL;\n    if (repeated) {\n        yaml_error(b->doc, repeated->line,"))

# --- caches and budgets ---

fault("key_without_filter", "callers with other rights share answers", CACHE,
      ("cache/key.c", "    hasher_part(&h, digest_slice(&parts->filter->value));\n", ""))
fault("key_without_tenant", "a free hit tells what another tenant asked", CACHE,
      ("cache/key.c", "    hasher_part(&h, parts->tenant);\n", ""))
fault("key_without_version", "answers outlive the version they name", CACHE,
      ("cache/key.c", "    hasher_part(&h, slice_of(parts->index_version));\n", ""))
fault("token_cache_by_part", "a token is remembered by a part of its bytes", CACHE,
      ("cache/token_cache.c", "    digest_of(token, &key);\n", "    digest_of((struct slice){token.p, token.n / 2}, &key);\n"))
fault("token_cache_by_kid", "a token is remembered by its header, that is by its kid alone", CACHE,
      ("cache/token_cache.c", "    digest_of(token, &key);\n",
       "    const char *dot = memchr(token.p, '.', token.n);\n    digest_of((struct slice){token.p, dot ? (size_t)(dot - token.p) : token.n}, &key);\n"))
fault("token_cache_of_any_generation", "a token outlives the keys and the policy it was checked by", CACHE,
      ("cache/token_cache.c", "e && e->generation == generation &&", "e &&"))
fault("token_cache_past_expiry", "a remembered token outlives its expiry", CACHE,
      ("cache/token_cache.c", "return expires_ms < latest_ms ? expires_ms : latest_ms;", "return expires_ms < 0 ? expires_ms : latest_ms;"))
fault("charged_twice", "the same call is charged again", BUDGET,
      ("cache/budget_local.c", "            remember(l, bill, now_us, true);\n", ""))
fault("refund_forgotten", "a failed call stays charged", BUDGET,
      ("cache/budget_local.c", "            refund_counter(find_counter(l, &line->counter), &line->rule, memory);\n",
       "            (void)line;\n            (void)refund_counter;\n"))
fault("denied_yet_charged", "a call that one limit denies is charged to the others", BUDGET,
      ("cache/budget_take.lua", "    if charged then\n        write(KEYS[i],", "    if new[i] then\n        write(KEYS[i],"))
fault("another_wait", "the wait told is the last limit's, not the longest", BUDGET,
      ("cache/budget_take.lua", "if wait > longest then", "if wait > 0 then"))
fault("endless_bucket", "a level that somebody else wrote is believed", BUDGET,
      ("cache/budget_take.lua", "math.min(second, full)", "second"), ("cache/budget_take.lua", "math.min(level, full)", "level"))
fault("refund_of_yesterday", "a refund after midnight is taken from the new day", BUDGET,
      ("cache/budget_refund.lua", "elseif first == day then", "elseif first then"))
fault("replicas_multiply", "without Redis each replica lets the whole limit pass", BUDGET,
      ("cache/budget.c", "t->b->replicas_max, t->now_ms", "BUDGET_WHOLE, t->now_ms"))
fault("paid_without_redis", "a tool that costs money runs while nobody counts", BUDGET,
      ("cache/budget.c", "        return ERR_BUDGET_DOWN;\n", ""))
fault("coming_and_going", "each time Redis goes a share of the day is lent anew", BUDGET,
      ("cache/budget_local.c", "a->has_day && today + cost > a->day", "a->has_day && cost > a->day"))
fault("reply_believed", "a denial of a limit that was not asked about is a denial", BUDGET,
      ("cache/budget_shared.c", "window >= 1 && (size_t)window <= n_windows", "window >= 0"))

# --- answers that replicas share ---

fault("hmac_not_compared", "whoever knows the format writes answers", SHARED,
      ("cache/shared_value.c", "!split(bytes, &p) || !is_ours(hmac_key, &p)", "!split(bytes, &p) || (!is_ours(hmac_key, &p) && !bytes.n)"))
fault("shared_key_not_compared", "an answer of ours is taken under another key", SHARED,
      ("cache/shared_value.c", "memcmp(p.head.p + AT_KEY, key->value.bytes, DIGEST_BYTES) != 0 ||", ""))
fault("tenants_in_one_place", "what lies in Redis is found without regard to the tenant", SHARED,
      ("cache/shared_cache.c", "    digest_of(place->tenant, &tenant);\n", "    digest_of(SLICE_LIT(\"\"), &tenant);\n"))
fault("large_values_stay", "what is too large for an answer crosses the wire with every call", SHARED,
      ("cache/shared_find.lua", " or bytes > tonumber(ARGV[3])", ""))
fault("endless_lock", "a lock without an end stops everybody for its own time", SHARED,
      ("cache/shared_find.lua", "if left < 0 or left > tonumber(ARGV[2]) then", "if left > tonumber(ARGV[2]) then"))
fault("lock_not_released", "a find that is cancelled on its way keeps the lock", SHARED,
      ("cache/shared_find.c", "        op_cancel(&f->call.op);\n        shared_release(f->cache, &f->spot, f->token);\n", "        op_cancel(&f->call.op);\n"))
fault("late_lock_kept", "a find whose reply was late keeps the lock", SHARED,
      ("cache/shared_find.c", "        shared_release(f->cache, &f->spot, f->token);\n        find_unavailable(f);\n", "        find_unavailable(f);\n"))
fault("any_lock_released", "a lock that is another's by now is released", SHARED,
      ("cache/shared_release.lua", "if redis.call('GET', KEYS[1]) == ARGV[1] then", "if redis.call('GET', KEYS[1]) then"))
fault("last_writer_wins", "who stores second answers with its own", SHARED,
      ("cache/shared_keep.c", "    keep_end(k, first);\n", "    cache_release(first);\n    keep_end(k, NULL);\n"))
fault("waits_for_ever", "who finds the lock taken waits until it is free", SHARED,
      ("cache/shared_find.c", "    if (left_ms <= 0) {", "    left_ms = LONGEST_WAIT_MS;\n    if (left_ms <= 0) {"))
fault("hand_over_dropped", "nobody hears that it leads when a leader leaves", FLIGHT,
      ("cache/flight.c", "    tell(f->leader, (struct boarding){.leads = true}, ERR_OK);\n", ""))
fault("hand_over_kept", "who leaves before it hears that it leads keeps the lead", FLIGHT,
      ("cache/flight.c", "    if (f && f->leader == s) {\n", "    if (f && f->leader == s && s->is_posted) {\n    } else if (f && f->leader == s) {\n"))

# --- retrieval ---

fault("view_without_filter", "every partition is searched", EMBEDDED,
      ("service/retrieval/embedded_view.c", "if (filter_permits(f, &s->segments[i]->partition.scope)) {", "if (f) {"))
fault("version_of_everything", "index_version covers hidden partitions", EMBEDDED,
      ("service/retrieval/embedded_view.c", "    index_version_write(e->partitions, n, profile, e->view.index_version);\n",
       "    struct partition *all = mem_array(s->n, sizeof(*all));\n    for (size_t i = 0; i < s->n; i++) {\n        all[i] = s->segments[i]->partition;\n    }\n"
       "    index_version_write(all, s->n, profile, e->view.index_version);\n    free(all);\n"))
fault("statistics_of_everything", "hidden documents count in the statistics", EMBEDDED,
      ("service/retrieval/lexical.h", "    size_t n_segments;\n", "    size_t n_segments;\n    struct segment_reader *const *all;\n    size_t n_all;\n"),
      ("service/retrieval/lexical.c", "    for (size_t i = 0; i < q->n_segments; i++) {\n        sum.n_chunks += q->segments[i]->n_chunks;\n        sum.total_length += q->segments[i]->total_length;\n",
       "    for (size_t i = 0; i < q->n_all; i++) {\n        sum.n_chunks += q->all[i]->n_chunks;\n        sum.total_length += q->all[i]->total_length;\n"),
      ("service/retrieval/embedded_view.c", "    enum err e = lexical_search(&lexical, ret_hits);\n",
       "    lexical.all = ((struct embedded_view *)v)->snapshot->segments;\n    lexical.n_all = ((struct embedded_view *)v)->snapshot->n;\n    enum err e = lexical_search(&lexical, ret_hits);\n"))
fault("filtered_afterwards", "every partition is searched and hidden hits are dropped from what was found", WHOLE,
      ("service/retrieval/embedded_view.c", "    enum err e = lexical_search(&lexical, ret_hits);\n",
       "    lexical.segments = ((struct embedded_view *)v)->snapshot->segments;\n    lexical.n_segments = ((struct embedded_view *)v)->snapshot->n;\n"
       "    enum err e = lexical_search(&lexical, ret_hits);\n    size_t kept = 0;\n    for (size_t i = 0; e == ERR_OK && i < (*ret_hits)->n; i++) {\n"
       "        struct hit *hit = &(*ret_hits)->items[i];\n        for (size_t k = 0; k < hit->n_also; k++) {\n"
       "            hit->n_also = filter_permits(v->filter, &hit->also[k].scope) ? hit->n_also : k;\n        }\n"
       "        if (filter_permits(v->filter, &hit->scope)) {\n            (*ret_hits)->items[kept++] = *hit;\n        }\n    }\n"
       "    if (e == ERR_OK) {\n        (*ret_hits)->n = kept;\n    }\n"))
fault("counts_of_everything", "kb://index counts hidden documents", WHOLE,
      ("service/retrieval/embedded_view.c", "            e->partitions[n++] = s->segments[i]->partition;\n        }\n",
       "            e->partitions[n++] = s->segments[i]->partition;\n        } else if (n > 0) {\n"
       "            e->partitions[n - 1].n_docs += s->segments[i]->partition.n_docs;\n        }\n"))
fault("hidden_is_forbidden", "reading a hidden document fails otherwise than reading a missing one", WHOLE,
      ("service/retrieval/embedded_view.c", "segment_doc_at(r, doc), q, h) : ERR_OK;\n",
       "segment_doc_at(r, doc), q, h) : ERR_OK;\n    const struct snapshot *all = ((struct embedded_view *)v)->snapshot;\n"
       "    for (size_t i = 0; !r && i < all->n; i++) {\n        e = segment_find_doc(all->segments[i], q->doc_id, &doc) ? ERR_BACKEND_DOWN : e;\n    }\n"))
fault("bound_too_low", "a block's highest frequency is rounded down", POSTINGS,
      ("service/retrieval/postings_encode.c", "segment_put(at + 2 * i, code_up(b->tf[i]), 1);", "segment_put(at + 2 * i, code_down(b->tf[i] + 0 * code_up(1)), 1);"))
fault("equal_scores_passed_over", "what could only equal the threshold is not looked at", SCORING,
      ("service/retrieval/maxscore.c", "m->below[m->n_weak + 1] < candidates_threshold(m->found)", "m->below[m->n_weak + 1] <= candidates_threshold(m->found)"))
fault("weights_by_segment", "a term weighs by its frequency in each segment alone", SCORING,
      ("service/retrieval/maxscore.c", "        l->weight = m->weights[t];\n", "        l->weight = bm25_weight(m->norms.model, postings[t].df);\n"))
fault("matched_bit_lost", "terms found by asking a weak list are not told", SCORING,
      ("service/retrieval/maxscore.c", "            m->masks[at * m->mask_words + l->term / 64] |= UINT64_C(1) << l->term % 64;\n", ""))
fault("other_dates_raise_the_threshold", "chunks of dates that were not asked for push others out", SCORING,
      ("service/retrieval/maxscore.c", "    if (is_asked_for(m, chunk) && add_weak(m, at, &score)) {\n",
       "    bool good = add_weak(m, at, &score);\n    if (good) {\n        top_texts_add(&m->found->best, segment_chunk_at(reader_of(m), chunk).text_hash, score);\n    }\n    if (good && is_asked_for(m, chunk)) {\n"))
fault("equal_by_hash_alone", "texts that share a hash count as one", SCORING,
      ("service/retrieval/select_hits.c", "*ret_equal = e == ERR_OK && slice_eq(own, text);", "*ret_equal = e == ERR_OK && text.p;"))
fault("fetch_past_the_view", "a document is fetched by id from any partition", EMBEDDED,
      ("service/retrieval/embedded_view.c", "    for (size_t i = 0; i < e->view.n_partitions; i++) {\n        if (slice_eq(e->view.partitions[i].scope.collection, q->collection) &&\n            segment_find_doc(e->segments[i], q->doc_id, ret_doc)) {\n            return e->segments[i];\n",
       "    for (size_t i = 0; i < e->snapshot->n; i++) {\n        struct segment_reader *r = e->snapshot->segments[i];\n        if (slice_eq(r->partition.scope.collection, q->collection) &&\n            segment_find_doc(r, q->doc_id, ret_doc)) {\n            return r;\n"))
fault("index_not_hashed", "an index file is served whatever its SHA-256", INDEX,
      ("service/retrieval/segment_index.c", "return store_is_published(path, &found, expected, detail);", "(void)detail, (void)path, (void)expected;\n    return true;"))
fault("index_of_other_content", "an index is taken for another content's", INDEX,
      ("service/retrieval/segment_index.c", "return digest_eq(&h->content, &expected->content) && h->n_docs", "return h->n_docs"))
fault("term_by_hash_alone", "a term is whatever has its hash", INDEX,
      ("service/retrieval/segment_index.c", "if (slice_eq(r.term, term->text)) {", "if (r.term.n > 0) {"))
fault("record_past_the_end", "a record's postings may reach past the records", INDEX,
      ("service/retrieval/segment_index.c", "    if (rest->n < n) {\n", "    if (rest->n < n && n > 1000) {\n"))
fault("postings_past_the_end", "a record may name postings outside of their section", INDEX,
      ("service/retrieval/segment_index.c", "place > x->postings.n || x->postings.n - place < n", "place > x->postings.n + n"))
fault("bucket_past_the_end", "a bucket may be anywhere", INDEX,
      ("service/retrieval/segment_index.c", "        good = begin >= last;\n", "        good = begin >= last || begin < last;\n"))
fault("bucket_of_the_term_alone", "whoever knows the hash can aim terms at one bucket", INDEX,
      ("service/retrieval/segment_format.h", "uint64_t mixed = (hash ^ seed) *", "uint64_t mixed = (hash ^ (seed & 0)) *"))
fault("records_without_ceiling", "the ceiling of the records is not looked at", INDEX,
      ("service/retrieval/segment_write_terms.c", "    deal_terms(&d, terms, seed);\n", "    out->records.max_bytes = SIZE_MAX / 2;\n    deal_terms(&d, terms, seed);\n"))
fault("document_of_any_chunk", "a chunk may name any document", INDEX,
      ("service/retrieval/segment_index.c", "good = c.doc == doc &&", "good ="))
fault("fence_without_key", "the fence's tag needs no secret", FENCE,
      ("service/retrieval/fence.c", "digest_hmac(key, parts,", 'digest_hmac(slice_of(key.p ? LABEL : ""), parts,'))
fault("fence_without_text", "the fence's tag is the same for every text", FENCE,
      ("service/retrieval/fence.c", "{slice_of(LABEL), chunk_id, text};", "{slice_of(LABEL), chunk_id, {text.p, 0}};"))
fault("unmarked_lines", "a passage's lines may begin as they like", FENCE,
      ("service/retrieval/fence.c", '        dynbuf_add(out, mark);\n        dynbuf_add_text(out, "| ");\n', "        (void)mark;\n"))
fault("passage_not_neutralised", "a passage is shown as its author wrote it", FENCE,
      ("service/retrieval/shape.c", "    neutralise_text(&text, r->hit->text, NULL);\n", "    dynbuf_add(&text, r->hit->text);\n"))
fault("document_not_neutralised", "a document is read as its author wrote it", FENCE,
      ("service/retrieval/shape_passages.c", "    neutralise_text(&text, hit->text, NULL);\n", "    dynbuf_add(&text, hit->text);\n"))
fault("plain_with_controls", "a line with a control character is copied as plain", PLAIN,
      ("service/retrieval/neutralise_general.h", "text.p[n] < 0x7F)", "text.p[n] <= 0x7F)"))
fault("plain_past_the_wrap", "a plain line is copied however long it is", PLAIN,
      ("service/retrieval/neutralise.c", "return line.n <= max && neutralise_plain_run(line)", "return line.n < max + line.n && neutralise_plain_run(line)"))
fault("plain_role", "a plain line may begin with a role", PLAIN,
      ("service/retrieval/neutralise_rules.c", "return may_match_role(line);", "return may_match_role(line) && !line.p;"))
fault("marks_pass_the_quick_check", "a text is taken for composed though marks follow its letters", PLAIN,
      ("service/retrieval/text_normal.c", "return code < 0x300;", "return code < 0x370;"))

# --- the mark beside a passage ---

fault("scan_by_spelling", "a word that only looks like another is not seen through", SCAN,
      ("service/retrieval/scan_match.c", "id = word->n_look ? scan_vocabulary_find(v, look) : 0;", "(void)look;"))
fault("scan_adds_up_everywhere", "weak signs add up however far apart they stand", SCAN,
      ("service/retrieval/scan.c", "e->hits[i].word - e->hits[k].word <= STRETCH_WORDS;", "e->hits[i].word >= e->hits[k].word;"))
fault("scan_talked_out", "enough words about attacks excuse any attack", SCAN,
      ("service/retrieval/scan.c", "k < e->n && n < ABOUT_MAX;", "k < e->n;"))
fault("scan_gap_over_sentences", "a phrase may begin in one sentence and end in another", SCAN,
      ("service/retrieval/scan_match.c", "f.no_gap = word->after_break;", "f.no_gap = false;"))
fault("scan_hidden_text_passes", "text in tag characters is no sign", SCAN,
      ("service/retrieval/scan.c", "if (words.hidden >= HIDDEN_MIN) {", "if (words.hidden > SIZE_MAX - 1) {"))

# --- nothing rather than anything ---

fault("abstain_half_not_enough", "half of a short question is no answer", ABSTAIN,
      ("service/retrieval/abstain.c", "(2 * held >= hits->n_terms ||", "(2 * held > hits->n_terms ||"))
fault("abstain_half_at_any_rank", "whatever holds half, however far down, is an answer", ABSTAIN,
      ("service/retrieval/abstain.c", "if (held == hits->n_terms ||", "if (2 * held >= hits->n_terms ||"))
fault("abstain_common_weighs_all", "a word that everything holds weighs as much as any", ABSTAIN,
      ("service/retrieval/abstain.c", "(TAIL_PRIOR + tail);", "(TAIL_PRIOR + 0 * tail);"))

# --- the steps ---

fault("recheck_forgotten", "hits are not compared with the filter again", PIPELINE,
      ("service/pipeline/step_recheck.c", "if (!permits(r, &r->hits->items[i])) {", "if (false && !permits(r, &r->hits->items[i])) {"))
fault("recheck_of_hits_alone", "the other places of a text are not rechecked", PIPELINE,
      ("service/pipeline/step_recheck.c", "for (size_t i = 0; i < h->n_also; i++) {", "for (size_t i = h->n_also; i < h->n_also; i++) {"))
fault("no_grant_passes", "a token without any grant goes on", PIPELINE,
      ("service/pipeline/step_token.c", "if (filter_is_none(r->filter)) {", "if (!r->filter) {"))
fault("revoked_not_asked", "the revocation lists are not asked", PIPELINE,
      ("service/pipeline/step_token.c", "policy_is_revoked(s->policy, &r->claims) ? TOKEN_REVOKED : TOKEN_OK;", "!s->policy ? TOKEN_REVOKED : TOKEN_OK;"))
fault("reason_in_the_body", "the body says why a token was refused", PIPELINE,
      ("service/pipeline/step_token.c", "    return respond_challenge(r, CHALLENGE_INVALID_TOKEN);\n", "    dynbuf_add_text(&r->body, token_result_name(why));\n    return respond_challenge(r, CHALLENGE_INVALID_TOKEN);\n"))
fault("cache_before_filter", "the cache is asked with the owner's filter", PIPELINE,
      ("service/pipeline/step_cache.c", "        .filter = filter_digest(r->filter),\n", "        .filter = filter_digest(filter_owner()),\n"))
fault("call_stays_charged", "a failed call is not given back", PIPELINE,
      ("service/pipeline/runner.c", "        budget_refund(r->gate->budget, r->gate_loop->budget.redis, &charge, &r->verdict);\n", "        (void)charge;\n"))
fault("failed_leader_is_repeated", "each of equal calls asks an engine that just failed", ["unit_service_pipeline:step_flight/*"],
      ("service/pipeline/runner.c", "    return failure != ERR_OK && failure != ERR_BUDGET_SPENT", "    return false && failure != ERR_BUDGET_SPENT"))
fault("refused_leader_refuses_all", "a caller's spent budget refuses who waited for it", ["unit_service_pipeline:step_flight/*"],
      ("service/pipeline/runner.c", "failure != ERR_OK && failure != ERR_BUDGET_SPENT &&", "failure != ERR_OK &&"))
fault("leaver_keeps_its_seat", "nobody goes on for a client that left", ["unit_service_pipeline:step_flight/*"],
      ("service/pipeline/runner.c", "    cancel_operations(r);\n    leave_flight(r);\n    r->finished = true;\n    r->outcome", "    cancel_operations(r);\n    r->finished = true;\n    r->outcome"))
