/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens in the shape of known authorization servers, from signed bytes to the documents they open.
 * Names, identifiers and addresses are invented; what is real is which claim stands where, in which
 * form and with which header. */
#include "auth/token.h"
#include "scope/policy.h"
#include "tests/unit/auth/mint.h"

#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#define NOW 1800000000
#define TIMES "\"iat\":1799999900,\"nbf\":1799999900,\"exp\":1800003600,"
#define AUD "\"aud\":\"https://kb.example.com/mcp\","

#define ISSUER(name, iss, more, scopes, groups, tenant, client)                                    \
    "  " name ":\n"                                                                                \
    "    iss: \"" iss "\"\n"                                                                       \
    "    jwks_file: " name ".json\n"                                                               \
    "    audiences: [\"https://kb.example.com/mcp\", \"api://kb\"]\n" more "    claims:\n"         \
    "      scopes: " scopes "\n"                                                                   \
    "      groups: " groups "\n"                                                                   \
    "      tenant: " tenant "\n" client "    tenants: {\"org-1\": acme, \"org-2\": globex}\n"

static const char POLICY[] =
    "policy_version: 1\n"
    "issuers:\n" ISSUER("entra", "https://login.example.com/org-1/v2.0", "    typ_any: true\n",
                        "{path: scp, kind: space_string}",
                        "{path: groups, kind: array, overage: [_claim_names, hasgroups]}",
                        "{path: tid, kind: string}", "      client_id: {path: azp, kind: string}\n")
        ISSUER("okta", "https://okta.example.com/oauth2/aus1", "    typ_any: true\n",
               "{path: scp, kind: array}", "{path: groups, kind: array}",
               "{path: tenant, kind: string}", "      client_id: {path: cid, kind: string}\n")
            ISSUER("auth0", "https://auth0.example.com/", "    typ_any: true\n",
                   "{path: scope, kind: space_string}", "{path: permissions, kind: array}",
                   "{path: org_id, kind: string}", "      client_id: {path: azp, kind: string}\n")
                ISSUER("keycloak", "https://sso.example.com/realms/main", "    typ_any: true\n",
                       "{path: scope, kind: space_string}",
                       "{path: 'resource_access.kb\\.example\\.com.roles', kind: array}",
                       "{path: realm.tenant, kind: string}",
                       "      client_id: {path: azp, kind: string}\n")
                    ISSUER("cognito", "https://pool.example.com/region_1", "    typ_any: true\n",
                           "{path: scope, kind: space_string}",
                           "{path: \"cognito:groups\", kind: array}",
                           "{path: \"custom:tenant\", kind: string}", "")
                        ISSUER(
                            "rfc9068", "https://as.example.com", "",
                            "{path: scope, kind: space_string}",
                            "{path: entitlements, kind: array}", "{path: tenant, kind: string}",
                            "") "grants:\n"
                                "  - {id: read, tenants: [acme, globex], when: {scopes_any: "
                                "[\"kb:read\", "
                                "\"kb.example.com/kb:read\"]}, allow: {collections: [kb, news], "
                                "doc_types: [\"*\"], labels: "
                                "[\"*\"]}}\n"
                                "  - {id: legal, tenants: [acme], when: {groups_any: [legal]}, "
                                "allow: {collections: "
                                "[contracts], doc_types: [\"*\"], labels: [\"*\"]}}\n"
                                "  - {id: batch, tenants: [acme], when: {client_ids_any: "
                                "[batch-client]}, allow: "
                                "{collections: [archive], doc_types: [\"*\"], labels: [\"*\"]}}\n"
                                "denies:\n"
                                "  - {id: news, unless: {groups_any: [legal, press]}, match: "
                                "{collections: [news]}}\n";

#define ENTRA                                                                                      \
    "{\"iss\":\"https://login.example.com/org-1/v2.0\"," AUD TIMES                                 \
    "\"sub\":\"pairwise-1\",\"oid\":\"user-1\",\"tid\":\"org-1\",\"azp\":\"agent\","               \
    "\"ver\":\"2.0\",\"uti\":\"u1\",\"scp\":\"kb:read profile\",\"groups\":[\"g-1\",\"legal\"]}"
