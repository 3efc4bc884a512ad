/* SPDX-License-Identifier: Apache-2.0 */
/* A policy file with one thing wrong is refused whole, and the reason says where and what to do. */
#include "scope/policy.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* One correct file; each case replaces one piece of it. */
static const char GOOD[] = "policy_version: 1\n"
                           "issuers:\n"
                           "  corp:\n"
                           "    iss: https://a.example/\n"
                           "    jwks_file: corp.json\n"
                           "    audiences: [mcp]\n"
                           "    algs: [RS256]\n"
                           "    leeway_s: 10\n"
                           "    claims:\n"
                           "      scopes: {path: scope, kind: space_string}\n"
                           "      groups: {path: groups, kind: array, overage: [hasgroups]}\n"
                           "      tenant: {path: tid, kind: string}\n"
                           "    tenants: {t1: acme}\n"
                           "grants:\n"
                           "  - id: g1\n"
                           "    tenants: [acme]\n"
                           "    when: {scopes_all: [s1]}\n"
                           "    allow:\n"
                           "      collections: [kb]\n"
                           "      doc_types: [\"*\"]\n"
                           "      labels: [public]\n"
                           "denies:\n"
                           "  - id: d1\n"
                           "    unless: {groups_any: [ir]}\n"
                           "    match: {labels_any: [embargoed]}\n"
                           "revoked: {jti: [x]}\n"
                           "challenge_scopes: [s1]\n"
                           "limits: {max_scopes: 8, max_groups: 8, max_matched_grants: 8}\n";

static struct err_detail detail;

static struct policy *parse_replaced(const char *from, const char *to)
{
    const char *at = strstr(GOOD, from);
    cr_assert(at, "the case is stale: %s", from);
    char text[4096];
    int n = snprintf(text, sizeof(text), "%.*s%s%s", (int)(at - GOOD), GOOD, to, at + strlen(from));
    cr_assert(n > 0 && (size_t)n < sizeof(text));
    detail.text[0] = '\0';
    return policy_parse(slice_of(text), "p.yaml", &detail);
}

Test(policy_refuses, the_base_of_these_cases_is_good)
{
    struct policy *p = parse_replaced("s1", "s1");
    cr_assert(p, "%s", detail.text);
    policy_unref(p);
}

