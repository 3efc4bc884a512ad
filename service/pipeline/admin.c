/* SPDX-License-Identifier: Apache-2.0 */
/* What a gate shows of itself: to the admin port, to `kbgate check`, and before it may serve. */
#include "service/pipeline/admin.h"

#include "service/base/clock.h"
#include "service/pipeline/jwks_metrics.h"
#include "service/pipeline/state.h"
#include "service/pipeline/steps.h"
#include "service/retrieval/embedded.h"

void gate_resource_metadata(struct gate *g, struct dynbuf *out)
{
    struct access_rules *s = gate_access_rules(g);
    challenge_metadata(out, &s->challenge);
    access_rules_unref(s);
}

void gate_metrics(struct gate *g, struct dynbuf *out)
{
    const char *names[METRICS_MAX_STEPS];
    size_t n = steps_names(names, METRICS_MAX_STEPS);
    metrics_write(&g->metrics, names, n, out);
    struct access_rules *rules = gate_access_rules(g);
    jwks_metrics_write(rules, out);
    access_rules_unref(rules);
    struct token_cache_stats tokens;
    token_cache_stats(g->tokens, &tokens);
    metrics_write_one(out, "kbgate_token_cache_hits_total", "counter", (int64_t)tokens.hits);
    metrics_write_one(out, "kbgate_token_cache_misses_total", "counter", (int64_t)tokens.misses);
    metrics_write_one(out, "kbgate_token_cache_entries", "gauge", (int64_t)tokens.entries);
    struct cache_stats cache;
    cache_stats(g->cache, &cache);
    metrics_write_one(out, "kbgate_cache_entries", "gauge", (int64_t)cache.entries);
    metrics_write_one(out, "kbgate_cache_bytes", "gauge", (int64_t)cache.bytes);
    metrics_write_one(out, "kbgate_cache_evicted_total", "counter", (int64_t)cache.evicted);
    struct flight_stats flights;
    flights_stats(g->flights, &flights);
    metrics_write_one(out, "kbgate_flight_waited_total", "counter", (int64_t)flights.waited);
    metrics_write_one(out, "kbgate_flight_handed_over_total", "counter",
                      (int64_t)flights.handed_over);
    struct budget_stats budget;
    budget_stats(g->budget, &budget);
    metrics_write_one(out, "kbgate_budget_shared", "gauge", budget.is_shared);
    metrics_write_one(out, "kbgate_budget_decided_in_process_total", "counter",
                      (int64_t)budget.in_process);
    if (g->redis) {
        gate_redis_write_metrics(g->redis, out);
    }
    struct embedded_stats store;
    embedded_stats(g->backend, &store);
    metrics_write_one(out, "kbgate_store_partitions", "gauge", (int64_t)store.n_partitions);
    metrics_write_one(out, "kbgate_store_documents", "gauge", (int64_t)store.n_docs);
    metrics_write_one(out, "kbgate_store_chunks", "gauge", (int64_t)store.n_chunks);
    metrics_write_one(out, "kbgate_worker_queue", "gauge",
                      (int64_t)worker_queue_length(g->workers));
    if (g->audit) {
        metrics_write_one(out, "kbgate_audit_dropped_total", "counter",
                          (int64_t)sink_dropped(g->audit));
    }
}

/* Keys are waited for once: should a server of keys fail later, that is its own tokens' trouble. */
static bool had_keys(struct gate *g)
{
    if (g->had_keys) {
        return true;
    }
    struct access_rules *rules = gate_access_rules(g);
    bool all = true;
    for (size_t i = 0; i < rules->trust.n; i++) {
        all = all && rules->keys[i];
    }
    access_rules_unref(rules);
    if (all) {
        g->had_keys = true;
    }
    return all;
}