#define OKTA                                                                                       \
    "{\"iss\":\"https://okta.example.com/oauth2/aus1\"," AUD TIMES                                 \
    "\"sub\":\"ann@example.com\",\"cid\":\"agent\",\"uid\":\"user-1\",\"jti\":\"AT.1\","           \
    "\"tenant\":\"org-1\",\"scp\":[\"kb:read\",\"openid\"],\"groups\":[\"Everyone\",\"legal\"]}"
#define AUTH0                                                                                      \
    "{\"iss\":\"https://auth0.example.com/\",\"aud\":[\"https://kb.example.com/mcp\","             \
    "\"https://auth0.example.com/userinfo\"]," TIMES                                               \
    "\"sub\":\"auth0|user-1\",\"azp\":\"agent\",\"org_id\":\"org-2\",\"scope\":\"openid "          \
    "kb:read\",\"permissions\":[\"press\",\"read:x\"]}"
#define KEYCLOAK                                                                                   \
    "{\"iss\":\"https://sso.example.com/realms/main\"," AUD TIMES                                  \
    "\"sub\":\"f-1\",\"typ\":\"Bearer\",\"azp\":\"agent\",\"jti\":\"k-1\",\"sid\":\"s-1\","        \
    "\"realm\":{\"tenant\":\"org-1\"},\"realm_access\":{\"roles\":[\"legal\",\"admin\"]},"         \
    "\"resource_access\":{\"kb.example.com\":{\"roles\":[\"press\"]},\"account\":{\"roles\":"      \
    "[\"legal\"]}},\"scope\":\"profile kb:read\"}"
#define COGNITO                                                                                    \
    "{\"iss\":\"https://pool.example.com/region_1\"," AUD TIMES                                    \
    "\"sub\":\"c-1\",\"client_id\":\"agent\",\"token_use\":\"access\",\"jti\":\"c-2\","            \
    "\"custom:tenant\":\"org-1\",\"scope\":\"kb.example.com/kb:read\","                            \
    "\"cognito:groups\":[\"legal\"],\"username\":\"ann\"}"
#define RFC9068                                                                                    \
    "{\"iss\":\"https://as.example.com\"," AUD TIMES                                               \
    "\"sub\":\"ann\",\"client_id\":\"agent\",\"jti\":\"r-1\",\"tenant\":\"org-1\","                \
    "\"scope\":\"kb:read\",\"entitlements\":[\"legal\"],\"roles\":[\"press\"]}"

#define JWT "\"JWT\""
#define AT_JWT "\"at+jwt\""

/* changes: members that replace those of the payload; "-name" takes one away. typ: NULL for none.
 * sees: the collections it opens. */
struct row {
    const char *name, *payload, *typ, *changes;
    enum token_result result;
    const char *scopes, *groups, *client, *sees;
};

