/* SPDX-License-Identifier: Apache-2.0 */
/* direct: everything that needs no retrieval. It costs no budget and depends on the caller only
 * through the names in tools/list, which come from the view. */
#include "service/pipeline/respond.h"
#include "service/retrieval/neutralise.h"

enum { NAME_MAX_BYTES = 1024 };

static const struct slice *neutral(struct request *r, const struct slice *names, size_t n)
{
    struct slice *safe = arena_alloc(&r->arena, n * sizeof(*safe));
    for (size_t i = 0; i < n; i++) {
        struct dynbuf name;
        dynbuf_init(&name, NAME_MAX_BYTES);
        neutralise_line(&name, names[i], NULL);
        safe[i] = arena_copy(&r->arena, dynbuf_get(&name));
        dynbuf_done(&name);
    }
    return safe;
}

static void list_tools(struct request *r)
{
    struct tool_names names = {.publish_output_schema = r->gate->config->publish_output_schema};
    names.collections = view_collections(r->view, &r->arena, &names.n_collections);
    names.doc_types = view_doc_types(r->view, &r->arena, &names.n_doc_types);
    names.collections = neutral(r, names.collections, names.n_collections);
    names.doc_types = neutral(r, names.doc_types, names.n_doc_types);
    mcp_render_tools(&r->body, &r->mcp, &names);
}

static void answer(struct request *r)
{
    switch (r->mcp.method) {
    case MCP_INITIALIZE: mcp_render_initialize(&r->body, &r->mcp); break;
    case MCP_DISCOVER: mcp_render_discover(&r->body, &r->mcp); break;
    case MCP_PING: mcp_render_ping(&r->body, &r->mcp); break;
    case MCP_TOOLS_LIST: list_tools(r); break;
    case MCP_RESOURCES_LIST: mcp_render_resources(&r->body, &r->mcp); break;
    case MCP_RESOURCES_TEMPLATES_LIST: mcp_render_templates(&r->body, &r->mcp); break;
    case MCP_PROMPTS_LIST: mcp_render_prompts(&r->body, &r->mcp); break;
    case MCP_PROMPTS_GET: mcp_render_prompt(&r->body, &r->mcp); break;
    case MCP_TOOLS_CALL:
    case MCP_RESOURCES_READ: break; /* not here: they have a tool */
    }
}

enum step_result direct_begin(struct request *r)
{
    if (r->tool != TOOL_NONE) {
        return STEP_NEXT;
    }
    answer(r);
    return respond_json(r, 200, OUTCOME_PROTOCOL);
}
