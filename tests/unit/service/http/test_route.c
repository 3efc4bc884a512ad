/* SPDX-License-Identifier: Apache-2.0 */
#include "service/http/route.h"

#include <criterion/criterion.h>

#define METADATA "/.well-known/oauth-protected-resource"

static enum route find(const char *method, const char *path, const char *host, const char *origin,
                       size_t n_origins, size_t body_bytes)
{
    static const struct slice HOSTS[] = {
        {"kb.example", 10}, {"[::1]", 5}, {"other.example:81", 16}};
    static const struct slice ORIGINS[] = {{"https://app.example", 19},
                                           {"http://localhost:3000", 21}};
    const struct http_options options = {
        .max_body_bytes = 100, .hosts = HOSTS, .n_hosts = 3, .origins = ORIGINS, .n_origins = 2};
    const struct route_input in = {.method = slice_of(method),
                                   .path = slice_of(path),
                                   .host = slice_of(host),
                                   .origin = slice_of(origin),
                                   .n_origins = n_origins,
                                   .body_bytes = body_bytes};
    return route_find(&options, &in);
}

static enum route find_plain(const char *method, const char *path)
{
    return find(method, path, "kb.example", NULL, 0, 0);
}

Test(route, serves_these_paths_and_methods_only)
{
    static const struct {
        const char *method, *path;
        enum route route;
    } CASES[] = {
        {"POST", "/mcp", ROUTE_MCP},
        {"POST", "/mcp/", ROUTE_MCP},
        {"GET", "/mcp", ROUTE_ONLY_POST},
        {"DELETE", "/mcp/", ROUTE_ONLY_POST},
        {"post", "/mcp", ROUTE_ONLY_POST},
        {"OPTIONS", "/mcp", ROUTE_ONLY_POST},
        {"GET", "/v1/search", ROUTE_SEARCH_GET},
        {"POST", "/v1/search", ROUTE_SEARCH_POST},
        {"HEAD", "/v1/search", ROUTE_ONLY_GET_POST},
        {"PUT", "/v1/search", ROUTE_ONLY_GET_POST},
        {"GET", METADATA, ROUTE_METADATA},
        {"GET", METADATA "/mcp", ROUTE_METADATA},
        {"POST", METADATA, ROUTE_NOT_FOUND},
        {"GET", METADATA "/", ROUTE_NOT_FOUND},
        {"GET", METADATA "/mcp/x", ROUTE_NOT_FOUND},
        {"POST", "/", ROUTE_NOT_FOUND},
        {"POST", "", ROUTE_NOT_FOUND},
        {"POST", "/mcp//", ROUTE_NOT_FOUND},
        {"POST", "/MCP", ROUTE_NOT_FOUND},
        {"POST", "/%6dcp", ROUTE_NOT_FOUND},
        {"POST", "/x/../mcp", ROUTE_NOT_FOUND},
        {"POST", "http://kb.example/mcp", ROUTE_NOT_FOUND},
        {"GET", "/v1/search/", ROUTE_NOT_FOUND},
        {"GET", "/livez", ROUTE_NOT_FOUND},
        {"GET", "/metrics", ROUTE_NOT_FOUND},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        cr_expect_eq(find_plain(CASES[i].method, CASES[i].path), CASES[i].route, "%s %s",
                     CASES[i].method, CASES[i].path);
    }
}

Test(route, host_is_compared_without_case_and_port_unless_the_list_names_one)
{
    static const struct {
        const char *host;
        bool served;
    } CASES[] = {
        {"kb.example", true},
        {"KB.Example:8443", true},
        {"[::1]", true},
        {"[::1]:8080", true},
        {"other.example:81", true},
        {"other.example", false},
        {"other.example:82", false},
        {"", false},
        {":80", false},
        {"kb.example.evil", false},
        {"evil-kb.example", false},
        {"kb.example:80:90", false},
        {"kb.example:80/x", false},
        {"kb.example:", false},
        {"kb.example.:80", false},
        {"kb.example:65535", true},
        {"kb.example:123456", false},
        {"::1", false},
        {"kb.exampl", false},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        cr_expect_eq(find("POST", "/mcp", CASES[i].host, NULL, 0, 0),
                     CASES[i].served ? ROUTE_MCP : ROUTE_BAD_HOST, "%s", CASES[i].host);
    }
}

Test(route, origin_is_compared_exactly_and_may_be_absent)
{
    static const struct {
        const char *origin;
        size_t n;
        bool served;
    } CASES[] = {
        {NULL, 0, true},
        {"https://app.example", 1, true},
        {"http://localhost:3000", 1, true},
        {"https://app.example", 2, false},
        {"http://app.example", 1, false},
        {"https://app.example:8443", 1, false},
        {"https://app.example.evil", 1, false},
        {"https://APP.example", 1, false},
        {"null", 1, false},
        {"", 1, false},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        cr_expect_eq(find("POST", "/mcp", "kb.example", CASES[i].origin, CASES[i].n, 0),
                     CASES[i].served ? ROUTE_MCP : ROUTE_BAD_ORIGIN, "%s", CASES[i].origin);
    }
}

Test(route, the_first_test_that_fails_answers)
{
    static const struct {
        const char *what, *method, *path, *host, *origin;
        size_t body_bytes;
        enum route route;
    } CASES[] = {
        {"Origin before all", "PUT", "/none", "evil", "https://evil", 101, ROUTE_BAD_ORIGIN},
        {"Origin before metadata", "GET", METADATA, "evil", "null", 0, ROUTE_BAD_ORIGIN},
        {"metadata before Host", "GET", METADATA, "evil", NULL, 0, ROUTE_METADATA},
        {"Host before preflight", "OPTIONS", "/mcp", "evil", "https://app.example", 0,
         ROUTE_BAD_HOST},
        {"Host before path", "POST", "/none", "evil", NULL, 101, ROUTE_BAD_HOST},
        {"preflight before path", "OPTIONS", "/none", "kb.example", "https://app.example", 101,
         ROUTE_PREFLIGHT},
        {"path before size", "POST", "/none", "kb.example", NULL, 101, ROUTE_NOT_FOUND},
        {"method before size", "PUT", "/mcp", "kb.example", NULL, 101, ROUTE_ONLY_POST},
        {"size at the limit", "POST", "/mcp", "kb.example", NULL, 100, ROUTE_MCP},
        {"size above it", "POST", "/mcp", "kb.example", NULL, 101, ROUTE_BODY_TOO_LARGE},
        {"size above it, REST", "GET", "/v1/search", "kb.example", NULL, 101, ROUTE_BODY_TOO_LARGE},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(CASES[0]); i++) {
        cr_expect_eq(find(CASES[i].method, CASES[i].path, CASES[i].host, CASES[i].origin,
                          CASES[i].origin ? 1 : 0, CASES[i].body_bytes),
                     CASES[i].route, "%s", CASES[i].what);
    }
}
