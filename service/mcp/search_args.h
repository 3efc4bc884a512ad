/* SPDX-License-Identifier: Apache-2.0 */
/* search_args: the arguments of search_kb as data, one table for the published schema, the reader
 * and the canonical request (docs/design.md §3). Pure. */
#ifndef MCP_SEARCH_ARGS_H
#define MCP_SEARCH_ARGS_H

#include "service/base/arena.h"
#include "service/base/dynbuf.h"

#include <jansson.h>

enum { TOP_K_MIN = 1, TOP_K_MAX = 20, TOP_K_DEFAULT = 6 };

struct search_args {
    struct slice query; /* as sent; made canonical later, by retrieval/text */
    uint32_t top_k;
    struct slice collection, doc_type; /* SLICE_NONE: absent */
    struct slice published_from,
        published_to; /* YYYY-MM-DD of the right form, not yet a real date */
};

/* What is wrong, for the model: names the field and the rule, never echoes a value. */
struct arg_error {
    const char *field;   /* static text; "arguments" for the whole */
    const char *message; /* static text */
};

/* arguments: an object, or NULL for none. Types, ranges, unknown names, missing query. A faithful
 * decimal string is an integer, null for an optional argument is absent, nothing looser. False:
 * *ret_error. */
bool search_args_parse(const json_t *arguments, struct search_args *ret_args,
                       struct arg_error *ret_error);

/* The messages of checks that need more than the arguments (each a static text naming its rule). */
extern const char ARG_QUERY_BLANK[], ARG_QUERY_NO_WORD[], ARG_QUERY_TOO_LONG[], ARG_QUERY_CONTROL[],
    ARG_COLLECTION_UNKNOWN[], ARG_DOC_TYPE_UNKNOWN[], ARG_DATE_INVALID[], ARG_DATE_ORDER[];

/* The inputSchema as JSON. */
struct tool_names;
void search_args_schema(struct dynbuf *out, const struct tool_names *names);

#endif
