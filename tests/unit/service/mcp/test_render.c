/* SPDX-License-Identifier: Apache-2.0 */
/* Small answers byte by byte, the long ones by what they must and must not hold. */
#include "service/mcp/render.h"

#include "service/mcp/static_text.h"

#include <criterion/criterion.h>

#define LEGACY_HEAD "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{"
#define MODERN_HEAD LEGACY_HEAD "\"resultType\":\"complete\","
#define META                                                                                       \
    "\"_meta\":{\"io.modelcontextprotocol/serverInfo\":{\"name\":\"kbgate\",\"title\":\"kbgate "   \
    "knowledge base\",\"version\":\"" KB_VERSION "\"}}"

static const struct mcp_call LEGACY = {.id = {"1", 1}, .legacy_version = "2025-06-18"};
static const struct mcp_call MODERN = {.id = {"1", 1}, .modern = true};

static void expect_bytes(struct dynbuf *out, const char *expected)
{
    cr_expect(slice_is(dynbuf_get(out), expected), "\n%.*s\n%s", (int)out->n, out->p, expected);
    cr_expect_not(out->failed);
    dynbuf_done(out);
    dynbuf_init(out, 1 << 20);
}

/* The result of the message in out, parsed; the document is released by the caller. */
static const json_t *result_of(struct dynbuf *out, json_t **ret_document)
{
    *ret_document = mcp_json_parse(dynbuf_get(out));
    cr_assert_not_null(*ret_document, "%.*s", (int)out->n, out->p);
    cr_expect_null(memchr(out->p, '\n', out->n), "one line, for stdio");
    cr_expect_eq(json_integer_value(json_object_get(*ret_document, "id")), 1);
    cr_expect_eq(json_object_size(*ret_document), 3);
    return json_object_get(*ret_document, "result");
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "(none)";
}

Test(render, errors)
{
    struct dynbuf out;
    dynbuf_init(&out, 1 << 20);
    mcp_render_error(&out, SLICE_NONE, MCP_ERROR_PARSE, "x", SLICE_NONE);
    expect_bytes(&out, "{\"jsonrpc\":\"2.0\",\"error\":{\"code\":-32700,\"message\":\"x\"}}");
    mcp_render_error(&out, SLICE_LIT("\"a\""), MCP_ERROR_INTERNAL, "say \"x\"", SLICE_NONE);
    expect_bytes(&out, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"error\":{\"code\":-32603,"
                       "\"message\":\"say \\\"x\\\"\"}}");
    mcp_render_error(&out, SLICE_LIT("7"), MCP_ERROR_READ_RETRY, "busy",
                     SLICE_LIT("{\"type\":\"retryable\"}"));
    expect_bytes(&out, "{\"jsonrpc\":\"2.0\",\"id\":7,\"error\":{\"code\":-31002,\"message\":"
                       "\"busy\",\"data\":{\"type\":\"retryable\"}}}");
    dynbuf_done(&out);
}

