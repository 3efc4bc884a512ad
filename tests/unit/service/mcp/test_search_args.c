/* SPDX-License-Identifier: Apache-2.0 */
#include "service/mcp/search_args.h"

#include "service/mcp/render.h"

#include <criterion/criterion.h>

struct row {
    const char *arguments; /* JSON; NULL: none at all */
    const char *field;     /* NULL: fine */
    const char *message;
};

#define QUERY "query is required and must be a string"
#define TOP_K "top_k must be an integer from 1 to 20"
#define UNKNOWN                                                                                    \
    "unknown argument: there are query, top_k, collection, doc_type, published_from, published_to"
#define DATE "must be a calendar date written YYYY-MM-DD, such as 2025-03-01"
#define WITH(member) "{\"query\":\"x\"," member "}"

static const struct row BAD[] = {
    {NULL, "query", QUERY},
    {"{}", "query", QUERY},
    {"{\"query\":null}", "query", QUERY},
    {"{\"query\":5}", "query", QUERY},
    {"{\"query\":true}", "query", QUERY},
    {"{\"query\":[\"x\"]}", "query", QUERY},
    {"{\"query\":{}}", "query", QUERY},
    {"{\"top_k\":5}", "query", QUERY},
    {WITH("\"top_k\":0"), "top_k", TOP_K},
    {WITH("\"top_k\":21"), "top_k", TOP_K},
    {WITH("\"top_k\":-5"), "top_k", TOP_K},
    {WITH("\"top_k\":2.5"), "top_k", TOP_K},
    {WITH("\"top_k\":5.0"), "top_k", TOP_K},
    {WITH("\"top_k\":5e0"), "top_k", TOP_K},
    {WITH("\"top_k\":4294967302"), "top_k", TOP_K},
    {WITH("\"top_k\":9223372036854775807"), "top_k", TOP_K},
    {WITH("\"top_k\":\"x\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"0\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"21\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"-5\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"2.5\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"0x5\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"05\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"+5\""), "top_k", TOP_K},
    {WITH("\"top_k\":\" 5\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"5 \""), "top_k", TOP_K},
    {WITH("\"top_k\":\"5\\u0000\""), "top_k", TOP_K},
    {WITH("\"top_k\":\"\xD9\xA5\""), "top_k", TOP_K}, /* an Arabic digit */
    {WITH("\"top_k\":\"99999999999999999999\""), "top_k", TOP_K},
    {WITH("\"top_k\":true"), "top_k", TOP_K},
    {WITH("\"top_k\":[5]"), "top_k", TOP_K},
    {WITH("\"top_k\":{}"), "top_k", TOP_K},
    {WITH("\"collection\":5"), "collection", "collection must be a string"},
    {WITH("\"collection\":[\"hr\"]"), "collection", "collection must be a string"},
    {WITH("\"collection\":false"), "collection", "collection must be a string"},
    {WITH("\"doc_type\":{}"), "doc_type", "doc_type must be a string"},
    {WITH("\"doc_type\":0"), "doc_type", "doc_type must be a string"},
    {WITH("\"published_from\":20250301"), "published_from", DATE},
    {WITH("\"published_from\":\"\""), "published_from", DATE},
    {WITH("\"published_from\":\"2025\""), "published_from", DATE},
    {WITH("\"published_from\":\"2025-3-1\""), "published_from", DATE},
    {WITH("\"published_from\":\"2025-03-1\""), "published_from", DATE},
    {WITH("\"published_from\":\"2025-03-011\""), "published_from", DATE},
    {WITH("\"published_from\":\"2025/03/01\""), "published_from", DATE},
    {WITH("\"published_from\":\"01-03-2025\""), "published_from", DATE},
    {WITH("\"published_from\":\"2025-03-0x\""), "published_from", DATE},
    {WITH("\"published_from\":\"-025-03-01\""), "published_from", DATE},
    {WITH("\"published_from\":\"2025-03-01T00:00:00Z\""), "published_from", DATE},
    {WITH("\"published_from\":\"2025-03-0\\u0000\""), "published_from", DATE},
    {WITH("\"published_from\":[\"2025-03-01\"]"), "published_from", DATE},
    {WITH("\"published_to\":\"yesterday\""), "published_to", DATE},
    {WITH("\"published_to\":0"), "published_to", DATE},
    {WITH("\"limit\":5"), "arguments", UNKNOWN},
    {WITH("\"limit\":null"), "arguments", UNKNOWN},
    {WITH("\"\":1"), "arguments", UNKNOWN},
    {WITH("\"Query\":\"x\""), "arguments", UNKNOWN},
    {WITH("\"topK\":5"), "arguments", UNKNOWN},
    {WITH("\"doc_types\":[\"a\"]"), "arguments", UNKNOWN},
    {"{\"q\":\"x\"}", "arguments", UNKNOWN},
    {"{\"zzz\":1,\"query\":5,\"top_k\":0}", "arguments", UNKNOWN},
    {"{\"top_k\":0,\"query\":5}", "query", QUERY},
    {"{\"published_to\":0,\"top_k\":0,\"query\":\"x\"}", "top_k", TOP_K},
};

