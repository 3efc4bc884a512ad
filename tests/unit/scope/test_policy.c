/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy file takes and refuses, and which filter a token's claims get. */
#include "scope/policy.h"

#include <criterion/criterion.h>
#include <stdio.h>

#define ISSUERS                                                                                    \
    "policy_version: 1\n"                                                                          \
    "issuers:\n"                                                                                   \
    "  corp:\n"                                                                                    \
    "    iss: \"https://login.example.com/\"\n"                                                    \
    "    jwks_file: keys/corp.json\n"                                                              \
    "    audiences: [\"https://mcp.example.com/mcp\"]\n"                                           \
    "    claims:\n"                                                                                \
    "      scopes: {path: scope, kind: space_string}\n"                                            \
    "      groups: {path: groups, kind: array, overage: [_claim_names, hasgroups]}\n"              \
    "      tenant: {path: tid, kind: string}\n"                                                    \
    "    tenants: {t-1: acme, t-2: globex}\n"

#define ALL "allow: {collections: [\"*\"], doc_types: [\"*\"], labels: [\"*\"]}"

static struct err_detail detail;

static struct policy *parse(const char *text)
{
    detail.text[0] = '\0';
    return policy_parse(slice_of(text), "p.yaml", &detail);
}

static struct policy *parse_good(const char *text)
{
    struct policy *p = parse(text);
    cr_assert(p, "%s", detail.text);
    return p;
}

static const struct slice KB_READ[] = {{"kb:read", 7}};

static struct claims claims_of(const char *tenant)
{
    return (struct claims){.tenant = slice_of(tenant),
                           .sub = SLICE_LIT("ann"),
                           .scopes = KB_READ,
                           .n_scopes = 1,
                           .client_id = SLICE_LIT("agent"),
                           .jti = SLICE_LIT("j1")};
}

static bool is_canonical(const struct policy *p, const struct claims *c, const char *expected)
{
    struct filter *f = policy_compile(p, c);
    bool same = slice_is(filter_canonical(f), expected);
    if (!same) {
        (void)fprintf(stderr, "%.*s\n", (int)filter_canonical(f).n, filter_canonical(f).p);
    }
    filter_unref(f);
    return same;
}

static bool is_none(const struct policy *p, const struct claims *c)
{
    struct filter *f = policy_compile(p, c);
    bool none = filter_is_none(f);
    filter_unref(f);
    return none;
}

static const char EXAMPLE[] =
    ISSUERS "grants:\n"
            "  - id: kb-read\n"
            "    tenants: [acme, globex]\n"
            "    when: {scopes_all: [\"kb:read\"]}\n"
            "    allow:\n"
            "      collections: [kb]\n"
            "      doc_types: [faq, article]\n"
            "      labels: [public, internal]\n"
            "  - id: legal\n"
            "    tenants: [acme]\n"
            "    when: {scopes_all: [\"kb:read\"], groups_any: [legal]}\n"
            "    allow:\n"
            "      collections: [contracts]\n"
            "      doc_types: [\"*\"]\n"
            "      labels: [internal, legal]\n"
            "denies:\n"
            "  - id: embargo\n"
            "    unless: {groups_any: [ir]}\n"
            "    match: {labels_any: [embargoed]}\n"
            "revoked: {jti: [j9], sub: [bob], client_id: [rogue]}\n"
            "challenge_scopes: [\"kb:read\"]\n"
            "limits: {max_scopes: 3, max_groups: 2, max_matched_grants: 64}\n";

#define KB                                                                                         \
    "{\"collections\":[\"kb\"],\"doc_types\":[\"article\",\"faq\"],\"labels\":[\"internal\","      \
    "\"public\"]}"
#define LEGAL                                                                                      \
    "{\"collections\":[\"contracts\"],\"doc_types\":\"*\",\"labels\":[\"internal\",\"legal\"]}"
#define EMBARGO "{\"labels_any\":[\"embargoed\"]}"
#define NONE "{\"any_of\":[],\"none_of\":[]}"