static const struct row ROWS[] = {
    {"entra", ENTRA, JWT, "{}", TOKEN_OK, "kb:read|profile", "g-1|legal", "agent",
     "kb news contracts "},
    {"entra, its tenant a guest's", ENTRA, JWT, "{\"tid\":\"org-3\"}", TOKEN_OK, "kb:read|profile",
     "g-1|legal", "agent", ""},
    {"entra, groups left out", ENTRA, JWT,
     "{\"-groups\":0,\"_claim_names\":{\"groups\":\"src1\"},\"_claim_sources\":{\"src1\":{"
     "\"endpoint\":\"https://graph.example.com/x\"}}}",
     TOKEN_OK, "kb:read|profile", "", "agent", "kb "},
    {"entra, some groups beside the sign that they are not all", ENTRA, JWT,
     "{\"_claim_names\":{\"groups\":\"src1\"}}", TOKEN_OK, "kb:read|profile", "", "agent", "kb "},
    {"entra, groups left out of an implicit grant", ENTRA, JWT,
     "{\"-groups\":0,\"hasgroups\":true}", TOKEN_OK, "kb:read|profile", "", "agent", "kb "},
    {"entra, no user: roles are no scopes", ENTRA, JWT,
     "{\"-scp\":0,\"-groups\":0,\"idtyp\":\"app\",\"roles\":[\"kb:read\",\"legal\"]}", TOKEN_OK, "",
     "", "agent", ""},
    {"entra, no user, a client with a grant of its own", ENTRA, JWT,
     "{\"-scp\":0,\"-groups\":0,\"azp\":\"batch-client\"}", TOKEN_OK, "", "", "batch-client",
     "archive "},
    {"entra, scopes as an array", ENTRA, JWT, "{\"scp\":[\"kb:read\"]}", TOKEN_CLAIM, "", "", "",
     ""},
    {"entra, an ID token", ENTRA, JWT, "{\"nonce\":\"n\"}", TOKEN_CLAIM, "", "", "", ""},
    {"entra, the other version's issuer", ENTRA, JWT,
     "{\"iss\":\"https://sts.example.com/org-1/\"}", TOKEN_ISSUER, "", "", "", ""},
    {"entra, another tenant's issuer", ENTRA, JWT,
     "{\"iss\":\"https://login.example.com/org-2/v2.0\"}", TOKEN_ISSUER, "", "", "", ""},
    {"entra, for another API", ENTRA, JWT, "{\"aud\":\"api://other\"}", TOKEN_AUDIENCE, "", "", "",
     ""},
    {"entra, for the alias", ENTRA, JWT, "{\"aud\":\"api://kb\"}", TOKEN_OK, "kb:read|profile",
     "g-1|legal", "agent", "kb news contracts "},

    {"okta", OKTA, NULL, "{}", TOKEN_OK, "kb:read|openid", "Everyone|legal", "agent",
     "kb news contracts "},
    {"okta, one element with a space is one scope", OKTA, NULL, "{\"scp\":[\"openid kb:read\"]}",
     TOKEN_OK, "openid kb:read", "Everyone|legal", "agent", "contracts "},
    {"okta, scopes as a text", OKTA, NULL, "{\"scp\":\"kb:read\"}", TOKEN_CLAIM, "", "", "", ""},
    {"okta, the scope claim of others", OKTA, NULL, "{\"-scp\":0,\"scope\":\"kb:read\"}", TOKEN_OK,
     "", "Everyone|legal", "agent", "contracts "},
    {"okta, no tenant", OKTA, NULL, "{\"-tenant\":0}", TOKEN_OK, "kb:read|openid", "Everyone|legal",
     "agent", ""},
    {"okta, client of the wrong type", OKTA, NULL, "{\"cid\":7}", TOKEN_CLAIM, "", "", "", ""},

    {"auth0", AUTH0, JWT, "{}", TOKEN_OK, "openid|kb:read", "press|read:x", "agent", "kb news "},
    {"auth0, RFC 9068 profile", AUTH0, AT_JWT,
     "{\"-azp\":0,\"client_id\":\"agent\",\"jti\":\"a-1\"}", TOKEN_OK, "openid|kb:read",
     "press|read:x", "", "kb news "},
    {"auth0, its own audience alone", AUTH0, JWT,
     "{\"aud\":[\"https://auth0.example.com/userinfo\"]}", TOKEN_AUDIENCE, "", "", "", ""},
    {"auth0, an organization nobody mapped", AUTH0, JWT, "{\"org_id\":\"org\"}", TOKEN_OK,
     "openid|kb:read", "press|read:x", "agent", ""},
    {"auth0, issuer without its slash", AUTH0, JWT, "{\"iss\":\"https://auth0.example.com\"}",
     TOKEN_ISSUER, "", "", "", ""},

    {"keycloak, roles of our client and of no other", KEYCLOAK, JWT, "{}", TOKEN_OK,
     "profile|kb:read", "press", "agent", "kb news "},
    {"keycloak, without roles of our client", KEYCLOAK, JWT,
     "{\"resource_access\":{\"account\":{\"roles\":[\"legal\"]}}}", TOKEN_OK, "profile|kb:read", "",
     "agent", "kb "},
    {"keycloak, a name with dots is one step", KEYCLOAK, JWT,
     "{\"resource_access\":{\"kb\":{\"example\":{\"com\":{\"roles\":[\"legal\"]}}}}}", TOKEN_OK,
     "profile|kb:read", "", "agent", "kb "},
    {"keycloak, roles that are no list", KEYCLOAK, JWT,
     "{\"resource_access\":{\"kb.example.com\":{\"roles\":\"legal\"}}}", TOKEN_CLAIM, "", "", "",
     ""},
    {"keycloak, another realm", KEYCLOAK, JWT, "{\"iss\":\"https://sso.example.com/realms/main2\"}",
     TOKEN_ISSUER, "", "", "", ""},

    {"cognito with an audience", COGNITO, NULL, "{}", TOKEN_OK, "kb.example.com/kb:read", "legal",
     "agent", "kb news contracts "},
    {"cognito as it comes", COGNITO, NULL, "{\"-aud\":0}", TOKEN_AUDIENCE, "", "", "", ""},
    {"cognito, client_id is no audience", COGNITO, NULL,
     "{\"-aud\":0,\"client_id\":\"https://kb.example.com/mcp\"}", TOKEN_AUDIENCE, "", "", "", ""},
    {"cognito, an ID token", COGNITO, NULL, "{\"token_use\":\"id\",\"at_hash\":\"x\"}", TOKEN_CLAIM,
     "", "", "", ""},
    {"cognito, another resource server's scope", COGNITO, NULL,
     "{\"scope\":\"other.example.com/kb:read\",\"-cognito:groups\":0}", TOKEN_OK,
     "other.example.com/kb:read", "", "agent", ""},

    {"rfc9068", RFC9068, AT_JWT, "{}", TOKEN_OK, "kb:read", "legal", "agent", "kb news contracts "},
    {"rfc9068 with its media type in full", RFC9068, "\"application/at+jwt\"", "{}", TOKEN_OK,
     "kb:read", "legal", "agent", "kb news contracts "},
    {"rfc9068, unlike its type", RFC9068, JWT, "{}", TOKEN_TYP, "", "", "", ""},
    {"rfc9068 without jti", RFC9068, AT_JWT, "{\"-jti\":0}", TOKEN_CLAIM, "", "", "", ""},
    {"rfc9068 without client_id", RFC9068, AT_JWT, "{\"-client_id\":0}", TOKEN_CLAIM, "", "", "",
     ""},
    {"rfc9068 without iat", RFC9068, AT_JWT, "{\"-iat\":0}", TOKEN_CLAIM, "", "", "", ""},
    {"rfc9068 without scope", RFC9068, AT_JWT, "{\"-scope\":0,\"-entitlements\":0}", TOKEN_OK, "",
     "", "agent", ""},
};

