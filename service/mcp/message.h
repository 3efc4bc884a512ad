/* SPDX-License-Identifier: Apache-2.0 */
/* message: from the bytes of one JSON-RPC message to a call, for both eras of MCP on one endpoint.
 *
 * Decides rows 11..13a, the era, both ladders and what of the method table needs no caller's scope
 * (docs/protocol.md). The order of tests is the order of that table.
 * Pure: no I/O. Ownership: everything a call points at lives in the arena or the json document it
 * holds. */
#ifndef MCP_MESSAGE_H
#define MCP_MESSAGE_H

#include "service/base/arena.h"
#include "service/base/dynbuf.h"

#include <jansson.h>

enum {
    MCP_MAX_DEPTH = 32,    /* of nested JSON, tested before parsing */
    MCP_MAX_MEMBERS = 512, /* members and elements of the whole message */
    MCP_MAX_BODY_BYTES = 1 << 20,
    MCP_MAX_ID_BYTES = 1024,    /* of a request's id as JSON; it comes back in every answer */
    MCP_MAX_URI_BYTES = 16384,  /* of the uri of resources/read; it comes back too */
    MCP_MAX_TOPIC_CHARS = 2000, /* of the prompt's topic */
};

enum mcp_transport {
    MCP_HTTP,
    MCP_STDIO
}; /* stdio has no headers: the rows about them do not apply */

/* Header values as sent, outer white space trimmed; SLICE_NONE where absent. */
struct mcp_headers {
    struct slice protocol_version; /* MCP-Protocol-Version */
    struct slice method;           /* Mcp-Method */
    struct slice name;             /* Mcp-Name */
};

enum mcp_method {
    MCP_INITIALIZE,
    MCP_DISCOVER,
    MCP_PING,
    MCP_TOOLS_LIST,
    MCP_TOOLS_CALL, /* search_kb; arguments not checked yet */
    MCP_RESOURCES_LIST,
    MCP_RESOURCES_TEMPLATES_LIST,
    MCP_RESOURCES_READ, /* uri is a string, not looked at yet */
    MCP_PROMPTS_LIST,
    MCP_PROMPTS_GET, /* literature_summary with its arguments checked */
};

const char *mcp_method_name(enum mcp_method method);

struct mcp_call {
    enum mcp_method method;
    bool modern;                /* which encoder answers */
    const char *legacy_version; /* MCP_INITIALIZE: the version to answer with */
    struct slice id;            /* the request's id as JSON; SLICE_NONE: none to echo */
    const json_t *arguments;    /* MCP_TOOLS_CALL: an object, or NULL when left out */
    struct slice uri;           /* MCP_RESOURCES_READ */
    struct slice prompt_topic;  /* MCP_PROMPTS_GET */
    struct slice tool_name;
    json_t *document; /* what the above points into; mcp_call_done releases it */
};

enum mcp_verdict {
    MCP_GO_ON,    /* a request that later steps answer: *ret_call */
    MCP_ANSWERED, /* the answer (an error) is written: HTTP status in *ret_status, body in out */
    MCP_ACCEPTED, /* a notification: 202, no body; on stdio nothing */
};

/* body: the message. headers: NULL or ignored on stdio. On every verdict mcp_call_done(ret_call) is
 * due. */
enum mcp_verdict mcp_parse(struct slice body, enum mcp_transport transport,
                           const struct mcp_headers *headers, struct arena *arena,
                           struct mcp_call *ret_call, int *ret_status, struct dynbuf *out);
void mcp_call_done(struct mcp_call *call);

/* Strict JSON for anything a caller sends: UTF-8, no duplicate keys, the limits above, \u0000
 * allowed in strings, nothing behind the value. NULL otherwise; json_decref it. */
json_t *mcp_json_parse(struct slice text);

#endif