Test(policy, compiles_the_grants_and_denies_that_apply)
{
    struct policy *p = parse_good(EXAMPLE);
    struct claims c = claims_of("acme");
    cr_assert(is_canonical(p, &c, "{\"any_of\":[" KB "],\"none_of\":[" EMBARGO "]}"));
    struct slice groups[] = {SLICE_LIT("ir"), SLICE_LIT("legal")};
    c.groups = groups;
    c.n_groups = 2;
    cr_assert(is_canonical(p, &c, "{\"any_of\":[" LEGAL "," KB "],\"none_of\":[]}"));
    c.tenant = SLICE_LIT("globex");
    cr_assert(is_canonical(p, &c, "{\"any_of\":[" KB "],\"none_of\":[]}"));
    policy_unref(p);
}

Test(policy, gives_none_wherever_something_is_missing_or_unknown)
{
    struct policy *p = parse_good(EXAMPLE);
    struct claims c = claims_of(NULL);
    cr_assert(is_none(p, &c) && is_canonical(p, &c, NONE));
    static const char *const tenants[] = {"", "other", "t-1", "ACME", "acm", "acme ", "*"};
    for (size_t i = 0; i < sizeof(tenants) / sizeof(tenants[0]); i++) {
        c.tenant = slice_of(tenants[i]);
        cr_assert(is_none(p, &c), "%s", tenants[i]);
    }
    c = claims_of("acme");
    cr_assert_not(is_none(p, &c));
    c.n_scopes = 0;
    cr_assert(is_none(p, &c));
    static const char *const scopes[] = {"*", "kb:Read", "kb:rea", "kb:read kb:write", "kb", ""};
    for (size_t i = 0; i < sizeof(scopes) / sizeof(scopes[0]); i++) {
        struct slice scope = slice_of(scopes[i]);
        c.scopes = &scope;
        c.n_scopes = 1;
        cr_assert(is_none(p, &c), "%s", scopes[i]);
    }
    policy_unref(p);
}

Test(policy, a_group_never_stands_for_a_scope_nor_the_reverse)
{
    struct policy *p = parse_good(
        ISSUERS
        "grants:\n"
        "  - {id: s, tenants: [acme], when: {scopes_any: [admin]}, " ALL "}\n"
        "  - {id: g, tenants: [acme], when: {groups_any: [legal]}, allow: {collections: [kb], "
        "doc_types: [\"*\"], labels: [\"*\"]}}\n");
    struct slice admin[] = {SLICE_LIT("admin")}, legal[] = {SLICE_LIT("legal")};
    struct claims c = {.tenant = SLICE_LIT("acme"),
                       .groups = admin,
                       .n_groups = 1,
                       .scopes = legal,
                       .n_scopes = 1,
                       .client_id = SLICE_LIT("admin")};
    cr_assert(is_none(p, &c));
    policy_unref(p);
}

Test(policy, a_claim_star_is_a_literal)
{
    struct policy *p = parse_good(
        ISSUERS "grants:\n  - {id: a, tenants: [acme], when: {groups_any: [\"*\"]}, " ALL "}\n");
    struct claims c = claims_of("acme");
    struct slice group = SLICE_LIT("x");
    c.groups = &group;
    c.n_groups = 1;
    cr_assert(is_none(p, &c), "a condition is no pattern");
    group = SLICE_LIT("*");
    cr_assert_not(is_none(p, &c));
    policy_unref(p);
}