static bool parse(const char *arguments, json_t **ret_document, struct search_args *ret_args,
                  struct arg_error *ret_error)
{
    *ret_document = arguments ? mcp_json_parse(slice_of(arguments)) : NULL;
    cr_assert(!arguments || *ret_document, "the row is JSON: %s", arguments);
    *ret_error = (struct arg_error){NULL, NULL};
    return search_args_parse(*ret_document, ret_args, ret_error);
}

Test(search_args, names_the_field_and_the_rule)
{
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        json_t *document;
        struct search_args args;
        struct arg_error error;
        const char *shown = BAD[i].arguments ? BAD[i].arguments : "(none)";
        cr_expect_not(parse(BAD[i].arguments, &document, &args, &error), "%s", shown);
        cr_expect_str_eq(error.field, BAD[i].field, "%s", shown);
        cr_expect_str_eq(error.message, BAD[i].message, "%s", shown);
        json_decref(document);
    }
}

struct good_row {
    const char *arguments;
    const char *query;
    uint32_t top_k;
    const char *collection, *doc_type, *published_from, *published_to;
};

static const struct good_row GOOD[] = {
    {"{\"query\":\"x\"}", "x", 6, NULL, NULL, NULL, NULL},
    {"{\"query\":\"\"}", "", 6, NULL, NULL, NULL, NULL}, /* blank is judged once canonical */
    {"{\"query\":\"  a b \"}", "  a b ", 6, NULL, NULL, NULL, NULL},
    {"{\"query\":\"AND \\\"x\\\" *\"}", "AND \"x\" *", 6, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":1"), "x", 1, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":2"), "x", 2, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":19"), "x", 19, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":20"), "x", 20, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":\"1\""), "x", 1, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":\"5\""), "x", 5, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":\"20\""), "x", 20, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":null"), "x", 6, NULL, NULL, NULL, NULL},
    {WITH("\"top_k\":null,\"collection\":null,\"doc_type\":null,\"published_from\":null,"
          "\"published_to\":null"),
     "x", 6, NULL, NULL, NULL, NULL},
    {WITH("\"collection\":\"\",\"doc_type\":\"\""), "x", 6, "", "", NULL, NULL},
    {"{\"published_to\":\"2025-12-31\",\"published_from\":\"2025-01-01\",\"doc_type\":\"contract\","
     "\"collection\":\"hr\",\"top_k\":3,\"query\":\"x\"}",
     "x", 3, "hr", "contract", "2025-01-01", "2025-12-31"},
    {WITH("\"published_from\":\"2025-02-30\""), "x", 6, NULL, NULL, "2025-02-30", NULL},
    {WITH("\"collection\":\"[\\\"hr\\\"]\""), "x", 6, "[\"hr\"]", NULL, NULL, NULL},
};

static bool same(struct slice value, const char *expected)
{
    return (value.p == NULL) == (expected == NULL) && slice_is(value, expected);
}

Test(search_args, reads_what_is_right)
{
    for (size_t i = 0; i < sizeof(GOOD) / sizeof(GOOD[0]); i++) {
        const struct good_row *r = &GOOD[i];
        json_t *document;
        struct search_args args;
        struct arg_error error;
        cr_expect(parse(r->arguments, &document, &args, &error), "%s", r->arguments);
        cr_expect_null(error.message, "%s", r->arguments);
        cr_expect(same(args.query, r->query), "%s", r->arguments);
        cr_expect_eq(args.top_k, r->top_k, "%s", r->arguments);
        cr_expect(same(args.collection, r->collection), "%s", r->arguments);
        cr_expect(same(args.doc_type, r->doc_type), "%s", r->arguments);
        cr_expect(same(args.published_from, r->published_from), "%s", r->arguments);
        cr_expect(same(args.published_to, r->published_to), "%s", r->arguments);
        json_decref(document);
    }
}

