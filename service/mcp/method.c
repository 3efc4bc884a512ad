/* SPDX-License-Identifier: Apache-2.0 */
/* Which methods exist in which era. A method of a capability that is not declared is not here, so
 * what we declare and what we handle cannot drift apart. */
#include "service/mcp/ladder.h"

struct method_row {
    const char *name;
    bool legacy, modern;
};

static const struct method_row METHODS[] = {
    [MCP_INITIALIZE] = {"initialize", true, false},
    [MCP_DISCOVER] = {"server/discover", false, true},
    [MCP_PING] = {"ping", true, false},
    [MCP_TOOLS_LIST] = {"tools/list", true, true},
    [MCP_TOOLS_CALL] = {"tools/call", true, true},
    [MCP_RESOURCES_LIST] = {"resources/list", true, true},
    [MCP_RESOURCES_TEMPLATES_LIST] = {"resources/templates/list", true, true},
    [MCP_RESOURCES_READ] = {"resources/read", true, true},
    [MCP_PROMPTS_LIST] = {"prompts/list", true, true},
    [MCP_PROMPTS_GET] = {"prompts/get", true, true},
};

const char *mcp_method_name(enum mcp_method method)
{
    return METHODS[method].name;
}

bool method_find(struct slice name, bool modern, enum mcp_method *ret_method)
{
    for (size_t i = 0; i < sizeof(METHODS) / sizeof(METHODS[0]); i++) {
        bool served = modern ? METHODS[i].modern : METHODS[i].legacy;
        if (served && slice_is(name, METHODS[i].name)) {
            *ret_method = (enum mcp_method)i;
            return true;
        }
    }
    return false;
}
