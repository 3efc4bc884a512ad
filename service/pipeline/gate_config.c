/* SPDX-License-Identifier: Apache-2.0 */
/* The file is looked at by its bytes: a mounted configuration changes without a signal, and a
 * signal may come without a change. It and the policy may change together: a policy is judged
 * beside the configuration that is proposed, and that then beside the policy in force. */
#include "service/pipeline/gate_config.h"

#include "service/base/log.h"
#include "service/base/mem.h"
#include "service/base/small_file.h"
#include "service/pipeline/access_check.h"

#include <stdlib.h>

static struct budget_rule rule_of(const struct budget_limits *l)
{
    return (struct budget_rule){
        .per_minute = l->per_minute, .burst = l->burst, .per_day = l->per_day};
}

/* budget_set_rules copies. */
static void set_budgets(struct gate *g, const struct config_values *c)
{
    struct budget_named *named = mem_array(c->n_budgets, sizeof(*named));
    struct budget_tool *tools = mem_array(c->n_tools, sizeof(*tools));
    for (size_t i = 0; i < c->n_budgets; i++) {
        named[i] = (struct budget_named){.tenant = c->budgets[i].tenant,
                                         .tool = c->budgets[i].tool,
                                         .rule = rule_of(&c->budgets[i].limits)};
    }
    for (size_t i = 0; i < c->n_tools; i++) {
        tools[i] = (struct budget_tool){
            .tool = c->tools[i].tool, .cost = c->tools[i].cost, .is_paid = c->tools[i].is_paid};
    }
    const struct budget_rules rules = {.tenant = rule_of(&c->budget_tenant),
                                       .subject = rule_of(&c->budget_subject),
                                       .named = named,
                                       .n_named = c->n_budgets,
                                       .tools = tools,
                                       .n_tools = c->n_tools};
    budget_set_rules(g->budget, &rules);
    free(named);
    free(tools);
}

static void on_mode(void *who, bool shared, const char *why)
{
    (void)who;
    if (shared) {
        log_event(LOG_INFO, "budget_shared", "Redis decides again");
    } else {
        log_event(LOG_WARN, "budget_in_process", why);
    }
}

/* The bytes' digest; zero where they cannot be read. */
static struct digest look(const struct gate *g)
{
    struct digest seen = {{0}};
    struct dynbuf bytes;
    dynbuf_init(&bytes, CONFIG_MAX_BYTES);
    if (small_file_read(g->config_path, "--config", &bytes, NULL)) {
        digest_of(dynbuf_get(&bytes), &seen);
    }
    dynbuf_done(&bytes);
    return seen;
}

void gate_config_look(struct gate *g)
{
    g->config_seen = look(g);
}

void gate_config_open(struct gate *g)
{
    const struct config_redis *redis = &g->config->redis;
    const struct budget_options options = {.replicas_max = redis->replicas_max,
                                           .key_prefix = slice_of(redis->key_prefix),
                                           .on_mode = on_mode};
    g->budget = budget_new(&(struct budget_rules){0}, redis->is_configured ? &options : NULL);
    set_budgets(g, g->config);
    if (g->redis) {
        gate_redis_tell(g->redis, g->budget);
    }
}

static void apply(struct gate *g, struct config *config)
{
    const struct config_values *c = config_values(config);
    enum log_level level;
    set_budgets(g, c);
    if (log_level_parse(slice_of(c->log_level), &level)) {
        log_set_level(level);
    }
    config_free(g->reloaded);
    g->reloaded = config;
}

static void refuse(struct gate *g, const struct err_detail *detail)
{
    atomic_fetch_add(&g->metrics.config_reload_failures, 1);
    log_event(LOG_ERROR, "config_reload_failed", detail->text);
}

/* A file that names a new tenant may come before the policy that brings it. */
static bool may_fit_now(struct gate *g)
{
    if (!g->config_refused_with) {
        return false;
    }
    struct access_rules *rules = gate_access_rules(g);
    bool other = rules->generation != g->config_refused_with;
    access_rules_unref(rules);
    return other;
}

void gate_config_propose(struct gate *g, bool reload)
{
    struct digest now = look(g);
    struct err_detail detail = {""};
    if (!reload && digest_eq(&now, &g->config_seen) && !may_fit_now(g)) {
        return;
    }
    g->config_seen = now;
    g->config_refused_with = 0;
    g->proposed = config_load(g->config_path, &detail);
    g->refused_policy = (struct digest){{0}}; /* it may fit now */
    if (!g->proposed) {
        refuse(g, &detail);
    }
}

void gate_config_settle(struct gate *g)
{
    struct config *proposed = g->proposed;
    struct err_detail detail = {""};
    if (!proposed) {
        return;
    }
    g->proposed = NULL;
    struct access_rules *rules = gate_access_rules(g);
    bool fits = access_check_budgets(g, config_values(proposed), &rules->trust, &detail);
    g->config_refused_with = fits ? 0 : rules->generation;
    access_rules_unref(rules);
    if (!fits) {
        config_free(proposed);
        refuse(g, &detail);
        return;
    }
    apply(g, proposed);
    atomic_fetch_add(&g->metrics.config_reloads, 1);
    log_event(LOG_INFO, "config_reloaded",
              "log_level and budgets are as the file says; other keys wait for a restart");
}

void gate_config_close(struct gate *g)
{
    config_free(g->proposed);
    config_free(g->reloaded);
    budget_free(g->budget);
}