Test(policy_refuses, one_wrong_piece)
{
    static const struct {
        const char *from, *to, *where, *reason;
    } cases[] = {
        {"policy_version: 1\n", "", "p.yaml:1: key `policy_version`", "missing"},
        {"policy_version: 1", "policy_version: 2", "p.yaml:1: key `policy_version`", "1"},
        {"revoked:", "revokd:", "p.yaml:26: key `revokd`", "`revoked`"},
        {"issuers:\n  corp:", "issuer:\n  corp:", "p.yaml:2: key `issuer`", "`issuers`"},
        {"    iss: https://a.example/\n", "", "p.yaml:3: key `iss`", "missing from corp"},
        {"iss: https://a.example/", "iss: \"\"", "p.yaml:4: key `iss`", "empty"},
        {"    jwks_file: corp.json\n", "", "p.yaml:3: key `jwks_file`", "jwks_uri"},
        {"jwks_file: corp.json", "jwks_file: a\n    jwks_uri: https://b",
         "p.yaml:5: key `jwks_file`", "keep one"},
        {"jwks_file: corp.json", "jwks_uri: http://b/jwks", "p.yaml:5: key `jwks_uri`", "https://"},
        {"jwks_file: corp.json", "jwks_file: a\n    ca_file: b", "p.yaml:6: key `ca_file`",
         "remove"},
        {"jwks_file: corp.json", "jwks_file: a\n    max_stale_s: 60", "p.yaml:6: key `max_stale_s`",
         "remove"},
        {"audiences: [mcp]", "audiences: []", "p.yaml:6: key `audiences`", "empty"},
        {"audiences: [mcp]", "audiences: mcp", "p.yaml:6: key `audiences`", "list"},
        {"algs: [RS256]", "algs: []", "p.yaml:7: key `algs`", "empty"},
        {"algs: [RS256]", "algs: [none]", "p.yaml:7: key `algs`", "RS256"},
        {"algs: [RS256]", "algs: [HS256]", "p.yaml:7: key `algs`", "RS256"},
        {"algs: [RS256]", "algs: [rs256]", "p.yaml:7: key `algs`", "RS256"},
        {"leeway_s: 10", "leeway_s: 301", "p.yaml:8: key `leeway_s`", "300"},
        {"leeway_s: 10", "leeway_s: -1", "p.yaml:8: key `leeway_s`", "300"},
        {"leeway_s: 10", "max_lifetime_s: 0", "p.yaml:8: key `max_lifetime_s`", "1"},
        {"leeway_s: 10", "typ_any: yes", "p.yaml:8: key `typ_any`", "true or false"},
        {"      scopes: {path: scope, kind: space_string}\n", "", "key `scopes`",
         "missing from claims"},
        {"      tenant: {path: tid, kind: string}\n", "", "key `tenant`", "missing from claims"},
        {"path: scope, kind: space_string", "path: scope", "p.yaml:10: key `kind`", "missing"},
        {"kind: space_string", "kind: text", "p.yaml:10: key `kind`",
         "space_string, array or string"},
        {"path: scope", "path: a..b", "p.yaml:10: key `path`", "joined by dots"},
        {"path: scope", "path: .a", "p.yaml:10: key `path`", "joined by dots"},
        {"path: scope", "path: a.", "p.yaml:10: key `path`", "joined by dots"},
        {"path: scope", "path: 'a\\'", "p.yaml:10: key `path`", "joined by dots"},
        {"path: scope", "path: 'a\\n'", "p.yaml:10: key `path`", "joined by dots"},
        {"space_string}", "space_string, overage: [x]}", "p.yaml:10: key `overage`", "unknown"},
        {"path: tid, kind: string", "path: tid, kind: array", "p.yaml:12: key `tenant`",
         "kind: string"},
        {"{t1: acme}", "{}", "p.yaml:13: key `tenants`", "at least one"},
        {"{t1: acme}", "[acme]", "p.yaml:13: key `tenants`", "must map"},
        {"{t1: acme}", "{t1: \"a b\"}", "p.yaml:13: key `t1`", "tenant's name"},
        {"{t1: acme}", "{t1: \"*\"}", "p.yaml:13: key `t1`", "tenant's name"},
        {"{t1: acme}", "{t1: [acme]}", "p.yaml:13: key `t1`", "tenant's name"},
        {"grants:\n  - id: g1", "grants: x\nid: g1", "p.yaml", "not well-formed"},
        {"id: g1", "name: g1", "p.yaml:15: key `name`", "unknown"},
        {"tenants: [acme]", "tenants: [acm]", "p.yaml:16: key `tenants`", "names `acm`"},
        {"tenants: [acme]", "tenants: [t1]", "p.yaml:16: key `tenants`", "names `t1`"},
        {"tenants: [acme]", "tenants: [\"*\"]", "p.yaml:16: key `tenants`", "names `*`"},
        {"    tenants: [acme]\n", "", "p.yaml:15: key `tenants`", "missing"},
        {"when: {scopes_all: [s1]}", "when: {}", "p.yaml:17: key `when`", "no condition"},
        {"when: {scopes_all: [s1]}", "when: {scope_all: [s1]}", "p.yaml:17: key `scope_all`",
         "`scopes_all`"},
        {"when: {scopes_all: [s1]}", "when: {scopes_all: s1}", "p.yaml:17: key `scopes_all`",
         "list"},
        {"when: {scopes_all: [s1]}", "when: [s1]", "p.yaml:17: key `when`", "must be a map"},
        {"      collections: [kb]\n", "", "key `collections`", "missing from allow"},
        {"      doc_types: [\"*\"]\n", "", "key `doc_types`", "missing from allow"},
        {"      labels: [public]\n", "", "key `labels`", "missing from allow"},
        {"      labels: [public]", "      label: [public]", "p.yaml:21: key `label`", "`labels`"},
        {"labels: [public]", "labels: public", "p.yaml:21: key `labels`", "list"},
        {"labels: [public]", "labels: *", "p.yaml:21: key `labels`", "\"*\" in quotes"},
        {"labels: [public]", "labels: [public, \"*\"]", "p.yaml:21: key `labels`", "alone"},
        {"labels: [public]", "labels: [\"*\", public]", "p.yaml:21: key `labels`", "alone"},
        {"labels: [public]", "labels: [\"a b\"]", "p.yaml:21: key `labels`", "holds `a b`"},
        {"labels: [public]", "labels: [\"**\"]", "p.yaml:21: key `labels`", "holds `**`"},
        {"labels: [public]", "labels: [a, a]", "p.yaml:21: key `labels`", "twice"},
        {"collections: [kb]", "collections: [a/b]", "p.yaml:19: key `collections`", "holds `a/b`"},
        {"id: d1", "idd: d1", "p.yaml:23: key `idd`", "`id`"},
        {"unless: {groups_any: [ir]}", "unless: {}", "p.yaml:24: key `unless`", "no condition"},
        {"    match: {labels_any: [embargoed]}\n", "", "key `match`", "missing"},
        {"match: {labels_any: [embargoed]}", "match: {}", "p.yaml:25: key `match`", "no dimension"},
        {"{labels_any: [embargoed]}", "{labels: [embargoed]}", "p.yaml:25: key `labels`",
         "`labels_any`"},
        {"{labels_any: [embargoed]}", "{labels_any: [\"*\"]}", "p.yaml:25: key `labels_any`",
         "cannot be \"*\""},
        {"denies:\n  - id: d1\n    unless", "denies:\n    unless", "key `denies`",
         "must be a list"},
        {"revoked: {jti: [x]}", "revoked: {jit: [x]}", "p.yaml:26: key `jit`", "`jti`"},
        {"challenge_scopes: [s1]", "challenge_scopes: [\"a b\"]",
         "p.yaml:27: key `challenge_scopes`", "holds `a b`"},
        {"challenge_scopes: [s1]", "challenge_scopes: ['a\"b']",
         "p.yaml:27: key `challenge_scopes`", "holds"},
        {"max_scopes: 8", "max_scopes: 0", "p.yaml:28: key `max_scopes`", "1 to 1024"},
        {"max_scopes: 8", "max_scopes: 1025", "p.yaml:28: key `max_scopes`", "1 to 1024"},
        {"max_groups: 8", "max_groups: 10001", "p.yaml:28: key `max_groups`", "1 to 10000"},
        {"max_matched_grants: 8", "max_matched_grants: 1025", "p.yaml:28: key `max_matched_grants`",
         "1 to 1024"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct policy *p = parse_replaced(cases[i].from, cases[i].to);
        cr_expect_null(p, "accepted: %s", cases[i].to);
        cr_expect_not_null(strstr(detail.text, cases[i].where), "%s -> %s\nlacks %s", cases[i].to,
                           detail.text, cases[i].where);
        cr_expect_not_null(strstr(detail.text, cases[i].reason), "%s -> %s\nlacks %s", cases[i].to,
                           detail.text, cases[i].reason);
        policy_unref(p);
    }
}

Test(policy_refuses, two_of_what_must_be_one)
{
    static const struct {
        const char *from, *to, *reason;
    } cases[] = {
        {"denies:\n",
         "  - {id: g1, tenants: [acme], allow: {collections: [a], doc_types: [a], "
         "labels: [a]}}\ndenies:\n",
         "p.yaml:22: key `id`: `g1` is used twice"},
        {"revoked:", "  - {id: d1, match: {doc_types: [a]}}\nrevoked:",
         "p.yaml:26: key `id`: `d1` is used twice"},
        {"grants:\n",
         "  two:\n    iss: https://a.example/\n    jwks_file: b\n    audiences: [x]\n    claims: "
         "{scopes: {path: a, kind: array}, tenant: {path: t, kind: string}}\n    tenants: {x: "
         "acme}\ngrants:\n",
         "p.yaml:15: key `iss`: is that of another issuer"},
        {"grants:\n", "grants: []\ngrants:\n", "key `grants`: stands twice"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_null(parse_replaced(cases[i].from, cases[i].to), "accepted: %s", cases[i].to);
        cr_expect_not_null(strstr(detail.text, cases[i].reason), "%s\nlacks %s", detail.text,
                           cases[i].reason);
    }
}

Test(policy_refuses, no_issuer_at_all)
{
    static const char *const texts[] = {"policy_version: 1\nissuers: {}\ngrants: []\n",
                                        "policy_version: 1\nissuers: []\ngrants: []\n",
                                        "policy_version: 1\nissuers: {a: b}\ngrants: []\n"};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_null(policy_parse(slice_of(texts[i]), "p.yaml", &detail), "%s", texts[i]);
        cr_expect_not_null(strstr(detail.text, "p.yaml:2: key"), "%s", detail.text);
    }
    cr_expect_null(policy_parse(SLICE_LIT(""), "p.yaml", NULL));
}
