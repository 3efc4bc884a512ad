/* SPDX-License-Identifier: Apache-2.0 */
/* render: every MCP answer as bytes, in the encoder of the call's era (docs/protocol.md).
 *
 * Pure: same arguments, same bytes; fixed field order. Each call appends one JSON-RPC message,
 * without a newline, to out. Lists whose content depends on the caller say cacheScope "private". */
#ifndef MCP_RENDER_H
#define MCP_RENDER_H

#include "service/mcp/message.h"

enum {
    MCP_ERROR_PARSE = -32700,
    MCP_ERROR_REQUEST = -32600,
    MCP_ERROR_METHOD = -32601,
    MCP_ERROR_PARAMS = -32602,
    MCP_ERROR_INTERNAL = -32603,
    MCP_ERROR_HEADER_MISMATCH = -32020,
    MCP_ERROR_CAPABILITY = -32021,
    MCP_ERROR_VERSION = -32022,
    MCP_ERROR_RESOURCE_LEGACY = -32002,
    MCP_ERROR_TOKEN = -31001, /* stdio: the token is invalid */
    MCP_ERROR_READ_RETRY =
        -31002, /* resources/read that is spent or busy; data is the error object */
    MCP_ERROR_NO_GRANT = -31003, /* stdio: the token opens nothing */
};

/* id: as JSON, or SLICE_NONE to leave the member out. data: JSON, or SLICE_NONE. */
void mcp_render_error(struct dynbuf *out, struct slice id, int code, const char *message,
                      struct slice data);

void mcp_render_initialize(struct dynbuf *out, const struct mcp_call *call);
void mcp_render_discover(struct dynbuf *out, const struct mcp_call *call);
void mcp_render_ping(struct dynbuf *out, const struct mcp_call *call);

/* What the caller may name, sorted and neutralised; with none or more than 64 the property is a
 * plain string. */
struct tool_names {
    const struct slice *collections, *doc_types;
    size_t n_collections, n_doc_types;
    bool publish_output_schema;
};
void mcp_render_tools(struct dynbuf *out, const struct mcp_call *call,
                      const struct tool_names *names);

/* structured: the JSON of structuredContent; the text block is exactly that text. */
void mcp_render_tool_result(struct dynbuf *out, const struct mcp_call *call,
                            struct slice structured, bool is_error);

void mcp_render_resources(struct dynbuf *out, const struct mcp_call *call);
void mcp_render_templates(struct dynbuf *out, const struct mcp_call *call);
void mcp_render_resource(struct dynbuf *out, const struct mcp_call *call, const char *mime_type,
                         struct slice text); /* the uri is the call's */
void mcp_render_resource_missing(struct dynbuf *out, const struct mcp_call *call);
void mcp_render_prompts(struct dynbuf *out, const struct mcp_call *call);
void mcp_render_prompt(struct dynbuf *out, const struct mcp_call *call);

#endif