enum { N_ROWS = sizeof(ROWS) / sizeof(ROWS[0]) };

static struct policy *policy;
static EVP_PKEY *pkey;
static struct jwks *keys[16];
static struct token_trust trust;

static void open_issuers(void)
{
    struct err_detail detail = {.text = ""};
    struct dynbuf set;
    policy = policy_parse(slice_of(POLICY), "p.yaml", &detail);
    cr_assert(policy, "%s", detail.text);
    trust = (struct token_trust){.keys = keys};
    trust.issuers = policy_issuers(policy, &trust.n);
    pkey = mint_pkey(JWS_RS256);
    dynbuf_init(&set, MINT_MAX_BYTES);
    dynbuf_add_text(&set, "{\"keys\":[");
    mint_jwk(&set, pkey, "\"kid\":\"k1\",\"use\":\"sig\",\"alg\":\"RS256\",");
    dynbuf_add_text(&set, "]}");
    for (size_t i = 0; i < trust.n; i++) {
        keys[i] = jwks_parse(dynbuf_get(&set), trust.issuers[i].algs, NULL);
        cr_assert_not_null(keys[i]);
    }
    dynbuf_done(&set);
}

static void close_issuers(void)
{
    for (size_t i = 0; i < trust.n; i++) {
        jwks_unref(keys[i]);
    }
    EVP_PKEY_free(pkey);
    policy_unref(policy);
}

