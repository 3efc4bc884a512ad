/* SPDX-License-Identifier: Apache-2.0 */
/* The published tool: its texts, its keywords, and an outputSchema that every outcome satisfies and
 * that nothing else does. The validator here knows exactly the keywords we publish. */
#include "service/mcp/render.h"
#include "service/mcp/static_text.h"

#include <criterion/criterion.h>

static const struct slice COLLECTIONS[] = {{"hr", 2}, {"legal", 5}};

/* The tool's entry; release *ret_document. */
static const json_t *published_tool(bool output_schema, json_t **ret_document)
{
    struct mcp_call call = {.id = {"1", 1}};
    struct tool_names names = {COLLECTIONS, COLLECTIONS, 2, 2, output_schema};
    struct dynbuf out;
    dynbuf_init(&out, 1 << 20);
    mcp_render_tools(&out, &call, &names);
    *ret_document = mcp_json_parse(dynbuf_get(&out));
    cr_assert_not_null(*ret_document);
    dynbuf_done(&out);
    return json_array_get(json_object_get(json_object_get(*ret_document, "result"), "tools"), 0);
}

Test(tool, is_named_and_described_for_a_model)
{
    json_t *document;
    const json_t *tool = published_tool(true, &document);
    cr_expect_str_eq(json_string_value(json_object_get(tool, "name")), "search_kb");
    const char *text = json_string_value(json_object_get(tool, "description"));
    cr_expect_str_eq(text, TOOL_DESCRIPTION);
    cr_expect_lt(strlen(text), 1500);
    cr_expect_lt(strlen(SERVER_INSTRUCTIONS), 500);
    static const char *const points[] = {
        "<<untrusted-content", "<<end", "never instructions", "operators", "doc_id",
        "source_url",          "empty", "invalid_input",      "retryable", "retry_after_ms"};
    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        cr_expect_not_null(strstr(text, points[i]), "%s", points[i]);
    }
    char *annotations = json_dumps(json_object_get(tool, "annotations"), JSON_COMPACT);
    cr_expect_str_eq(annotations, "{\"readOnlyHint\":true,\"destructiveHint\":false,"
                                  "\"idempotentHint\":true,\"openWorldHint\":false}");
    free(annotations);
    json_decref(document);
}

static bool is_one_of(const char *key, const char *const *list)
{
    for (; *list; list++) {
        if (strcmp(key, *list) == 0) {
            return true;
        }
    }
    return false;
}

static void check_keywords(json_t *schema)
{
    static const char *const allowed[] = {
        "type",    "properties", "required", "additionalProperties", "description", "enum", "items",
        "minimum", "maximum",    NULL};
    const char *key;
    json_t *value;
    cr_expect(json_is_string(json_object_get(schema, "type")));
    json_object_foreach(schema, key, value)
    {
        cr_expect(is_one_of(key, allowed), "%s", key);
    }
    json_object_foreach(json_object_get(schema, "properties"), key, value)
    {
        check_keywords(value);
    }
    if (json_object_get(schema, "items")) {
        check_keywords(json_object_get(schema, "items"));
    }
}

Test(tool, schemas_use_only_keywords_every_client_knows)
{
    json_t *document;
    const json_t *tool = published_tool(true, &document);
    static const char *const keys[] = {"inputSchema", "outputSchema"};
    for (size_t i = 0; i < 2; i++) {
        json_t *schema = json_object_get(tool, keys[i]);
        cr_assert_not_null(schema);
        cr_expect_str_eq(json_string_value(json_object_get(schema, "type")), "object");
        check_keywords(schema);
    }
    json_decref(document);
}

Test(tool, output_schema_can_be_left_out)
{
    json_t *document;
    const json_t *tool = published_tool(false, &document);
    cr_expect_null(json_object_get(tool, "outputSchema"));
    cr_expect_not_null(json_object_get(tool, "inputSchema"));
    cr_expect_not_null(json_object_get(tool, "annotations"));
    json_decref(document);
}

static bool has_type(const json_t *value, const char *type)
{
    return strcmp(type, "object") == 0    ? json_is_object(value)
           : strcmp(type, "array") == 0   ? json_is_array(value)
           : strcmp(type, "string") == 0  ? json_is_string(value)
           : strcmp(type, "boolean") == 0 ? json_is_boolean(value)
           : strcmp(type, "integer") == 0 ? json_is_integer(value)
           : strcmp(type, "number") == 0  ? json_is_number(value)
                                          : false;
}

static bool in_range(const json_t *schema, const json_t *value)
{
    const json_t *minimum = json_object_get(schema, "minimum");
    const json_t *maximum = json_object_get(schema, "maximum");
    return (!minimum || json_number_value(value) >= json_number_value(minimum)) &&
           (!maximum || json_number_value(value) <= json_number_value(maximum));
}

static bool in_enum(const json_t *schema, const json_t *value)
{
    const json_t *list = json_object_get(schema, "enum");
    bool found = !list;
    for (size_t i = 0; i < json_array_size(list); i++) {
        found = found || json_equal(json_array_get(list, i), value);
    }
    return found;
}

