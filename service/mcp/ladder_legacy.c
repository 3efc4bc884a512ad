/* SPDX-License-Identifier: Apache-2.0 */
/* Revisions 2025-06-18 and 2025-11-25 (docs/protocol.md, rows L1..L6).
 *
 * Errors of the handler keep HTTP 200: the clients of these revisions take a 4xx for a broken
 * transport and lose the JSON-RPC code, and a 404 for the end of a session. */
#include "service/mcp/ladder.h"

bool version_is_legacy(struct slice version)
{
    return slice_is(version, VERSION_LEGACY_NEWEST) || slice_is(version, VERSION_LEGACY_OLDEST);
}

static bool initialize(const struct message *m, struct mcp_call *ret_call,
                       struct refusal *ret_refusal)
{
    struct slice asked = text_of(json_object_get(m->params, "protocolVersion"));
    if (!asked.p) {
        return refuse(ret_refusal, 200, MCP_ERROR_PARAMS, "protocolVersion must be a string");
    }
    ret_call->method = MCP_INITIALIZE;
    ret_call->legacy_version =
        slice_is(asked, VERSION_LEGACY_OLDEST) ? VERSION_LEGACY_OLDEST : VERSION_LEGACY_NEWEST;
    return true;
}

bool ladder_legacy(const struct message *m, struct mcp_call *ret_call, struct refusal *ret_refusal)
{
    struct slice version = m->headers->protocol_version;
    if (slice_is(m->method, "initialize")) {
        return initialize(m, ret_call, ret_refusal);
    }
    if (m->transport == MCP_HTTP && version.p && !version_is_legacy(version)) {
        return refuse_version(ret_refusal, m->arena, version);
    }
    if (!method_find(m->method, false, &ret_call->method)) {
        return refuse(ret_refusal, 200, MCP_ERROR_METHOD, "method not found");
    }
    return params_read(m, ret_call, ret_refusal);
}