Test(policy, every_condition_of_a_grant_counts)
{
    struct policy *p = parse_good(
        ISSUERS "grants:\n"
                "  - id: a\n"
                "    tenants: [acme]\n"
                "    when: {scopes_all: [s1, s2], scopes_any: [s3, s4], groups_all: [g1, g2], "
                "groups_any: [g3, g4], client_ids_any: [c1, c2]}\n"
                "    " ALL "\n");
    struct slice scopes[] = {SLICE_LIT("s1"), SLICE_LIT("s2"), SLICE_LIT("s4")};
    struct slice groups[] = {SLICE_LIT("g1"), SLICE_LIT("g2"), SLICE_LIT("g3")};
    const struct claims full = {.tenant = SLICE_LIT("acme"),
                                .scopes = scopes,
                                .n_scopes = 3,
                                .groups = groups,
                                .n_groups = 3,
                                .client_id = SLICE_LIT("c2")};
    struct claims c = full;
    cr_assert_not(is_none(p, &c));
    c.n_scopes = 2;
    cr_assert(is_none(p, &c), "scopes_any");
    c = full;
    c.scopes = &scopes[1];
    c.n_scopes = 2;
    cr_assert(is_none(p, &c), "scopes_all");
    c = full;
    c.n_groups = 2;
    cr_assert(is_none(p, &c), "groups_any");
    c = full;
    c.groups = &groups[1];
    c.n_groups = 2;
    cr_assert(is_none(p, &c), "groups_all");
    c = full;
    c.client_id = SLICE_LIT("c3");
    cr_assert(is_none(p, &c), "client_ids_any");
    c.client_id = SLICE_NONE;
    cr_assert(is_none(p, &c), "no client_id");
    policy_unref(p);
}

Test(policy, a_grant_without_when_holds_for_every_token_of_its_tenants)
{
    struct policy *p = parse_good(ISSUERS "grants:\n  - {id: a, tenants: [acme], " ALL "}\n");
    struct claims c = {.tenant = SLICE_LIT("acme")};
    cr_assert_not(is_none(p, &c));
    c.tenant = SLICE_LIT("globex");
    cr_assert(is_none(p, &c));
    policy_unref(p);
}

Test(policy, an_empty_condition_list_is_met_by_nobody)
{
    static const char *const lists[] = {"scopes_all", "scopes_any", "groups_all", "groups_any",
                                        "client_ids_any"};
    for (size_t i = 0; i < 5; i++) {
        char text[2048];
        (void)snprintf(text, sizeof(text),
                       ISSUERS "grants:\n  - {id: a, tenants: [acme], when: {%s: []}, " ALL "}\n",
                       lists[i]);
        struct policy *p = parse_good(text);
        struct claims c = claims_of("acme");
        cr_assert(is_none(p, &c), "%s", lists[i]);
        policy_unref(p);
        (void)snprintf(text, sizeof(text),
                       ISSUERS "grants:\n  - {id: a, tenants: [acme], " ALL "}\n"
                               "denies:\n  - {id: d, unless: {%s: []}, match: {collections: "
                               "[\"*\"]}}\n",
                       lists[i]);
        p = parse_good(text);
        struct filter *f = policy_compile(p, &c);
        struct doc_scope kb = {SLICE_LIT("kb"), SLICE_LIT("faq"), NULL, 0};
        cr_assert_not(filter_permits(f, &kb), "%s", lists[i]);
        filter_unref(f);
        policy_unref(p);
    }
}

Test(policy, group_overage_fells_grants_and_upholds_denies)
{
    struct policy *p = parse_good(EXAMPLE);
    struct claims c = claims_of("acme");
    struct slice groups[] = {SLICE_LIT("ir"), SLICE_LIT("legal")};
    c.groups = groups;
    c.n_groups = 2;
    c.groups_overage = true;
    cr_assert(is_canonical(p, &c, "{\"any_of\":[" KB "],\"none_of\":[" EMBARGO "]}"));
    policy_unref(p);
}

Test(policy, passing_a_limit_gives_none_and_never_a_part)
{
    struct policy *p = parse_good(EXAMPLE);
    struct slice scopes[] = {SLICE_LIT("kb:read"), SLICE_LIT("b"), SLICE_LIT("c"), SLICE_LIT("d")};
    struct claims c = claims_of("acme");
    c.scopes = scopes;
    for (size_t n = 2; n <= 4; n++) {
        c.n_scopes = n;
        cr_assert_eq(is_none(p, &c), n > 3, "%zu scopes", n);
    }
    c = claims_of("acme");
    c.groups = scopes;
    for (size_t n = 1; n <= 3; n++) {
        c.n_groups = n;
        cr_assert_eq(is_none(p, &c), n > 2, "%zu groups", n);
    }
    policy_unref(p);
}

