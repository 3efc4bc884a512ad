/* SPDX-License-Identifier: Apache-2.0 */
/* call: what is asked. What is wrong with the arguments is only noted here: the answer to that
 * needs the caller's index_version, which the next steps know. */
#include "service/pipeline/respond.h"
#include "service/pipeline/rest_arguments.h"

#include <strings.h>

/* Whether a media type is `wanted`, parameters aside (RFC 9110 §8.3.1). */
static bool is_media_type(struct slice value, const char *wanted)
{
    size_t n = strlen(wanted);
    return value.n >= n && strncasecmp(value.p, wanted, n) == 0 &&
           (value.n == n || strchr("; \t", value.p[n]) != NULL);
}

/* The next element of a comma-separated list, spaces trimmed. */
static struct slice next_element(struct slice *rest)
{
    const char *comma = memchr(rest->p, ',', rest->n);
    size_t n = comma ? (size_t)(comma - rest->p) : rest->n;
    struct slice element = {rest->p, n};
    *rest = slice_skip(*rest, comma ? n + 1 : n);
    while (element.n && (element.p[0] == ' ' || element.p[0] == '\t')) {
        element = slice_skip(element, 1);
    }
    return element;
}

/* "q=0", "q=0.000": not acceptable (RFC 9110 §12.4.2). */
static bool is_refused(struct slice element)
{
    const char *q = memmem(element.p, element.n, "q=0", 3);
    if (!q) {
        return false;
    }
    for (const char *c = q + 3; c < element.p + element.n; c++) {
        if (*c >= '1' && *c <= '9') {
            return false;
        }
    }
    return true;
}

/* Only an Accept that rules JSON out is refused: many clients send none, or JSON alone. */
static bool accepts_json(struct slice accept)
{
    static const char *const RANGES[] = {"application/json", "application/*", "*/*"};
    if (!accept.p || !accept.n) {
        return true;
    }
    for (struct slice rest = accept; rest.n;) {
        struct slice element = next_element(&rest);
        for (size_t i = 0; i < sizeof(RANGES) / sizeof(RANGES[0]); i++) {
            if (is_media_type(element, RANGES[i])) {
                return !is_refused(element);
            }
        }
    }
    return false;
}

static enum step_result take_mcp(struct request *r)
{
    bool stdio = r->in.surface == SURFACE_STDIO;
    if (!stdio &&
        !(r->in.content_type.p && is_media_type(r->in.content_type, "application/json"))) {
        return respond_refusal(r, 415, "Content-Type must be application/json");
    }
    if (!stdio && !accepts_json(r->in.accept)) {
        return respond_refusal(r, 406, "Accept must allow application/json");
    }
    const struct mcp_headers headers = {r->in.mcp_version, r->in.mcp_method, r->in.mcp_name};
    int status = 0;
    switch (mcp_parse(r->in.body, stdio ? MCP_STDIO : MCP_HTTP, &headers, &r->arena, &r->mcp,
                      &status, &r->body)) {
    case MCP_ANSWERED: return respond_json(r, status, OUTCOME_PROTOCOL);
    case MCP_ACCEPTED: return respond_empty(r, 202, OUTCOME_PROTOCOL);
    case MCP_GO_ON: break;
    }
    return STEP_NEXT;
}

static const json_t *rest_arguments(struct request *r)
{
    if (r->in.is_get) {
        r->rest_arguments = rest_arguments_parse(r->in.query_string);
        return r->rest_arguments;
    }
    r->rest_arguments = mcp_json_parse(r->in.body);
    return json_is_object(r->rest_arguments) ? r->rest_arguments : NULL;
}

static void take_search_arguments(struct request *r, const json_t *arguments)
{
    r->tool = TOOL_SEARCH;
    if (!search_args_parse(arguments, &r->args, &r->arg_error)) {
        return; /* answered by the arguments step */
    }
    r->arg_error = (struct arg_error){0};
}

static enum step_result take_rest(struct request *r)
{
    if (!r->in.is_get &&
        !(r->in.content_type.p && is_media_type(r->in.content_type, "application/json"))) {
        return respond_refusal(r, 415, "Content-Type must be application/json");
    }
    const json_t *arguments = rest_arguments(r);
    if (!arguments) {
        r->tool = TOOL_SEARCH;
        r->arg_error = (struct arg_error){
            "arguments",
            r->in.is_get ? "the query string is not well-formed; encode it as UTF-8 with percent "
                           "escapes, each name once"
                         : "the body must be one JSON object with the arguments"};
        return STEP_NEXT;
    }
    take_search_arguments(r, arguments);
    return STEP_NEXT;
}

enum step_result call_begin(struct request *r)
{
    if (r->in.surface == SURFACE_REST) {
        return take_rest(r);
    }
    enum step_result result = take_mcp(r);
    if (result != STEP_NEXT) {
        return result;
    }
    if (r->mcp.method == MCP_TOOLS_CALL) {
        take_search_arguments(r, r->mcp.arguments);
    } else if (r->mcp.method == MCP_RESOURCES_READ) {
        r->tool = TOOL_READ;
        r->uri_is_valid = resource_uri_parse(r->mcp.uri, &r->arena, &r->uri);
    }
    return STEP_NEXT;
}
