/* SPDX-License-Identifier: Apache-2.0 */
/* The policy file from bytes to filters. What must hold for any input: a refusal names the file, an
 * accepted policy has what a gate needs, and its filters keep their word on a few documents. */
#include "scope/policy.h"
#include "tests/fuzz/must.h"

#include <stdint.h>
#include <string.h>

enum { EXPLAIN_MAX_BYTES = 8 << 20 };

static const struct slice SCOPES[] = {SLICE_LIT("kb:read"), SLICE_LIT("admin")};
static const struct slice GROUPS[] = {SLICE_LIT("legal"), SLICE_LIT("*")};
static const struct slice LABELS[] = {SLICE_LIT("internal"), SLICE_LIT("public")};

static void must_be_issuer(const struct issuer *i)
{
    must(i->iss.n && i->n_audiences && i->algs && i->n_tenants && i->scopes.path.n);
    must(!i->jwks_file.p != !i->jwks_uri.p);
    must(i->leeway_s >= 0 && i->leeway_s <= 300 && i->max_lifetime_s > 0);
    must(i->max_scopes > 0 && i->max_groups > 0);
}

static void must_keep_its_word(const struct filter *f)
{
    const struct doc_scope places[] = {
        {SLICE_LIT("kb"), SLICE_LIT("faq"), LABELS, 2},
        {SLICE_LIT("kb"), SLICE_LIT("faq"), NULL, 0},
        {SLICE_LIT(""), SLICE_LIT("faq"), LABELS, 1},
        {SLICE_LIT("kb"), SLICE_LIT(""), LABELS, 1},
    };
    bool seen[4];
    for (int i = 0; i < 4; i++) {
        seen[i] = filter_permits(f, &places[i]);
        must(!seen[i] || !filter_is_none(f));
    }
    must(!seen[2] && !seen[3]);
    must(filter_canonical(f).n > 0);
    must(!filter_is_none(f) || slice_is(filter_canonical(f), "{\"any_of\":[],\"none_of\":[]}"));
}

static void ask(const struct policy *p, const struct claims *c)
{
    struct dynbuf text;
    struct filter *f = policy_compile(p, c);
    dynbuf_init(&text, EXPLAIN_MAX_BYTES);
    policy_explain(p, c, &text);
    must_keep_its_word(f);
    must(c->tenant.p || filter_is_none(f));
    (void)policy_is_revoked(p, c);
    dynbuf_done(&text);
    filter_unref(f);
}

static void ask_for_each_tenant(const struct policy *p, const struct issuer *issuer)
{
    struct claims c = {.issuer = issuer,
                       .sub = SLICE_LIT("ann"),
                       .jti = SLICE_LIT("j"),
                       .client_id = SLICE_LIT("agent")};
    ask(p, &c);
    for (size_t i = 0; i < issuer->n_tenants; i++) {
        c.tenant = issuer->tenants[i].tenant;
        ask(p, &c);
        struct claims rich = c;
        rich.scopes = SCOPES;
        rich.groups = GROUPS;
        rich.n_scopes = rich.n_groups = 2;
        ask(p, &rich);
        rich.groups_overage = true;
        ask(p, &rich);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct err_detail detail = {.text = ""};
    struct policy *p = policy_parse((struct slice){(const char *)data, size}, "p.yaml", &detail);
    if (!p) {
        must(strstr(detail.text, "p.yaml") != NULL);
        return 0;
    }
    size_t n = 0, n_scopes = 0;
    const struct issuer *issuers = policy_issuers(p, &n);
    must(n > 0);
    for (size_t i = 0; i < n; i++) {
        must_be_issuer(&issuers[i]);
        ask_for_each_tenant(p, &issuers[i]);
    }
    (void)policy_challenge_scopes(p, &n_scopes);
    policy_unref(p);
    return 0;
}