Test(policy, more_matching_grants_than_the_limit_give_none)
{
    for (int n = 1; n <= 3; n++) {
        char text[2048];
        (void)snprintf(text, sizeof(text),
                       ISSUERS "limits: {max_matched_grants: %d}\n"
                               "grants:\n  - {id: a, tenants: [acme], " ALL "}\n"
                               "  - {id: b, tenants: [acme], allow: {collections: [kb], "
                               "doc_types: [\"*\"], labels: [\"*\"]}}\n"
                               "  - {id: c, tenants: [globex], " ALL "}\n",
                       n);
        struct policy *p = parse_good(text);
        struct claims c = claims_of("acme");
        cr_assert_eq(is_none(p, &c), n < 2, "limit %d", n);
        c.tenant = SLICE_LIT("globex");
        cr_assert_not(is_none(p, &c));
        policy_unref(p);
    }
}

Test(policy, equal_rights_from_other_files_have_one_digest)
{
    struct policy *a = parse_good(
        ISSUERS
        "grants:\n  - {id: a, tenants: [acme], allow: {collections: [x, y], doc_types: [\"*\"], "
        "labels: [p, q]}}\n");
    struct policy *b = parse_good(
        ISSUERS
        "grants:\n  - {id: z, tenants: [acme], allow: {labels: [q, p], doc_types: [\"*\"], "
        "collections: [y, x]}}\n"
        "  - {id: again, tenants: [globex, acme], allow: {labels: [q, p], doc_types: [\"*\"], "
        "collections: [x, y]}}\n");
    struct claims c = claims_of("acme");
    struct filter *fa = policy_compile(a, &c), *fb = policy_compile(b, &c);
    cr_assert(digest_eq(&filter_digest(fa)->value, &filter_digest(fb)->value));
    cr_assert_not(digest_eq(policy_hash(a), policy_hash(b)));
    policy_unref(a);
    policy_unref(b);
    cr_assert_not(filter_is_none(fa), "a filter outlives its policy");
    filter_unref(fa);
    filter_unref(fb);
}