TestSuite(issuers, .init = open_issuers, .fini = close_issuers);

static char *change(const struct row *row)
{
    json_t *payload = json_loads(row->payload, 0, NULL), *value;
    json_t *changes = json_loads(row->changes, 0, NULL);
    const char *name;
    cr_assert(payload && changes, "bad JSON: %s", row->name);
    json_object_foreach(changes, name, value)
    {
        if (name[0] == '-') {
            cr_assert_eq(json_object_del(payload, name + 1), 0, "%s: no %s", row->name, name);
        } else {
            json_object_set(payload, name, value);
        }
    }
    char *text = json_dumps(payload, JSON_COMPACT);
    json_decref(payload);
    json_decref(changes);
    return text;
}

static enum token_result verify(const struct row *row, struct arena *arena, struct claims *claims)
{
    char header[96], *payload = change(row);
    (void)snprintf(header, sizeof(header), "{\"alg\":\"RS256\",\"kid\":\"k1\"%s%s}",
                   row->typ ? ",\"typ\":" : "", row->typ ? row->typ : "");
    struct dynbuf token;
    dynbuf_init(&token, MINT_MAX_BYTES);
    mint_compact(&token, pkey, JWS_RS256, slice_of(header), slice_of(payload));
    enum token_result result =
        token_verify(&trust, dynbuf_get(&token), (int64_t)NOW * 1000, arena, claims);
    dynbuf_done(&token);
    free(payload);
    return result;
}

/* The values between bars. */
static void join(const struct slice *values, size_t n, struct dynbuf *out)
{
    dynbuf_cut(out, 0);
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_text(out, i ? "|" : "");
        dynbuf_add(out, values[i]);
    }
}

static void list_seen(const struct claims *claims, struct dynbuf *out)
{
    static const char *const COLLECTIONS[] = {"kb", "news", "contracts", "archive", "other"};
    struct filter *filter = policy_compile(policy, claims);
    dynbuf_cut(out, 0);
    for (size_t i = 0; i < sizeof(COLLECTIONS) / sizeof(COLLECTIONS[0]); i++) {
        struct doc_scope where = {.collection = slice_of(COLLECTIONS[i]),
                                  .doc_type = SLICE_LIT("page")};
        if (filter_permits(filter, &where)) {
            dynbuf_add_text(out, COLLECTIONS[i]);
            dynbuf_add_text(out, " ");
        }
    }
    cr_expect_eq(filter_is_none(filter) && out->n, false);
    filter_unref(filter);
}

static void expect_claims(const struct row *row, const struct claims *claims)
{
    struct dynbuf text;
    dynbuf_init(&text, MINT_MAX_BYTES);
    join(claims->scopes, claims->n_scopes, &text);
    cr_expect(slice_is(dynbuf_get(&text), row->scopes), "%s: scopes", row->name);
    join(claims->groups, claims->n_groups, &text);
    cr_expect(slice_is(dynbuf_get(&text), row->groups), "%s: groups", row->name);
    cr_expect(slice_eq(claims->client_id, slice_of(row->client)), "%s: client", row->name);
    list_seen(claims, &text);
    cr_expect(slice_is(dynbuf_get(&text), row->sees), "%s: sees %.*s", row->name, (int)text.n,
              text.p);
    dynbuf_done(&text);
}

Test(issuers, tokens_of_known_servers_open_what_they_should)
{
    for (int i = 0; i < N_ROWS; i++) {
        const struct row *row = &ROWS[i];
        struct arena arena = {0};
        struct claims claims = {0};
        enum token_result result = verify(row, &arena, &claims);
        cr_expect_eq(result, row->result, "%s: %s", row->name, token_result_name(result));
        if (result == TOKEN_OK && row->result == TOKEN_OK) {
            expect_claims(row, &claims);
        }
        arena_done(&arena);
    }
}
