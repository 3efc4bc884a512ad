/* SPDX-License-Identifier: Apache-2.0 */
#include "auth/challenge.h"

#include <criterion/criterion.h>

static const struct slice SCOPES[] = {SLICE_LIT("kb:read"), SLICE_LIT("kb:list")};
static const struct slice SERVERS[] = {SLICE_LIT("https://login.test/")};

static struct challenge_options options(void)
{
    return (struct challenge_options){.resource = SLICE_LIT("https://kb.test/mcp"),
                                      .scopes = SCOPES,
                                      .n_scopes = 2,
                                      .authorization_servers = SERVERS,
                                      .n_authorization_servers = 1};
}

static void expect_header(const struct challenge_options *o, enum challenge c, const char *expected)
{
    struct dynbuf out;
    dynbuf_init(&out, 4096);
    challenge_header(&out, o, c);
    cr_expect(slice_is(dynbuf_get(&out), expected), "%.*s", (int)out.n, out.p);
    cr_expect_not(out.failed);
    dynbuf_done(&out);
}

#define METADATA "resource_metadata=\"https://kb.test/.well-known/oauth-protected-resource/mcp\""

Test(challenge, names_no_error_where_no_token_came)
{
    struct challenge_options o = options();
    expect_header(&o, CHALLENGE_NO_TOKEN, "Bearer scope=\"kb:read kb:list\", " METADATA);
}

Test(challenge, names_the_error_otherwise)
{
    struct challenge_options o = options();
    expect_header(&o, CHALLENGE_INVALID_TOKEN,
                  "Bearer error=\"invalid_token\", scope=\"kb:read kb:list\", " METADATA);
    expect_header(&o, CHALLENGE_INVALID_REQUEST,
                  "Bearer error=\"invalid_request\", scope=\"kb:read kb:list\", " METADATA);
    expect_header(&o, CHALLENGE_INSUFFICIENT_SCOPE,
                  "Bearer error=\"insufficient_scope\", scope=\"kb:read kb:list\", " METADATA);
}

Test(challenge, leaves_an_empty_scope_out)
{
    struct challenge_options o = options();
    o.n_scopes = 0;
    expect_header(&o, CHALLENGE_NO_TOKEN, "Bearer " METADATA);
}

Test(challenge, no_value_can_end_the_header)
{
    struct challenge_options o = options();
    const struct slice hostile[] = {SLICE_LIT("a\"b\\c\r\nSet-Cookie: x")};
    o.scopes = hostile;
    o.n_scopes = 1;
    expect_header(&o, CHALLENGE_NO_TOKEN, "Bearer scope=\"a\\\"b\\\\cSet-Cookie: x\", " METADATA);
}

Test(challenge, has_one_status_and_body_a_kind)
{
    static const struct {
        enum challenge c;
        int status;
        const char *body;
    } TABLE[] = {{CHALLENGE_NO_TOKEN, 401, ""},
                 {CHALLENGE_INVALID_TOKEN, 401, "{\"error\":\"invalid_token\"}"},
                 {CHALLENGE_INVALID_REQUEST, 400, "{\"error\":\"invalid_request\"}"},
                 {CHALLENGE_INSUFFICIENT_SCOPE, 403, "{\"error\":\"insufficient_scope\"}"}};
    for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++) {
        cr_expect_eq(challenge_status(TABLE[i].c), TABLE[i].status);
        cr_expect(slice_is(challenge_body(TABLE[i].c), TABLE[i].body));
    }
}

static void expect_metadata(const struct challenge_options *o, const char *expected)
{
    struct dynbuf out;
    dynbuf_init(&out, 4096);
    challenge_metadata(&out, o);
    cr_expect(slice_is(dynbuf_get(&out), expected), "%.*s", (int)out.n, out.p);
    dynbuf_done(&out);
}

Test(challenge, describes_the_resource)
{
    struct challenge_options o = options();
    expect_metadata(&o, "{\"resource\":\"https://kb.test/mcp\","
                        "\"authorization_servers\":[\"https://login.test/\"],"
                        "\"scopes_supported\":[\"kb:read\",\"kb:list\"],"
                        "\"bearer_methods_supported\":[\"header\"]}");
    o.n_scopes = 0;
    expect_metadata(&o, "{\"resource\":\"https://kb.test/mcp\","
                        "\"authorization_servers\":[\"https://login.test/\"],"
                        "\"bearer_methods_supported\":[\"header\"]}");
}

Test(challenge, puts_the_well_known_part_before_the_path)
{
    static const char *const TABLE[][2] = {
        {"https://h/mcp", "https://h/.well-known/oauth-protected-resource/mcp"},
        {"https://h/mcp/", "https://h/.well-known/oauth-protected-resource/mcp"},
        {"https://h", "https://h/.well-known/oauth-protected-resource"},
        {"https://h/", "https://h/.well-known/oauth-protected-resource"},
        {"https://h:8443/a/b", "https://h:8443/.well-known/oauth-protected-resource/a/b"},
        {"http://127.0.0.1:8080/mcp",
         "http://127.0.0.1:8080/.well-known/oauth-protected-resource/mcp"},
        {"https://h?x=1", "https://h/.well-known/oauth-protected-resource?x=1"}};
    for (size_t i = 0; i < sizeof(TABLE) / sizeof(TABLE[0]); i++) {
        struct dynbuf out;
        dynbuf_init(&out, 4096);
        challenge_metadata_url(&out, slice_of(TABLE[i][0]));
        cr_expect(slice_is(dynbuf_get(&out), TABLE[i][1]), "%.*s", (int)out.n, out.p);
        dynbuf_done(&out);
    }
}