Test(policy, reads_an_issuer_whole)
{
    struct policy *p =
        parse_good("policy_version: 1\n"
                   "issuers:\n"
                   "  a:\n"
                   "    iss: dev\n"
                   "    jwks_file: ./dev.json\n"
                   "    audiences: [u1, u2]\n"
                   "    algs: [EdDSA]\n"
                   "    typ_any: true\n"
                   "    development: true\n"
                   "    leeway_s: 300\n"
                   "    max_lifetime_s: 60\n"
                   "    claims:\n"
                   "      scopes: {path: 'https://x\\.example/scopes', kind: array}\n"
                   "      tenant: {path: org.id, kind: string}\n"
                   "      client_id: {path: azp, kind: string}\n"
                   "    tenants: {\"*\": acme}\n"
                   "  b:\n"
                   "    iss: other\n"
                   "    jwks_uri: https://x.example/jwks\n"
                   "    ca_file: ca.pem\n"
                   "    max_stale_s: 10\n"
                   "    audiences: [u1]\n"
                   "    claims:\n"
                   "      scopes: {path: scp, kind: space_string}\n"
                   "      groups: {path: cognito:groups, kind: array, overage: [hasgroups]}\n"
                   "      tenant: {path: tid, kind: string}\n"
                   "    tenants: {t: beta}\n"
                   "grants: []\n"
                   "limits: {max_scopes: 5, max_groups: 6}\n");
    size_t n = 0;
    const struct issuer *a = policy_issuers(p, &n), *b = a + 1;
    cr_assert_eq(n, 2);
    cr_assert(slice_is(a->name, "a") && slice_is(a->iss, "dev"));
    cr_assert(slice_is(a->jwks_file, "./dev.json") && !a->jwks_uri.p && !a->ca_file.p);
    cr_assert(a->n_audiences == 2 && slice_is(a->audiences[1], "u2"));
    cr_assert_eq(a->algs, 1U << JWS_EDDSA);
    cr_assert(a->typ_any && a->development && a->leeway_s == 300 && a->max_lifetime_s == 60);
    cr_assert(slice_is(a->scopes.path, "https://x\\.example/scopes"));
    cr_assert_eq(a->scopes.kind, CLAIM_ARRAY);
    cr_assert(!a->groups.path.p && slice_is(a->client_id.path, "azp"));
    cr_assert(a->n_tenants == 1 && slice_is(a->tenants[0].claim_value, "*"));
    cr_assert(slice_is(a->tenants[0].tenant, "acme"));
    cr_assert(a->max_scopes == 5 && a->max_groups == 6);
    cr_assert(slice_is(b->jwks_uri, "https://x.example/jwks") && slice_is(b->ca_file, "ca.pem"));
    cr_assert_eq(b->max_stale_s, 10);
    cr_assert_eq(b->algs, 1U << JWS_RS256 | 1U << JWS_ES256);
    cr_assert(!b->typ_any && !b->development && b->leeway_s == 30 && b->max_lifetime_s == 86400);
    cr_assert(b->groups.n_overage == 1 && slice_is(b->groups.overage[0], "hasgroups"));
    cr_assert(policy_challenge_scopes(p, &n) == NULL && n == 0);
    policy_unref(p);
}

Test(policy, knows_whom_it_revoked_and_what_it_challenges_with)
{
    struct policy *p = parse_good(EXAMPLE);
    size_t n = 0;
    const struct slice *scopes = policy_challenge_scopes(p, &n);
    cr_assert(n == 1 && slice_is(scopes[0], "kb:read"));
    struct claims c = claims_of("acme");
    cr_assert_not(policy_is_revoked(p, &c));
    c.jti = SLICE_LIT("j9");
    cr_assert(policy_is_revoked(p, &c));
    c = claims_of("acme");
    c.sub = SLICE_LIT("bob");
    cr_assert(policy_is_revoked(p, &c));
    c = claims_of("acme");
    c.client_id = SLICE_LIT("rogue");
    cr_assert(policy_is_revoked(p, &c));
    c = (struct claims){.sub = SLICE_LIT("rogue"), .jti = SLICE_LIT("bob")};
    cr_assert_not(policy_is_revoked(p, &c), "each list is about its own claim");
    struct digest hash;
    digest_of(slice_of(EXAMPLE), &hash);
    cr_assert(digest_eq(policy_hash(p), &hash));
    cr_assert_eq(policy_ref(p), p);
    policy_unref(p);
    cr_assert_not(is_none(
        p, &(struct claims){.tenant = SLICE_LIT("acme"), .scopes = KB_READ, .n_scopes = 1}));
    policy_unref(p);
    policy_unref(NULL);
}

static void explains(const struct policy *p, const struct claims *c, const char *expected)
{
    struct dynbuf out;
    dynbuf_init(&out, 4096);
    policy_explain(p, c, &out);
    dynbuf_add_byte(&out, '\0');
    cr_expect_str_eq(out.p, expected);
    dynbuf_done(&out);
}

