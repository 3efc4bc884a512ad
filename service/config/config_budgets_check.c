/* SPDX-License-Identifier: Apache-2.0 */
/* Budgets that contradict each other or the engine. A cost above a limit would be told to wait for
 * what never comes; a budget above what the engine stands protects nothing. */
#include "service/config/config_parts.h"

struct rule {
    struct config_path at;
    struct slice tool; /* SLICE_NONE: it holds for all of them */
    struct budget_limits limits;
    bool is_tenant; /* of a tenant as a whole: the one that bounds all of its calls */
};

struct budget_check {
    const struct config *config;
    struct err_detail *detail;
};

static bool refuse_cost(const struct budget_check *k, const struct config_tool *tool,
                        const struct rule *rule, const char *limit)
{
    char other[CONFIG_PATH_TEXT_BYTES];
    struct config_path limit_at = config_path_under(rule->at, limit);
    config_path_text(&limit_at, other);
    struct config_path at = config_path_under(CONFIG_PATH("budgets"), "costs");
    return config_refuse(k->config, config_path_under(at, tool->tool.p), k->detail,
                         "is %lld, above `%s`: such a call could never pass; lower the cost or "
                         "raise that limit",
                         (long long)tool->cost, other);
}

static bool check_cost(const struct budget_check *k, const struct config_tool *tool,
                       const struct rule *rule)
{
    const struct budget_limits *l = &rule->limits;
    if (rule->tool.p && !slice_eq(rule->tool, tool->tool)) {
        return true;
    }
    if (l->per_minute && tool->cost > l->burst) {
        return refuse_cost(k, tool, rule, "burst");
    }
    return !l->per_day || tool->cost <= l->per_day || refuse_cost(k, tool, rule, "per_day");
}

static bool check_rate(const struct budget_check *k, const struct rule *rule)
{
    int64_t max_rate = k->config->values.backend_max_rate;
    bool unlimited = rule->is_tenant && !rule->limits.per_minute;
    if (!max_rate || (!unlimited && rule->limits.per_minute <= max_rate)) {
        return true;
    }
    char budget[CONFIG_PATH_TEXT_BYTES];
    struct config_path budget_at = config_path_under(rule->at, "per_minute");
    config_path_text(&budget_at, budget);
    struct config_path at = config_path_under(CONFIG_PATH("backend"), "max_rate");
    return config_refuse(k->config, at, k->detail,
                         "is %lld, but `%s` allows %s; write at most %lld there, or say that the "
                         "engine stands more",
                         (long long)max_rate, budget, unlimited ? "any number" : "more",
                         (long long)max_rate);
}

static bool check_burst(const struct budget_check *k, const struct rule *rule)
{
    struct config_path burst = config_path_under(rule->at, "burst");
    struct config_path per_minute = config_path_under(rule->at, "per_minute");
    return rule->limits.per_minute || !config_find(k->config, &burst) ||
           config_find(k->config, &per_minute) ||
           config_refuse(k->config, burst, k->detail,
                         "limits nothing without a per_minute; write that too, or remove it");
}

static bool check_rule(const struct budget_check *k, const struct rule *rule)
{
    const struct config_values *v = &k->config->values;
    for (size_t i = 0; i < v->n_tools; i++) {
        if (!check_cost(k, &v->tools[i], rule)) {
            return false;
        }
    }
    return check_burst(k, rule) && check_rate(k, rule);
}

static bool check_named(const struct budget_check *k, const struct tenant_budget *b)
{
    struct config_path at = config_path_under(CONFIG_PATH("budgets"), "tenants");
    at = config_path_under(at, b->tenant.p);
    if (b->tool.p) {
        at = config_path_under(config_path_under(at, "tools"), b->tool.p);
    }
    return check_rule(k, &(struct rule){at, b->tool, b->limits, !b->tool.p});
}

bool config_check_budgets(const struct config *c, struct err_detail *detail)
{
    const struct config_values *v = &c->values;
    const struct budget_check k = {c, detail};
    struct config_path budgets = CONFIG_PATH("budgets");
    const struct rule tenant = {config_path_under(budgets, "tenant"), SLICE_NONE, v->budget_tenant,
                                true};
    const struct rule subject = {config_path_under(budgets, "subject"), SLICE_NONE,
                                 v->budget_subject, false};
    bool good = check_rule(&k, &tenant) && check_rule(&k, &subject);
    for (size_t i = 0; good && i < v->n_budgets; i++) {
        good = check_named(&k, &v->budgets[i]);
    }
    return good;
}