bool gate_is_ready(struct gate *g, struct dynbuf *reasons)
{
    bool draining = g->draining, keys = had_keys(g);
    dynbuf_add_text(reasons, draining ? "not ready: draining\n" : "ok serving\n");
    dynbuf_add_text(reasons, keys ? "ok keys\n" : "not ready: keys of an issuer are missing\n");
    dynbuf_add_text(reasons,
                    "ok policy\nok store\n"); /* neither could be missing in an open gate */
    if (g->redis) {
        gate_redis_describe(g->redis, reasons);
    }
    return !draining && keys;
}

void gate_begin_drain(struct gate *g)
{
    g->draining = true;
}

static void add_line(struct dynbuf *out, const char *name, struct slice value)
{
    dynbuf_add_text(out, name);
    dynbuf_add_text(out, ": ");
    dynbuf_add(out, value);
    dynbuf_add_byte(out, '\n');
}

static void explain_partitions(struct gate *g, const struct policy *policy,
                               const struct claims *claims, struct filter *filter,
                               struct dynbuf *out)
{
    struct view *view = g->backend->ops->open_view(g->backend, filter);
    add_line(out, "index_version", slice_of(view->index_version));
    for (size_t i = 0; i < view->n_partitions; i++) {
        const struct partition *p = &view->partitions[i];
        dynbuf_add_text(out, "partition: collection=");
        dynbuf_add(out, p->scope.collection);
        dynbuf_add_text(out, " doc_type=");
        dynbuf_add(out, p->scope.doc_type);
        dynbuf_add_text(out, " labels=");
        for (size_t k = 0; k < p->scope.n_labels; k++) {
            dynbuf_add_text(out, k ? "," : "");
            dynbuf_add(out, p->scope.labels[k]);
        }
        dynbuf_add_text(out, " documents=");
        dynbuf_add_int(out, (int64_t)p->n_docs);
        dynbuf_add_text(out, " chunks=");
        dynbuf_add_int(out, (int64_t)p->n_chunks);
        dynbuf_add_text(out, " opened_by=");
        policy_explain_scope(policy, claims, &p->scope, out);
        dynbuf_add_byte(out, '\n');
    }
    view_unref(view);
}

static void explain_claims(struct gate *g, const struct policy *policy, const struct claims *claims,
                           struct dynbuf *out)
{
    struct filter *filter = policy_compile(policy, claims);
    add_line(out, "issuer", claims->issuer->name);
    add_line(out, "subject", claims->sub);
    add_line(out, "tenant", claims->tenant.p ? claims->tenant : SLICE_LIT("(none)"));
    policy_explain(policy, claims, out);
    add_line(out, "filter", filter_canonical(filter));
    dynbuf_add_text(out, "filter_digest: ");
    digest_add_hex(out, &filter_digest(filter)->value);
    dynbuf_add_byte(out, '\n');
    explain_partitions(g, policy, claims, filter, out);
    filter_unref(filter);
}

/* The rules once every fetch of keys had its chance. */
static struct access_rules *rules_with_keys(struct gate *g)
{
    struct access_rules *rules = gate_access_rules(g);
    for (size_t i = 0; i < rules->trust.n; i++) {
        if (rules->sources[i]) {
            jwks_source_await(rules->sources[i], JWKS_FETCH_MS + CURL_LOOP_CONNECT_MS);
        }
    }
    access_rules_unref(rules);
    return gate_access_rules(g);
}

bool gate_explain_token(struct gate *g, struct slice token, struct dynbuf *out)
{
    struct arena arena;
    struct claims claims;
    arena_init(&arena);
    struct access_rules *s = rules_with_keys(g);
    enum token_result result = token_verify(&s->trust, token, clock_unix_ms(), &arena, &claims);
    if (result == TOKEN_OK && policy_is_revoked(s->policy, &claims)) {
        result = TOKEN_REVOKED;
    }
    add_line(out, "token", slice_of(token_result_name(result)));
    if (result == TOKEN_OK) {
        explain_claims(g, s->policy, &claims, out);
    }
    access_rules_unref(s);
    arena_done(&arena);
    return result == TOKEN_OK;
}