Test(policy, explains_each_grant_and_deny_in_one_line)
{
    struct policy *p = parse_good(EXAMPLE);
    struct claims c = claims_of("acme");
    explains(p, &c,
             "grant kb-read: applies\n"
             "grant legal: does not apply: when.groups_any [legal] is not met\n"
             "deny embargo: applies: unless.groups_any [ir] is not met\n");
    struct slice ir = SLICE_LIT("ir");
    c.groups = &ir;
    c.n_groups = 1;
    c.tenant = SLICE_LIT("globex");
    explains(p, &c,
             "grant kb-read: applies\n"
             "grant legal: does not apply: the token's tenant is not in tenants [acme]\n"
             "deny embargo: does not apply: the token meets its unless\n");
    c.groups_overage = true;
    c.tenant = SLICE_NONE;
    explains(p, &c,
             "grant kb-read: does not apply: the token names no known tenant\n"
             "grant legal: does not apply: the token names no known tenant\n"
             "deny embargo: applies: unless.groups_any [ir] is not met (the issuer left "
             "the token's list of groups out)\n");
    policy_unref(p);
    p = parse_good(ISSUERS "limits: {max_matched_grants: 1}\n"
                           "grants:\n  - {id: a, tenants: [acme], " ALL "}\n"
                           "  - {id: b, tenants: [acme], " ALL "}\n"
                           "denies:\n  - {id: d, match: {doc_types: [x]}}\n");
    c = claims_of("acme");
    explains(p, &c,
             "grant a: applies\ngrant b: applies\ndeny d: applies: it has no unless\n"
             "more grants apply than limits.max_matched_grants: none is in force\n");
    policy_unref(p);
}

Test(policy, fetched_keys_serve_for_a_day_unless_told_otherwise)
{
    static const char HEAD[] = "policy_version: 1\nissuers:\n  a:\n    iss: i\n"
                               "    jwks_uri: https://x.example/jwks\n    audiences: [u]\n";
    static const char TAIL[] = "    claims:\n      scopes: {path: s, kind: array}\n"
                               "      tenant: {path: t, kind: string}\n    tenants: {t: beta}\n"
                               "grants: []\n";
    static const struct {
        const char *line;
        int64_t expected; /* 0: refused */
    } rows[] = {{"", 86400},
                {"    max_stale_s: 9\n", 0},
                {"    max_stale_s: 10\n", 10},
                {"    max_stale_s: 2592000\n", 2592000},
                {"    max_stale_s: 2592001\n", 0},
                {"    max_stale_s: 0\n", 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char yaml[1024];
        size_t n;
        (void)snprintf(yaml, sizeof(yaml), "%s%s%s", HEAD, rows[i].line, TAIL);
        struct policy *p = policy_parse(slice_of(yaml), "p.yaml", NULL);
        cr_expect_eq(p ? policy_issuers(p, &n)->max_stale_s : 0, rows[i].expected, "%s",
                     rows[i].line);
        policy_unref(p);
    }
}

static void opened_by(const struct policy *p, const struct claims *c, const char *collection,
                      const char *label, const char *expected)
{
    struct slice labels[] = {slice_of(label)};
    const struct doc_scope where = {slice_of(collection), SLICE_LIT("article"), labels, 1};
    struct dynbuf out;
    dynbuf_init(&out, 4096);
    policy_explain_scope(p, c, &where, &out);
    cr_expect_str_eq(dynbuf_text(&out), expected);
    dynbuf_done(&out);
}

Test(policy, names_the_grants_that_open_a_partition)
{
    struct policy *p = parse_good(
        ISSUERS "grants:\n"
                "  - {id: a, tenants: [acme], when: {scopes_all: [s]}, allow: {collections: [kb], "
                "doc_types: [\"*\"], labels: [public]}}\n"
                "  - {id: b, tenants: [acme], allow: {collections: [kb], doc_types: [article], "
                "labels: [public, internal]}}\n"
                "  - {id: c, tenants: [globex], " ALL "}\n");
    struct claims c = claims_of("acme");
    opened_by(p, &c, "kb", "public", "b");
    struct slice s = SLICE_LIT("s");
    c.scopes = &s;
    c.n_scopes = 1;
    opened_by(p, &c, "kb", "public", "a,b");
    opened_by(p, &c, "kb", "internal", "b");
    opened_by(p, &c, "kb", "secret", "");
    opened_by(p, &c, "other", "public", "");
    c.tenant = SLICE_NONE;
    opened_by(p, &c, "kb", "public", "");
    policy_unref(p);
}
