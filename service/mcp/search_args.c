/* SPDX-License-Identifier: Apache-2.0 */
/* One table is the schema that clients see and the rules that the reader applies, so that they
 * cannot disagree. Each message states the whole rule: a model that reads it can write the next
 * call without trying values. */
#include "service/mcp/search_args.h"

#include "service/mcp/render.h"
#include "service/mcp/schema.h"

#include <stddef.h>

enum { ENUM_MAX = 64 }; /* a longer list costs more tokens than it saves calls */

enum arg_kind { ARG_TEXT, ARG_COUNT, ARG_DATE };

struct arg_spec {
    const char *name;
    enum arg_kind kind;
    size_t offset; /* in struct search_args */
    const char *rule;
    const char *description;
};

const char ARG_QUERY_BLANK[] =
    "query is empty: write 1 to 2,000 characters with at least one letter or digit";
const char ARG_QUERY_NO_WORD[] = "query must have at least one letter or digit";
const char ARG_QUERY_TOO_LONG[] = "query must have at most 2,000 characters: shorten it";
const char ARG_QUERY_CONTROL[] = "query must be plain text without control characters";
const char ARG_COLLECTION_UNKNOWN[] =
    "no such collection: leave collection out, or name one that kb://index lists";
const char ARG_DOC_TYPE_UNKNOWN[] =
    "no such doc_type: leave doc_type out, or name one that kb://index lists";
const char ARG_DATE_INVALID[] = "must be a calendar date written YYYY-MM-DD, such as 2025-03-01";
const char ARG_DATE_ORDER[] = "published_from must not be later than published_to";

static const char QUERY_RULE[] = "query is required and must be a string";
static const char UNKNOWN_ARGUMENT[] =
    "unknown argument: there are query, top_k, collection, doc_type, published_from, published_to";

static const struct arg_spec ARGS[] = {
    {"query", ARG_TEXT, offsetof(struct search_args, query), QUERY_RULE,
     "What to find, in plain words or a full question, in the language of the documents: 1 to "
     "2,000 characters with at least one letter or digit. No operators."},
    {"top_k", ARG_COUNT, offsetof(struct search_args, top_k),
     "top_k must be an integer from 1 to 20",
     "How many passages to return at most, 1 to 20; 6 if left out."},
    {"collection", ARG_TEXT, offsetof(struct search_args, collection),
     "collection must be a string",
     "Search only this collection. Leave it out to search all that the caller may see."},
    {"doc_type", ARG_TEXT, offsetof(struct search_args, doc_type), "doc_type must be a string",
     "Search only documents of this type. Leave it out to search all."},
    {"published_from", ARG_DATE, offsetof(struct search_args, published_from), ARG_DATE_INVALID,
     "Only documents published on this day or later, YYYY-MM-DD. Documents without a date never "
     "match."},
    {"published_to", ARG_DATE, offsetof(struct search_args, published_to), ARG_DATE_INVALID,
     "Only documents published on this day or earlier, YYYY-MM-DD. Documents without a date never "
     "match."},
};

enum { N_ARGS = sizeof(ARGS) / sizeof(ARGS[0]) };

static struct slice text_of_arg(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}

/* The form only; whether the day exists is a matter of the calendar. */
static bool has_date_form(struct slice text)
{
    static const char form[] = "dddd-dd-dd";
    if (text.n != sizeof(form) - 1) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        bool digit = text.p[i] >= '0' && text.p[i] <= '9';
        if (form[i] == 'd' ? !digit : text.p[i] != '-') {
            return false;
        }
    }
    return true;
}

/* One or two digits, the first not zero: the only way to write a number of the range. */
static int64_t decimal_of(struct slice text)
{
    int64_t value = 0;
    if (text.n == 0 || text.n > 2 || text.p[0] == '0') {
        return -1;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return -1;
        }
        value = value * 10 + (text.p[i] - '0');
    }
    return value;
}

static bool read_count(const json_t *value, uint32_t *ret_count)
{
    int64_t count = json_is_integer(value)  ? json_integer_value(value)
                    : json_is_string(value) ? decimal_of(text_of_arg(value))
                                            : -1;
    if (count < TOP_K_MIN || count > TOP_K_MAX) {
        return false;
    }
    *ret_count = (uint32_t)count;
    return true;
}

static bool read_text(const json_t *value, enum arg_kind kind, struct slice *ret_text)
{
    if (!json_is_string(value)) {
        return false;
    }
    *ret_text = text_of_arg(value);
    return kind == ARG_TEXT || has_date_form(*ret_text);
}

/* Null is absent: several clients send it for every optional argument. */
static bool read_arg(const struct arg_spec *spec, const json_t *value, struct search_args *args)
{
    char *field = (char *)args + spec->offset;
    if (!value || json_is_null(value)) {
        return true;
    }
    return spec->kind == ARG_COUNT ? read_count(value, (uint32_t *)(void *)field)
                                   : read_text(value, spec->kind, (struct slice *)(void *)field);
}

static bool is_known(struct slice name)
{
    for (size_t i = 0; i < N_ARGS; i++) {
        if (slice_is(name, ARGS[i].name)) {
            return true;
        }
    }
    return false;
}

static bool names_are_known(const json_t *arguments)
{
    /* jansson iterates through a non-const pointer without changing anything */
    json_t *object = (json_t *)(uintptr_t)arguments;
    for (void *at = json_object_iter(object); at; at = json_object_iter_next(object, at)) {
        if (!is_known((struct slice){json_object_iter_key(at), json_object_iter_key_len(at)})) {
            return false;
        }
    }
    return true;
}

static bool wrong(struct arg_error *ret_error, const char *field, const char *message)
{
    *ret_error = (struct arg_error){.field = field, .message = message};
    return false;
}

bool search_args_parse(const json_t *arguments, struct search_args *ret_args,
                       struct arg_error *ret_error)
{
    *ret_args = (struct search_args){.top_k = TOP_K_DEFAULT};
    if (!names_are_known(arguments)) {
        return wrong(ret_error, "arguments", UNKNOWN_ARGUMENT);
    }
    for (size_t i = 0; i < N_ARGS; i++) {
        if (!read_arg(&ARGS[i], json_object_get(arguments, ARGS[i].name), ret_args)) {
            return wrong(ret_error, ARGS[i].name, ARGS[i].rule);
        }
    }
    return ret_args->query.p ? true : wrong(ret_error, "query", QUERY_RULE);
}

static void add_enum(struct json_writer *w, const struct slice *names, size_t n)
{
    if (n == 0 || n > ENUM_MAX) {
        return;
    }
    json_key(w, "enum");
    json_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        json_text(w, names[i]);
    }
    json_array_end(w);
}

void search_args_schema(struct dynbuf *out, const struct tool_names *names)
{
    struct json_writer w = json_writer_on(out);
    schema_object_begin(&w);
    for (size_t i = 0; i < N_ARGS; i++) {
        const struct arg_spec *spec = &ARGS[i];
        bool count = spec->kind == ARG_COUNT;
        schema_property_begin(&w, spec->name, count ? "integer" : "string", spec->description);
        if (count) {
            schema_range(&w, TOP_K_MIN, TOP_K_MAX);
        } else if (spec->offset == offsetof(struct search_args, collection)) {
            add_enum(&w, names->collections, names->n_collections);
        } else if (spec->offset == offsetof(struct search_args, doc_type)) {
            add_enum(&w, names->doc_types, names->n_doc_types);
        }
        schema_property_end(&w);
    }
    schema_object_end(&w, SLICE_LIT("[\"query\"]"));
}
