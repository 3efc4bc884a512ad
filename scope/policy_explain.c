/* SPDX-License-Identifier: Apache-2.0 */
/* Why a token gets what it gets, for the person who writes the policy. */
#include "scope/filter_build.h"
#include "scope/policy_parts.h"

static void add_list(struct dynbuf *out, const struct yaml_texts *texts)
{
    dynbuf_add_byte(out, '[');
    for (size_t i = 0; i < texts->n; i++) {
        dynbuf_add_text(out, i ? ", " : "");
        dynbuf_add(out, texts->items[i]);
    }
    dynbuf_add_byte(out, ']');
}

static void add_unmet(struct dynbuf *out, const char *part, enum condition_kind kind,
                      const struct condition *condition, const struct claims *c)
{
    bool on_groups = kind == CONDITION_GROUPS_ALL || kind == CONDITION_GROUPS_ANY;
    dynbuf_add_text(out, part);
    dynbuf_add_byte(out, '.');
    dynbuf_add_text(out, condition_name(kind));
    dynbuf_add_byte(out, ' ');
    add_list(out, &condition->lists[kind]);
    dynbuf_add_text(out, " is not met");
    if (on_groups && c->groups_overage) {
        dynbuf_add_text(out, " (the issuer left the token's list of groups out)");
    }
}

static void begin_line(struct dynbuf *out, const char *what, struct slice id, bool applies)
{
    dynbuf_add_text(out, what);
    dynbuf_add(out, id);
    dynbuf_add_text(out, applies ? ": applies" : ": does not apply");
}

/* Returns whether the grant applies. */
static bool explain_grant(const struct policy *p, const struct grant *g, const struct claims *c,
                          struct dynbuf *out)
{
    const char *bar = policy_bar(p, c);
    bool tenant = grant_names_tenant(g, c->tenant);
    enum condition_kind unmet = condition_first_unmet(&g->when, c);
    bool applies = !bar && tenant && unmet == CONDITION_COUNT;
    begin_line(out, "grant ", g->id, applies);
    if (bar) {
        dynbuf_add_text(out, ": ");
        dynbuf_add_text(out, bar);
    } else if (!tenant) {
        dynbuf_add_text(out, ": the token's tenant is not in tenants ");
        add_list(out, &g->tenants);
    } else if (!applies) {
        dynbuf_add_text(out, ": ");
        add_unmet(out, "when", unmet, &g->when, c);
    }
    dynbuf_add_byte(out, '\n');
    return applies;
}

static void explain_deny(const struct deny *d, const struct claims *c, struct dynbuf *out)
{
    enum condition_kind unmet = condition_first_unmet(&d->unless, c);
    begin_line(out, "deny ", d->id, deny_applies(d, c));
    if (!d->has_unless) {
        dynbuf_add_text(out, ": it has no unless");
    } else if (unmet == CONDITION_COUNT) {
        dynbuf_add_text(out, ": the token meets its unless");
    } else {
        dynbuf_add_text(out, ": ");
        add_unmet(out, "unless", unmet, &d->unless, c);
    }
    dynbuf_add_byte(out, '\n');
}

void policy_explain(const struct policy *p, const struct claims *c, struct dynbuf *out)
{
    size_t applying = 0;
    for (size_t i = 0; i < p->n_grants; i++) {
        applying += explain_grant(p, &p->grants[i], c, out);
    }
    for (size_t i = 0; i < p->n_denies; i++) {
        explain_deny(&p->denies[i], c, out);
    }
    if (applying > (size_t)p->limits.max_matched_grants) {
        dynbuf_add_text(out,
                        "more grants apply than limits.max_matched_grants: none is in force\n");
    }
}

static bool opens(const struct policy *p, const struct grant *g, const struct claims *c,
                  const struct doc_scope *where)
{
    if (policy_bar(p, c) || !grant_names_tenant(g, c->tenant) ||
        condition_first_unmet(&g->when, c) != CONDITION_COUNT) {
        return false;
    }
    struct filter *alone = filter_build(&g->allow, 1, NULL, 0);
    bool permits = filter_permits(alone, where);
    filter_unref(alone);
    return permits;
}

void policy_explain_scope(const struct policy *p, const struct claims *c,
                          const struct doc_scope *where, struct dynbuf *out)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n_grants; i++) {
        if (opens(p, &p->grants[i], c, where)) {
            dynbuf_add_text(out, n++ ? "," : "");
            dynbuf_add(out, p->grants[i].id);
        }
    }
}
