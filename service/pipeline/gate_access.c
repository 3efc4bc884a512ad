/* SPDX-License-Identifier: Apache-2.0 */
/* Two threads put rules in force: the main thread a changed policy, the fetcher's thread changed
 * keys. Both take what the other has under the gate's lock, so neither undoes the other's work. */
#include "service/pipeline/gate_access.h"

#include "service/base/clock.h"
#include "service/base/log.h"
#include "service/base/mem.h"
#include "service/pipeline/access_check.h"

#include <stdlib.h>

enum { CLOCK_JUMP_MS = 30 * 1000 }; /* the default leeway of a token's times */

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
    free(g->host);
}

static struct access_rules *load_checked(const struct gate *g, struct err_detail *detail)
{
    struct access_rules *rules =
        access_rules_load(g->config->policy_file, g->config->public_url, detail);
    if (rules && !access_check(g, rules, detail)) {
        access_rules_unref(rules);
        rules = NULL;
    }
    return rules;
}

bool gate_access_open(struct gate *g, struct err_detail *detail)
{
    struct access_rules *rules = load_checked(g, detail);
    if (rules) {
        gate_access_enforce(g, rules);
    }
    return rules != NULL;
}

bool gate_may_serve(struct gate *g, const char *host, struct err_detail *detail)
{
    free(g->host);
    g->host = mem_text(slice_of(host));
    struct access_rules *rules = gate_access_rules(g);
    bool good = access_check(g, rules, detail);
    access_rules_unref(rules);
    return good;
}

static void report_trouble(struct gate *g, const char *reason)
{
    g->policy_trouble = true;
    atomic_fetch_add(&g->metrics.policy_reload_failures, 1);
    log_event(LOG_ERROR, "policy_reload_failed", reason);
}

static void report_good(struct gate *g, const char *event, const char *reason)
{
    g->policy_trouble = false;
    log_event(LOG_INFO, event, reason);
}

static void take_up_policy(struct gate *g, const struct digest *fingerprint)
{
    struct err_detail detail = {""};
    struct access_rules *next = load_checked(g, &detail);
    if (!next) {
        g->refused_policy = *fingerprint; /* say so once, not twice a second */
        report_trouble(g, detail.text);
        return;
    }
    gate_access_enforce(g, next);
    atomic_fetch_add(&g->metrics.policy_reloads, 1);
    report_good(g, "policy_reloaded", "the policy or a key file changed, or a signal asked for it");
}

/* Whether the files differ from those in force. */
static bool differs(struct gate *g, bool *ret_readable, struct digest *ret_fingerprint)
{
    struct access_rules *current = gate_access_rules(g);
    *ret_readable = access_rules_fingerprint(g->config->policy_file, current, ret_fingerprint);
    bool different = !digest_eq(ret_fingerprint, &current->fingerprint);
    access_rules_unref(current);
    return different;
}

/* A wall clock that was set may have made remembered tokens good or bad: new rules of the same
 * policy have another generation, under which every token is verified anew. */
static void watch_clock(struct gate *g)
{
    int64_t jump_ms = clock_watch_jump(&g->clock, clock_unix_ms(), clock_mono_ms(), CLOCK_JUMP_MS);
    if (jump_ms) {
        struct log_line l;
        log_begin(&l, LOG_WARN, "clock_jumped");
        log_int(&l, "jump_ms", jump_ms);
        log_end(&l);
        renew(g, NULL);
    }
}

void gate_access_tick(struct gate *g, bool reload)
{
    watch_clock(g);
    struct digest now;
    bool readable;
    bool different = differs(g, &readable, &now);
    if (reload) {
        jwks_fetcher_refetch(g->fetcher);
        take_up_policy(g, &now);
    } else if (!readable) {
        if (!g->policy_trouble) {
            report_trouble(g, "the policy or a file it names cannot be read; the old rules stay");
        }
    } else if (!different) {
        if (g->policy_trouble) {
            report_good(g, "policy_recovered", "the files are those in force again");
        }
    } else if (!digest_eq(&now, &g->refused_policy)) {
        take_up_policy(g, &now);
    }
}