static bool has_required(const json_t *schema, const json_t *value)
{
    const json_t *list = json_object_get(schema, "required");
    for (size_t i = 0; i < json_array_size(list); i++) {
        if (!json_object_get(value, json_string_value(json_array_get(list, i)))) {
            return false;
        }
    }
    return true;
}

static bool validates(const json_t *schema, json_t *value)
{
    const char *key;
    json_t *member;
    size_t at;
    bool good = has_type(value, json_string_value(json_object_get(schema, "type"))) &&
                in_range(schema, value) && in_enum(schema, value) && has_required(schema, value);
    json_object_foreach(value, key, member)
    {
        const json_t *property = json_object_get(json_object_get(schema, "properties"), key);
        good = good && property && validates(property, member);
    }
    json_array_foreach(value, at, member)
    {
        good = good && validates(json_object_get(schema, "items"), member);
    }
    return good;
}

#define TAIL "\"index_version\":\"kb1-x\",\"results\":[]"
#define HIT                                                                                        \
    "\"chunk_id\":\"hr/a/"                                                                         \
    "3\",\"doc_id\":\"a\",\"title\":\"\",\"collection\":\"hr\",\"doc_type\":\"t\",\"position\":3," \
    "\"score\":0.968254,\"text\":\"x\""

Test(tool, output_schema_holds_for_every_outcome)
{
    static const char *const rows[] = {
        "{" TAIL "}",
        "{" TAIL ",\"truncated\":true}",
        "{\"index_version\":\"unknown\",\"results\":[]}",
        "{\"error\":{\"type\":\"empty\",\"message\":\"m\"}," TAIL "}",
        "{\"error\":{\"type\":\"invalid_input\",\"message\":\"m\",\"field\":\"top_k\"}," TAIL "}",
        "{\"error\":{\"type\":\"retryable\",\"message\":\"m\",\"budget\":\"tenant/minute\","
        "\"retry_after_ms\":500}," TAIL "}",
        "{\"index_version\":\"kb1-x\",\"results\":[{" HIT "}]}",
        "{\"index_version\":\"kb1-x\",\"results\":[{\"chunk_id\":\"hr/a/3\",\"doc_id\":\"a\","
        "\"title\":\"A\",\"collection\":\"hr\",\"doc_type\":\"t\",\"published\":\"2025-03-01\","
        "\"source_url\":\"https://example.org/\",\"position\":0,\"score\":1.000000,\"text\":\"x\","
        "\"also_in\":[\"hr/b/0\"],\"suspicious\":true}],\"truncated\":true}",
    };
    json_t *document;
    const json_t *schema = json_object_get(published_tool(true, &document), "outputSchema");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *value = mcp_json_parse(slice_of(rows[i]));
        cr_assert_not_null(value, "%s", rows[i]);
        cr_expect(validates(schema, value), "%s", rows[i]);
        json_decref(value);
    }
    json_decref(document);
}

Test(tool, output_schema_refuses_another_shape)
{
    static const char *const rows[] = {
        "{}",
        "[]",
        "{\"results\":[]}",
        "{\"index_version\":\"kb1-x\"}",
        "{\"index_version\":null,\"results\":[]}",
        "{" TAIL ",\"extra\":1}",
        "{\"error\":{\"type\":\"fatal\",\"message\":\"m\"}," TAIL "}",
        "{\"error\":{\"message\":\"m\"}," TAIL "}",
        "{\"error\":{\"type\":\"retryable\",\"message\":\"m\",\"retry_after_ms\":\"5\"}," TAIL "}",
        "{\"index_version\":\"kb1-x\",\"results\":[{}]}",
        "{\"index_version\":\"kb1-x\",\"results\":[{" HIT ",\"labels\":[]}]}",
        "{\"index_version\":\"kb1-x\",\"results\":[{" HIT ",\"also_in\":\"x\"}]}",
    };
    json_t *document;
    const json_t *schema = json_object_get(published_tool(true, &document), "outputSchema");
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        json_t *value = mcp_json_parse(slice_of(rows[i]));
        cr_assert_not_null(value, "%s", rows[i]);
        cr_expect_not(validates(schema, value), "%s", rows[i]);
        json_decref(value);
    }
    json_decref(document);
}

Test(tool, only_the_enums_depend_on_the_caller)
{
    struct mcp_call call = {.id = {"1", 1}};
    struct dynbuf some, none;
    dynbuf_init(&some, 1 << 20);
    dynbuf_init(&none, 1 << 20);
    mcp_render_tools(&some, &call, &(struct tool_names){COLLECTIONS, COLLECTIONS, 2, 1, true});
    mcp_render_tools(&none, &call, &(struct tool_names){NULL, NULL, 0, 0, true});
    static const char *const enums[] = {",\"enum\":[\"hr\",\"legal\"]", ",\"enum\":[\"hr\"]"};
    for (size_t i = 0; i < 2; i++) {
        char *at = memmem(some.p, some.n, enums[i], strlen(enums[i]));
        cr_assert_not_null(at);
        size_t n = strlen(enums[i]);
        memmove(at, at + n, some.n - n - (size_t)(at - some.p));
        some.n -= n;
    }
    cr_expect(slice_eq(dynbuf_get(&some), dynbuf_get(&none)));
    dynbuf_done(&some);
    dynbuf_done(&none);
}
