/* SPDX-License-Identifier: Apache-2.0 */
/* Scopes, groups and tenant: each kind, each wrong type, each limit; and what the forms of known
 * issuers come to. */
#include "auth/claims_read.h"
#include "tests/unit/auth/gate.h"

#include <criterion/criterion.h>

static const struct slice OVERAGE[] = {SLICE_LIT("_claim_names"), SLICE_LIT("hasgroups")};
static const struct tenant_name TENANTS[] = {{SLICE_LIT("T1"), SLICE_LIT("acme")},
                                             {SLICE_LIT("t2"), SLICE_LIT("globex")}};

static struct issuer issuer;
static struct arena arena;
static struct claims claims;

static void open_map(void)
{
    issuer = (struct issuer){
        .scopes = {.path = SLICE_LIT("scope"), .kind = CLAIM_SPACE_STRING},
        .groups = {.path = SLICE_LIT("groups"),
                   .kind = CLAIM_ARRAY,
                   .overage = OVERAGE,
                   .n_overage = 2},
        .tenant = {.path = SLICE_LIT("tid"), .kind = CLAIM_STRING},
        .tenants = TENANTS,
        .n_tenants = 2,
        .max_scopes = 3,
        .max_groups = 3,
    };
}

static void close_map(void)
{
    arena_done(&arena);
}

TestSuite(claims_map, .init = open_map, .fini = close_map);

static enum token_result map(const char *payload)
{
    json_t *root = json_loads(payload, 0, NULL);
    cr_assert_not_null(root, "%s", payload);
    claims = (struct claims){0};
    enum token_result result = claims_map(root, &issuer, &arena, &claims);
    json_decref(root);
    return result;
}

/* The values between bars, as one text. */
static const char *joined(const struct slice *values, size_t n)
{
    static char text[1024];
    text[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        sprintf(text + strlen(text), "%s%.*s", i ? "|" : "", (int)values[i].n, values[i].p);
    }
    return text;
}

static void expect_scopes(const char *payload, const char *expected)
{
    cr_assert_eq(map(payload), TOKEN_OK, "%s", payload);
    cr_expect_str_eq(joined(claims.scopes, claims.n_scopes), expected, "%s", payload);
}

Test(claims_map, splits_scopes_at_spaces_alone)
{
    expect_scopes("{\"scope\":\"a\"}", "a");
    expect_scopes("{\"scope\":\"a b c\"}", "a|b|c");
    expect_scopes("{\"scope\":\"  a  b \"}", "a|b");
    expect_scopes("{\"scope\":\"a,b a+b\"}", "a,b|a+b");
    expect_scopes("{\"scope\":\"!#[]~\"}", "!#[]~");
}

Test(claims_map, missing_or_empty_scopes_are_none)
{
    expect_scopes("{}", "");
    expect_scopes("{\"scope\":\"\"}", "");
    expect_scopes("{\"scope\":\"   \"}", "");
    issuer.scopes.path = SLICE_NONE;
    expect_scopes("{\"scope\":\"a\"}", "");
}

Test(claims_map, rejects_scopes_of_the_wrong_type)
{
    static const char *const BAD[] = {"null",       "1",           "true",        "[\"a\"]",
                                      "{}",         "\"a\\tb\"",   "\"a\\nb\"",   "\"a\\\"b\"",
                                      "\"a\\\\b\"", "\"\\u00e9\"", "\"a\\u007f\""};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        char payload[64];
        snprintf(payload, sizeof(payload), "{\"scope\":%s}", BAD[i]);
        cr_expect_eq(map(payload), TOKEN_CLAIM, "%s", payload);
        cr_expect_eq(claims.n_scopes, 0);
    }
}

Test(claims_map, refuses_too_many_scopes)
{
    expect_scopes("{\"scope\":\"a b\"}", "a|b");
    expect_scopes("{\"scope\":\"a b c\"}", "a|b|c");
    cr_expect_eq(map("{\"scope\":\"a b c d\"}"), TOKEN_CLAIM);
    issuer.scopes.kind = CLAIM_ARRAY;
    expect_scopes("{\"scope\":[\"a\",\"b\",\"c\"]}", "a|b|c");
    cr_expect_eq(map("{\"scope\":[\"a\",\"b\",\"c\",\"d\"]}"), TOKEN_CLAIM);
}

Test(claims_map, never_splits_an_array_element)
{
    issuer.scopes.kind = CLAIM_ARRAY;
    expect_scopes("{\"scope\":[\"a admin\"]}", "a admin");
    cr_expect_eq(claims.n_scopes, 1);
    expect_scopes("{\"scope\":[]}", "");
    cr_expect_eq(map("{\"scope\":\"a\"}"), TOKEN_CLAIM);
    cr_expect_eq(map("{\"scope\":[\"a\",1]}"), TOKEN_CLAIM);
    cr_expect_eq(map("{\"scope\":[\"a\",null]}"), TOKEN_CLAIM);
    cr_expect_eq(map("{\"scope\":[[\"a\"]]}"), TOKEN_CLAIM);
}

