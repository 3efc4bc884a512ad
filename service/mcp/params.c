/* SPDX-License-Identifier: Apache-2.0 */
/* What a method needs from its params before anybody looks at scope. A malformed request is a
 * JSON-RPC error, in HTTP 200 for both eras; wrong values inside the tool's arguments are not
 * judged here, since the model is to read about those in a tool result. */
#include "service/mcp/ladder.h"

#include "service/base/utf8.h"
#include "service/mcp/static_text.h"

static bool bad_params(struct refusal *ret_refusal, const char *message)
{
    return refuse(ret_refusal, 200, MCP_ERROR_PARAMS, message);
}

/* Every list has one page, so no cursor of ours exists, the empty one included. */
static bool read_list(const struct message *m, struct refusal *ret_refusal)
{
    return !json_object_get(m->params, "cursor") ||
           bad_params(ret_refusal, "unknown cursor: the list has one page");
}

static bool read_tool(const struct message *m, struct mcp_call *ret_call,
                      struct refusal *ret_refusal)
{
    struct slice name = text_of(json_object_get(m->params, "name"));
    const json_t *arguments = json_object_get(m->params, "arguments");
    if (!name.p) {
        return bad_params(ret_refusal, "name must be a string");
    }
    if (arguments && !json_is_object(arguments)) {
        return bad_params(ret_refusal, "arguments must be an object");
    }
    if (!slice_is(name, TOOL_NAME)) {
        return bad_params(ret_refusal, "unknown tool: the one tool is " TOOL_NAME);
    }
    ret_call->tool_name = SLICE_LIT(TOOL_NAME);
    ret_call->arguments = arguments;
    return true;
}

static bool read_resource(const struct message *m, struct mcp_call *ret_call,
                          struct refusal *ret_refusal)
{
    ret_call->uri = text_of(json_object_get(m->params, "uri"));
    if (!ret_call->uri.p) {
        return bad_params(ret_refusal, "uri must be a string");
    }
    if (ret_call->uri.n > MCP_MAX_URI_BYTES) {
        return bad_params(ret_refusal, "uri must have at most 16,384 bytes");
    }
    return true;
}

static bool is_blank(struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] > ' ') {
            return false;
        }
    }
    return true;
}

static bool read_prompt(const struct message *m, struct mcp_call *ret_call,
                        struct refusal *ret_refusal)
{
    const json_t *arguments = json_object_get(m->params, "arguments");
    if (!slice_is(text_of(json_object_get(m->params, "name")), PROMPT_NAME)) {
        return bad_params(ret_refusal, "unknown prompt: the one prompt is " PROMPT_NAME);
    }
    struct slice topic = text_of(json_object_get(arguments, "topic"));
    if (is_blank(topic) || utf8_count(topic) > MCP_MAX_TOPIC_CHARS) {
        return bad_params(ret_refusal, "arguments.topic must be a text of 1 to 2,000 characters");
    }
    ret_call->prompt_topic = topic;
    return true;
}

bool params_read(const struct message *m, struct mcp_call *ret_call, struct refusal *ret_refusal)
{
    switch (ret_call->method) {
    case MCP_TOOLS_LIST:
    case MCP_RESOURCES_LIST:
    case MCP_RESOURCES_TEMPLATES_LIST:
    case MCP_PROMPTS_LIST: return read_list(m, ret_refusal);
    case MCP_TOOLS_CALL: return read_tool(m, ret_call, ret_refusal);
    case MCP_RESOURCES_READ: return read_resource(m, ret_call, ret_refusal);
    case MCP_PROMPTS_GET: return read_prompt(m, ret_call, ret_refusal);
    case MCP_INITIALIZE: /* its one parameter is read by its ladder */
    case MCP_DISCOVER:
    case MCP_PING: break;
    }
    return true;
}
