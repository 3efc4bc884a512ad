/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/access_check.h"

static bool is_tenant(const struct token_trust *trust, struct slice name)
{
    for (size_t i = 0; i < trust->n; i++) {
        for (size_t k = 0; k < trust->issuers[i].n_tenants; k++) {
            if (slice_eq(trust->issuers[i].tenants[k].tenant, name)) {
                return true;
            }
        }
    }
    return false;
}

/* A budget for a misspelt tenant would leave the real one with the default. */
bool access_check_budgets(const struct gate *g, const struct config_values *config,
                          const struct token_trust *trust, struct err_detail *detail)
{
    for (size_t i = 0; i < config->n_budgets; i++) {
        struct slice tenant = config->budgets[i].tenant;
        if (!is_tenant(trust, tenant)) {
            err_detail_set(detail,
                           "%s: key `budgets.tenants.%.*s`: no issuer of %s maps such a tenant; "
                           "correct the name",
                           g->config_path, (int)tenant.n, tenant.p, g->config->policy_file);
            return false;
        }
    }
    return true;
}

/* Of the configuration in force, or of one that is about to be. */
static bool check_budgets(const struct gate *g, const struct token_trust *trust,
                          struct err_detail *detail)
{
    return access_check_budgets(g, gate_config_values(g), trust, detail) ||
           (g->proposed && access_check_budgets(g, config_values(g->proposed), trust, NULL));
}

static bool is_audience(const struct issuer *issuer, struct slice resource)
{
    for (size_t i = 0; i < issuer->n_audiences; i++) {
        if (slice_eq(issuer->audiences[i], resource)) {
            return true;
        }
    }
    return false;
}

static bool check_issuer(const struct gate *g, const struct issuer *issuer,
                         struct err_detail *detail)
{
    const char *policy = g->config->policy_file, *url = g->config->public_url;
    if (issuer->development && !config_host_is_loopback(g->host)) {
        err_detail_set(detail,
                       "%s: issuer %.*s is a development issuer, but listen: %s is not a loopback "
                       "address; listen on 127.0.0.1 or remove the issuer",
                       policy, (int)issuer->name.n, issuer->name.p, g->config->listen);
        return false;
    }
    if (!is_audience(issuer, slice_of(url))) {
        err_detail_set(detail,
                       "%s: issuer %.*s: no audience equals public_url %s; add it to audiences",
                       policy, (int)issuer->name.n, issuer->name.p, url);
        return false;
    }
    return true;
}

bool access_check(const struct gate *g, const struct access_rules *rules, struct err_detail *detail)
{
    bool good = check_budgets(g, &rules->trust, detail);
    for (size_t i = 0; good && g->host && i < rules->trust.n; i++) {
        good = check_issuer(g, &rules->trust.issuers[i], detail);
    }
    return good;
}