Test(claims_map, takes_a_string_whole)
{
    issuer.scopes.kind = CLAIM_STRING;
    expect_scopes("{\"scope\":\"a admin\"}", "a admin");
    cr_expect_eq(claims.n_scopes, 1);
    cr_expect_eq(map("{\"scope\":[\"a\"]}"), TOKEN_CLAIM);
}

static void expect_groups(const char *payload, const char *expected, bool overage)
{
    cr_assert_eq(map(payload), TOKEN_OK, "%s", payload);
    cr_expect_str_eq(joined(claims.groups, claims.n_groups), expected, "%s", payload);
    cr_expect_eq(claims.groups_overage, overage, "%s", payload);
}

Test(claims_map, reads_groups)
{
    expect_groups("{\"groups\":[\"a\",\"b\"]}", "a|b", false);
    expect_groups("{\"groups\":[]}", "", false);
    expect_groups("{}", "", false);
}

Test(claims_map, rejects_groups_of_the_wrong_type)
{
    static const char *const BAD[] = {"null", "1", "\"a\"", "{}", "[\"a\",1]", "[{}]", "true"};
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        char payload[64];
        snprintf(payload, sizeof(payload), "{\"groups\":%s}", BAD[i]);
        cr_expect_eq(map(payload), TOKEN_CLAIM, "%s", payload);
        cr_expect_eq(claims.n_groups, 0);
    }
}

Test(claims_map, too_many_groups_are_an_overage)
{
    expect_groups("{\"groups\":[\"a\",\"b\"]}", "a|b", false);
    expect_groups("{\"groups\":[\"a\",\"b\",\"c\"]}", "a|b|c", false);
    expect_groups("{\"groups\":[\"a\",\"b\",\"c\",\"d\"]}", "", true);
    cr_expect_eq(map("{\"groups\":[\"a\",\"b\",\"c\",1]}"), TOKEN_CLAIM);
}

Test(claims_map, a_sign_of_overage_hides_all_groups)
{
    expect_groups("{\"hasgroups\":true}", "", true);
    expect_groups("{\"_claim_names\":{\"groups\":\"src1\"}}", "", true);
    expect_groups("{\"hasgroups\":\"\"}", "", true);
    expect_groups("{\"hasgroups\":null}", "", true);
    expect_groups("{\"hasgroups\":true,\"groups\":[\"a\"]}", "", true);
    expect_groups("{\"hasgroups\":false,\"groups\":[\"a\"]}", "a", false);
    expect_groups("{\"x\":{\"hasgroups\":true},\"groups\":[\"a\"]}", "a", false);
}

Test(claims_map, maps_known_tenants_and_nothing_else)
{
    static const char *const NONE[] = {"null", "\"\"",   "1",     "[\"T1\"]", "{}",
                                       "true", "\"t1\"", "\"T\"", "\"T1 \"",  "\"acme\""};
    cr_assert_eq(map("{\"tid\":\"T1\"}"), TOKEN_OK);
    cr_expect(slice_is(claims.tenant, "acme"));
    cr_assert_eq(map("{\"tid\":\"t2\"}"), TOKEN_OK);
    cr_expect(slice_is(claims.tenant, "globex"));
    for (size_t i = 0; i < sizeof(NONE) / sizeof(NONE[0]); i++) {
        char payload[64];
        snprintf(payload, sizeof(payload), "{\"tid\":%s}", NONE[i]);
        cr_expect_eq(map(payload), TOKEN_OK, "%s", payload);
        cr_expect_null(claims.tenant.p, "%s", payload);
    }
    cr_expect_eq(map("{}"), TOKEN_OK);
    cr_expect_null(claims.tenant.p);
    issuer.tenant.path = SLICE_NONE;
    cr_expect_eq(map("{\"tid\":\"T1\"}"), TOKEN_OK);
    cr_expect_null(claims.tenant.p);
}

Test(claims_map, follows_dotted_paths)
{
    issuer.scopes =
        (struct claim_rule){.path = SLICE_LIT("realm_access.roles"), .kind = CLAIM_ARRAY};
    expect_scopes("{\"realm_access\":{\"roles\":[\"kb:read\"]}}", "kb:read");
    expect_scopes("{\"realm_access\":{}}", "");
    expect_scopes("{\"realm_access.roles\":[\"x\"]}", "");
    cr_expect_eq(map("{\"realm_access\":[\"roles\"]}"), TOKEN_CLAIM);
    cr_expect_eq(map("{\"realm_access\":null}"), TOKEN_CLAIM);
    issuer.scopes.path = SLICE_LIT("https://kb\\.test/scopes");
    expect_scopes("{\"https://kb.test/scopes\":[\"y\"]}", "y");
    issuer.scopes.path = SLICE_LIT("cognito:groups");
    expect_scopes("{\"cognito:groups\":[\"z\"]}", "z");
}