Test(search_args, keeps_a_nul_in_the_query_for_the_later_check)
{
    json_t *document;
    struct search_args args;
    struct arg_error error;
    cr_assert(parse("{\"query\":\"a\\u0000b\"}", &document, &args, &error));
    cr_expect(slice_eq(args.query, SLICE_LIT("a\0b")));
    json_decref(document);
}

Test(search_args, messages_are_short_and_end_the_guessing)
{
    const char *const messages[] = {
        ARG_QUERY_BLANK,
        ARG_QUERY_NO_WORD,
        ARG_QUERY_TOO_LONG,
        ARG_QUERY_CONTROL,
        ARG_COLLECTION_UNKNOWN,
        ARG_DOC_TYPE_UNKNOWN,
        ARG_DATE_INVALID,
        ARG_DATE_ORDER,
        UNKNOWN,
        TOP_K,
    };
    for (size_t i = 0; i < sizeof(messages) / sizeof(messages[0]); i++) {
        size_t n = strlen(messages[i]);
        cr_expect(n > 20 && n < 300, "%s", messages[i]);
    }
}

static json_t *schema_for(size_t n_collections, size_t n_doc_types, struct dynbuf *out)
{
    static struct slice many[100];
    for (size_t i = 0; i < 100; i++) {
        many[i] = SLICE_LIT("name");
    }
    struct tool_names names = {many, many, n_collections, n_doc_types, true};
    dynbuf_init(out, 1 << 16);
    search_args_schema(out, &names);
    json_t *schema = mcp_json_parse(dynbuf_get(out));
    cr_assert_not_null(schema, "%.*s", (int)out->n, out->p);
    return schema;
}

static size_t enum_size(const json_t *schema, const char *property)
{
    const json_t *p = json_object_get(json_object_get(schema, "properties"), property);
    return json_array_size(json_object_get(p, "enum"));
}

Test(search_args, schema_has_an_enum_only_for_one_to_64_names)
{
    static const size_t rows[][2] = {{0, 0}, {1, 1}, {63, 63}, {64, 64}, {65, 0}, {100, 0}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct dynbuf out;
        json_t *schema = schema_for(rows[i][0], 3, &out);
        cr_expect_eq(enum_size(schema, "collection"), rows[i][1]);
        cr_expect_eq(enum_size(schema, "doc_type"), 3);
        cr_expect_eq(enum_size(schema, "query"), 0);
        const json_t *p = json_object_get(json_object_get(schema, "properties"), "collection");
        cr_expect_eq(json_object_get(p, "enum") != NULL, rows[i][1] > 0);
        json_decref(schema);
        dynbuf_done(&out);
    }
}

Test(search_args, schema_and_reader_know_the_same_arguments)
{
    static const char *const names[] = {"query",    "top_k",          "collection",
                                        "doc_type", "published_from", "published_to"};
    struct dynbuf out;
    json_t *schema = schema_for(2, 2, &out);
    const json_t *properties = json_object_get(schema, "properties");
    cr_expect_eq(json_object_size(properties), sizeof(names) / sizeof(names[0]));
    size_t at = 0;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const json_t *p = json_object_get(properties, names[i]);
        cr_expect_str_eq(json_string_value(json_object_get(p, "type")),
                         strcmp(names[i], "top_k") == 0 ? "integer" : "string");
        char key[64];
        snprintf(key, sizeof(key), "\"%s\":{\"type\"", names[i]);
        const char *found = memmem(out.p + at, out.n - at, key, strlen(key));
        cr_assert_not_null(found, "%s is not in the order of the table", key);
        at = (size_t)(found - out.p);
    }
    cr_expect(json_is_false(json_object_get(schema, "additionalProperties")));
    cr_expect_eq(json_array_size(json_object_get(schema, "required")), 1);
    const json_t *top_k = json_object_get(properties, "top_k");
    cr_expect_eq(json_integer_value(json_object_get(top_k, "minimum")), TOP_K_MIN);
    cr_expect_eq(json_integer_value(json_object_get(top_k, "maximum")), TOP_K_MAX);
    json_decref(schema);
    dynbuf_done(&out);
}
