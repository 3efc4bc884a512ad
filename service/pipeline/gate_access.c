/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads put rules in force: the main thread a changed policy, the fetcher's thread changed
 * keys. Both take what the other has under the gate's lock, so neither undoes the other's work. */
#include "service/pipeline/gate_access.h"

#include "service/base/log.h"

struct access_rules *gate_access_rules(struct gate *g)
{
    pthread_mutex_lock(&g->lock);
    struct access_rules *s = access_rules_ref(g->access);
    pthread_mutex_unlock(&g->lock);
    return s;
}

/* rules, or those in force, with the keys of this moment. NULL and nothing in force: none yet. */
static void renew(struct gate *g, const struct access_rules *rules)
{
    pthread_mutex_lock(&g->lock);
    struct access_rules *old = g->access;
    rules = rules ? rules : old;
    if (rules) {
        g->access = access_rules_renew(rules);
    }
    pthread_mutex_unlock(&g->lock);
    if (rules) {
        access_rules_unref(old);
    }
}

void gate_access_on_keys(void *owner)
{
    renew(owner, NULL);
}

void gate_access_enforce(struct gate *g, struct access_rules *rules)
{
    if (!g->fetcher) {
        g->fetcher = jwks_fetcher_new(
            &(struct jwks_fetcher_options){.on_changed = gate_access_on_keys, .owner = g});
    }
    access_rules_keep(rules, g->fetcher);
    renew(g, rules);
    access_rules_unref(rules);
}

void gate_access_close(struct gate *g)
{
    jwks_fetcher_free(g->fetcher);
    access_rules_unref(g->access);
}

static void take_up_policy(struct gate *g)
{
    struct err_detail detail = {""};
    struct access_rules *next =
        access_rules_load(g->config->policy_file, g->config->public_url, &detail);
    if (!next) {
        atomic_fetch_add(&g->metrics.policy_reload_failures, 1);
        log_event(LOG_ERROR, "policy_reload_failed", detail.text);
        return;
    }
    gate_access_enforce(g, next);
    atomic_fetch_add(&g->metrics.policy_reloads, 1);
    log_event(LOG_INFO, "policy_reloaded", "the policy or a key file changed");
}

void gate_access_tick(struct gate *g, bool reload)
{
    struct digest now;
    struct access_rules *current = gate_access_rules(g);
    bool readable = access_rules_fingerprint(g->config->policy_file, current, &now);
    bool changed =
        readable && !digest_eq(&now, &current->fingerprint) && !digest_eq(&now, &g->refused_policy);
    access_rules_unref(current);
    if (reload) {
        jwks_fetcher_refetch(g->fetcher);
    }
    if (changed || reload) {
        take_up_policy(g);
        current = gate_access_rules(g);
        if (!digest_eq(&now, &current->fingerprint)) {
            g->refused_policy = now; /* refused: say so once, not twice a second */
        }
        access_rules_unref(current);
    }
}
