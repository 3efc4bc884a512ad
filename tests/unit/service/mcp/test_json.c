/* SPDX-License-Identifier: Apache-2.0 */
#include "service/mcp/message.h"

#include <criterion/criterion.h>

static void add_times(struct dynbuf *b, const char *unit, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_text(b, unit);
    }
}

static bool parses(struct slice text)
{
    json_t *value = mcp_json_parse(text);
    json_decref(value);
    return value != NULL;
}

/* open n times, then core, then close n times */
static bool nested_parses(const char *open, const char *core, const char *close, size_t n)
{
    struct dynbuf b;
    dynbuf_init(&b, 1 << 22);
    add_times(&b, open, n);
    dynbuf_add_text(&b, core);
    add_times(&b, close, n);
    bool good = parses(dynbuf_get(&b));
    dynbuf_done(&b);
    return good;
}

static bool list_parses(const char *open, const char *first, const char *unit, size_t n,
                        const char *close)
{
    struct dynbuf b;
    dynbuf_init(&b, 1 << 22);
    dynbuf_add_text(&b, open);
    dynbuf_add_text(&b, first);
    add_times(&b, unit, n - 1);
    dynbuf_add_text(&b, close);
    bool good = parses(dynbuf_get(&b));
    dynbuf_done(&b);
    return good;
}

Test(json, counts_depth_before_parsing)
{
    cr_expect(nested_parses("[", "", "]", MCP_MAX_DEPTH - 1));
    cr_expect(nested_parses("[", "", "]", MCP_MAX_DEPTH));
    cr_expect_not(nested_parses("[", "", "]", MCP_MAX_DEPTH + 1));
    cr_expect(nested_parses("{\"a\":", "1", "}", MCP_MAX_DEPTH));
    cr_expect_not(nested_parses("{\"a\":", "1", "}", MCP_MAX_DEPTH + 1));
}

Test(json, does_not_count_what_stands_in_strings)
{
    cr_expect(nested_parses("", "[\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[{{{\"]", "", 1));
    cr_expect(nested_parses("", "[\"\\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\"]", "", 1));
    cr_expect(nested_parses("", "[\"\\\\\",[[\"]]\"]]]", "", 1));
    cr_expect(list_parses("[\"", ",", ",", 600, "\"]"));
}

Test(json, counts_members_and_elements_together)
{
    cr_expect(list_parses("[", "1", ",1", MCP_MAX_MEMBERS - 1, "]"));
    cr_expect(list_parses("[", "1", ",1", MCP_MAX_MEMBERS, "]"));
    cr_expect_not(list_parses("[", "1", ",1", MCP_MAX_MEMBERS + 1, "]"));
    cr_expect(list_parses("[", "[]", ", [ ]", MCP_MAX_MEMBERS, "]"));
    cr_expect_not(list_parses("[", "[]", ", [ ]", MCP_MAX_MEMBERS + 1, "]"));
    /* n arrays of one element are 2n */
    cr_expect(list_parses("[", "[1]", ",[1]", MCP_MAX_MEMBERS / 2, "]"));
    cr_expect_not(list_parses("[", "[1]", ",[1]", MCP_MAX_MEMBERS / 2 + 1, "]"));
    cr_expect(list_parses("[", "{\"a\":1}", ",{\"a\":1}", MCP_MAX_MEMBERS / 2, "]"));
    cr_expect_not(list_parses("[", "{\"a\":1}", ",{\"a\":1}", MCP_MAX_MEMBERS / 2 + 1, "]"));
}

Test(json, counts_bytes)
{
    cr_expect(list_parses("\"", "a", "a", MCP_MAX_BODY_BYTES - 2, "\""));
    cr_expect_not(list_parses("\"", "a", "a", MCP_MAX_BODY_BYTES - 1, "\""));
}

Test(json, is_strict)
{
    static const struct slice bad[] = {
        {"", 0},
        {NULL, 0},
        SLICE_LIT("{"),
        SLICE_LIT("{}{}"),
        SLICE_LIT("{} x"),
        SLICE_LIT("{}\0"),
        SLICE_LIT("\0{}"),
        SLICE_LIT("{\"a\":1,}"),
        SLICE_LIT("[1,]"),
        SLICE_LIT("{a:1}"),
        SLICE_LIT("{'a':1}"),
        SLICE_LIT("[01]"),
        SLICE_LIT("[1.]"),
        SLICE_LIT("[+1]"),
        SLICE_LIT("[NaN]"),
        SLICE_LIT("[1e999]"),
        SLICE_LIT("[99999999999999999999]"),
        SLICE_LIT("[\"\t\"]"),
        SLICE_LIT("[\"\0\"]"),
        SLICE_LIT("[\"\\x41\"]"),
        SLICE_LIT("[\"\\ud800\"]"),
        SLICE_LIT("[\"\\ud800x\"]"),
        SLICE_LIT("[\"\\ud800\\ud800\"]"),
        SLICE_LIT("[\"\\udc00\"]"),
        SLICE_LIT("[\"\xED\xA0\x80\"]"),
        SLICE_LIT("[\"\xF4\x90\x80\x80\"]"),
        SLICE_LIT("[\"\xC3\"]"),
        SLICE_LIT("{\"a\":1,\"a\":1}"),
        SLICE_LIT("{\"a\":{\"b\":1,\"\\u0062\":2}}"),
        SLICE_LIT("{\"\\u0000\":1}"),
        SLICE_LIT("\xEF\xBB\xBF{}"),
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        cr_expect_not(parses(bad[i]), "%zu: %s", i, bad[i].p ? bad[i].p : "(none)");
    }
}

Test(json, takes_any_value_and_keeps_nul_in_strings)
{
    static const char *const good[] = {"1", "null", "\"x\"", " [] ", "{}", "true", "[1.5e3]"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_expect(parses(slice_of(good[i])), "%s", good[i]);
    }
    json_t *text = mcp_json_parse(SLICE_LIT("\"a\\u0000b\""));
    cr_assert_eq(json_string_length(text), 3);
    cr_expect_eq(memcmp(json_string_value(text), "a\0b", 3), 0);
    json_decref(text);
}

Test(json, reads_no_byte_past_its_length)
{
    json_t *value = mcp_json_parse((struct slice){"[1]garbage", 3});
    cr_expect(json_is_array(value));
    json_decref(value);
}
