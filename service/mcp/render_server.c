/* SPDX-License-Identifier: Apache-2.0 */
/* What the server says of itself: initialize and ping for legacy clients, server/discover for
 * modern ones. Both name the same capabilities; an empty object declares a feature without change
 * notices, which a server that never pushes could not send. */
#include "service/mcp/envelope.h"
#include "service/mcp/ladder.h"
#include "service/mcp/static_text.h"

#define CAPABILITIES "{\"tools\":{},\"resources\":{},\"prompts\":{}}"

void mcp_render_initialize(struct dynbuf *out, const struct mcp_call *call)
{
    struct json_writer w = result_begin(out, call);
    json_member_text_z(&w, "protocolVersion", call->legacy_version);
    json_member_raw(&w, "capabilities", SLICE_LIT(CAPABILITIES));
    json_key(&w, "serverInfo");
    add_server_info(&w);
    json_member_text_z(&w, "instructions", SERVER_INSTRUCTIONS);
    result_end(&w, call, CACHE_NONE);
}

void mcp_render_discover(struct dynbuf *out, const struct mcp_call *call)
{
    struct json_writer w = result_begin(out, call);
    json_member_raw(&w, "supportedVersions", SLICE_LIT("[\"" VERSION_MODERN "\"]"));
    json_member_raw(&w, "capabilities", SLICE_LIT(CAPABILITIES));
    json_member_text_z(&w, "instructions", SERVER_INSTRUCTIONS);
    result_end(&w, call, CACHE_PUBLIC_STATIC);
}

void mcp_render_ping(struct dynbuf *out, const struct mcp_call *call)
{
    struct json_writer w = result_begin(out, call);
    result_end(&w, call, CACHE_NONE);
}