Test(render, ping)
{
    struct dynbuf out;
    dynbuf_init(&out, 1 << 20);
    mcp_render_ping(&out, &LEGACY);
    expect_bytes(&out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    dynbuf_done(&out);
}

Test(render, tool_result_holds_the_same_json_twice)
{
    struct dynbuf out;
    dynbuf_init(&out, 1 << 20);
    struct slice structured = SLICE_LIT("{\"results\":[],\"x\":\"a\\n\xC3\xA9\"}");
    const char *both = "\"content\":[{\"type\":\"text\",\"text\":\"{\\\"results\\\":[],\\\"x\\\":"
                       "\\\"a\\\\n\xC3\xA9\\\"}\"}],\"structuredContent\":{\"results\":[],\"x\":"
                       "\"a\\n\xC3\xA9\"},";
    char expected[1024];
    mcp_render_tool_result(&out, &LEGACY, structured, true);
    snprintf(expected, sizeof(expected), LEGACY_HEAD "%s\"isError\":true}}", both);
    expect_bytes(&out, expected);
    mcp_render_tool_result(&out, &MODERN, structured, false);
    snprintf(expected, sizeof(expected), MODERN_HEAD "%s\"isError\":false," META "}}", both);
    expect_bytes(&out, expected);
    dynbuf_done(&out);
}

Test(render, resource)
{
    struct dynbuf out;
    dynbuf_init(&out, 1 << 20);
    struct mcp_call call = LEGACY;
    call.uri = SLICE_LIT("kb://index");
    mcp_render_resource(&out, &call, "application/json", SLICE_LIT("{\"a\":1}"));
    expect_bytes(&out, LEGACY_HEAD
                 "\"contents\":[{\"uri\":\"kb://index\",\"mimeType\":\"application/json\","
                 "\"text\":\"{\\\"a\\\":1}\"}]}}");
    call = MODERN;
    call.uri = SLICE_LIT("kb://doc/a/b");
    mcp_render_resource(&out, &call, "text/plain", SLICE_LIT(""));
    expect_bytes(&out, MODERN_HEAD
                 "\"contents\":[{\"uri\":\"kb://doc/a/b\",\"mimeType\":\"text/plain\","
                 "\"text\":\"\"}],\"ttlMs\":5000,\"cacheScope\":\"private\"," META "}}");
    dynbuf_done(&out);
}

Test(render, missing_resource_has_the_code_of_its_era)
{
    struct dynbuf out;
    dynbuf_init(&out, 1 << 20);
    struct mcp_call call = LEGACY;
    call.uri = SLICE_LIT("x\"\0");
    mcp_render_resource_missing(&out, &call);
    expect_bytes(&out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32002,\"message\":"
                       "\"resource not found\",\"data\":{\"uri\":\"x\\\"\\u0000\"}}}");
    call.modern = true;
    mcp_render_resource_missing(&out, &call);
    expect_bytes(&out, "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32602,\"message\":"
                       "\"resource not found\",\"data\":{\"uri\":\"x\\\"\\u0000\"}}}");
    dynbuf_done(&out);
}

static void expect_capabilities(const json_t *result)
{
    char *text = json_dumps(json_object_get(result, "capabilities"), JSON_COMPACT);
    cr_expect_str_eq(text, "{\"tools\":{},\"resources\":{},\"prompts\":{}}");
    free(text);
    cr_expect_str_eq(text_at(result, "instructions"), SERVER_INSTRUCTIONS);
}

Test(render, initialize)
{
    struct dynbuf out;
    json_t *document;
    dynbuf_init(&out, 1 << 20);
    mcp_render_initialize(&out, &LEGACY);
    const json_t *result = result_of(&out, &document);
    cr_expect_eq(json_object_size(result), 4);
    cr_expect_str_eq(text_at(result, "protocolVersion"), "2025-06-18");
    const json_t *info = json_object_get(result, "serverInfo");
    cr_expect_str_eq(text_at(info, "name"), "kbgate");
    cr_expect_str_eq(text_at(info, "version"), KB_VERSION);
    expect_capabilities(result);
    json_decref(document);
    dynbuf_done(&out);
}

Test(render, discover)
{
    struct dynbuf out;
    json_t *document;
    dynbuf_init(&out, 1 << 20);
    mcp_render_discover(&out, &MODERN);
    const json_t *result = result_of(&out, &document);
    expect_capabilities(result);
    const json_t *versions = json_object_get(result, "supportedVersions");
    cr_expect_eq(json_array_size(versions), 1);
    cr_expect_str_eq(json_string_value(json_array_get(versions, 0)), "2026-07-28");
    cr_expect_str_eq(text_at(result, "cacheScope"), "public");
    cr_expect_eq(json_integer_value(json_object_get(result, "ttlMs")), 60000);
    cr_expect_null(json_object_get(result, "serverInfo"));
    json_decref(document);
    dynbuf_done(&out);
}

static void render_tools(struct dynbuf *out, const struct mcp_call *call)
{
    static const struct slice collections[] = {{"hr", 2}, {"legal", 5}};
    struct tool_names names = {collections, NULL, 2, 0, true};
    mcp_render_tools(out, call, &names);
}

static void render_tools_bare(struct dynbuf *out, const struct mcp_call *call)
{
    mcp_render_tools(out, call, &(struct tool_names){0});
}

/* Every list of both eras: nothing modern in a legacy result, no cursor, one page. */
Test(render, lists_carry_what_their_era_asks)
{
    static const struct {
        void (*render)(struct dynbuf *out, const struct mcp_call *call);
        const char *key;
        size_t entries;
        int64_t ttl_ms;
    } rows[] = {
        {render_tools, "tools", 1, 5000},
        {render_tools_bare, "tools", 1, 5000},
        {mcp_render_resources, "resources", 1, 60000},
        {mcp_render_templates, "resourceTemplates", 2, 60000},
        {mcp_render_prompts, "prompts", 1, 60000},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct dynbuf legacy, modern;
        json_t *document;
        dynbuf_init(&legacy, 1 << 20);
        dynbuf_init(&modern, 1 << 20);
        rows[i].render(&legacy, &LEGACY);
        const json_t *result = result_of(&legacy, &document);
        cr_expect_eq(json_object_size(result), 1, "%s", rows[i].key);
        cr_expect_eq(json_array_size(json_object_get(result, rows[i].key)), rows[i].entries);
        json_t *list = json_deep_copy(json_object_get(result, rows[i].key));
        json_decref(document);

        rows[i].render(&modern, &MODERN);
        result = result_of(&modern, &document);
        cr_expect_eq(json_object_size(result), 5, "%s", rows[i].key);
        cr_expect_str_eq(text_at(result, "resultType"), "complete");
        cr_expect_str_eq(text_at(result, "cacheScope"), "private");
        cr_expect_eq(json_integer_value(json_object_get(result, "ttlMs")), rows[i].ttl_ms);
        cr_expect(json_equal(list, json_object_get(result, rows[i].key)));
        json_decref(list);
        json_decref(document);
        dynbuf_done(&legacy);
        dynbuf_done(&modern);
    }
}

Test(render, resources_and_templates_are_named)
{
    struct dynbuf out;
    json_t *document;
    dynbuf_init(&out, 1 << 20);
    mcp_render_resources(&out, &LEGACY);
    const json_t *list = json_object_get(result_of(&out, &document), "resources");
    cr_expect_str_eq(text_at(json_array_get(list, 0), "uri"), "kb://index");
    cr_expect_str_eq(text_at(json_array_get(list, 0), "mimeType"), "application/json");
    json_decref(document);
    dynbuf_cut(&out, 0);
    mcp_render_templates(&out, &LEGACY);
    list = json_object_get(result_of(&out, &document), "resourceTemplates");
    cr_expect_str_eq(text_at(json_array_get(list, 0), "uriTemplate"),
                     "kb://doc/{collection}/{+doc_id}");
    cr_expect_str_eq(text_at(json_array_get(list, 1), "uriTemplate"), "kb://chunk/{+chunk_id}");
    json_decref(document);
    dynbuf_done(&out);
}

Test(render, prompt_asks_for_its_topic_and_holds_it)
{
    struct dynbuf out;
    json_t *document;
    dynbuf_init(&out, 1 << 20);
    mcp_render_prompts(&out, &LEGACY);
    const json_t *prompt =
        json_array_get(json_object_get(result_of(&out, &document), "prompts"), 0);
    cr_expect_str_eq(text_at(prompt, "name"), "literature_summary");
    const json_t *argument = json_array_get(json_object_get(prompt, "arguments"), 0);
    cr_expect_str_eq(text_at(argument, "name"), "topic");
    cr_expect(json_is_true(json_object_get(argument, "required")));
    json_decref(document);
    dynbuf_cut(&out, 0);
    struct mcp_call call = MODERN;
    call.prompt_topic = SLICE_LIT("100 % \"remote\" work, %s");
    mcp_render_prompt(&out, &call);
    const json_t *result = result_of(&out, &document);
    cr_expect_null(json_object_get(result, "ttlMs"), "prompts/get is not cacheable");
    const json_t *message = json_array_get(json_object_get(result, "messages"), 0);
    cr_expect_str_eq(text_at(message, "role"), "user");
    const char *text = text_at(json_object_get(message, "content"), "text");
    cr_expect_not_null(strstr(text, "Topic: \"100 % \"remote\" work, %s\""));
    cr_expect_not_null(strstr(text, "search_kb"));
    json_decref(document);
    dynbuf_done(&out);
}

Test(render, same_arguments_give_the_same_bytes)
{
    struct dynbuf a, b;
    dynbuf_init(&a, 1 << 20);
    dynbuf_init(&b, 1 << 20);
    render_tools(&a, &MODERN);
    render_tools(&b, &MODERN);
    cr_expect(slice_eq(dynbuf_get(&a), dynbuf_get(&b)));
    dynbuf_done(&a);
    dynbuf_done(&b);
}
