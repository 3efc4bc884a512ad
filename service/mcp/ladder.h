/* SPDX-License-Identifier: Apache-2.0 */
/* ladder: the tests a request passes before its method runs, one ladder for each era.
 *
 * Private to this folder. Each function fills its part of the call and returns true, or says in
 * *ret_refusal what to answer. Pure. */
#ifndef MCP_LADDER_H
#define MCP_LADDER_H

#include "service/mcp/render.h"

#define VERSION_MODERN "2026-07-28"
#define VERSION_LEGACY_NEWEST "2025-11-25"
#define VERSION_LEGACY_OLDEST "2025-06-18"

#define META_VERSION "io.modelcontextprotocol/protocolVersion"
#define META_CAPABILITIES "io.modelcontextprotocol/clientCapabilities"

/* A message of the right shape, before its era is known. */
struct message {
    enum mcp_transport transport;
    const struct mcp_headers *headers;
    struct slice method;
    const json_t *params; /* an object, or NULL */
    const json_t *meta;   /* params._meta when it is an object, or NULL */
    struct arena *arena;
};

struct refusal {
    int status; /* HTTP */
    int code;
    const char *message; /* static text */
    struct slice data;   /* JSON, or SLICE_NONE */
};

/* Always false, so that a test can return it. */
bool refuse(struct refusal *ret_refusal, int status, int code, const char *message);

/* The answer to a protocol version that is not served, `requested` echoed in part. */
bool refuse_version(struct refusal *ret_refusal, struct arena *arena, struct slice requested);

bool version_is_legacy(struct slice version);

/* The text of a JSON string, or SLICE_NONE for anything else and for NULL. */
struct slice text_of(const json_t *value);

/* False: unknown in that era, or not declared. */
bool method_find(struct slice name, bool modern, enum mcp_method *ret_method);

bool ladder_legacy(const struct message *m, struct mcp_call *ret_call, struct refusal *ret_refusal);
bool ladder_modern(const struct message *m, struct mcp_call *ret_call, struct refusal *ret_refusal);

/* The params of ret_call->method, as far as they can be judged without the caller's scope. */
bool params_read(const struct message *m, struct mcp_call *ret_call, struct refusal *ret_refusal);

#endif
