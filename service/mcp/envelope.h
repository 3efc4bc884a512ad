/* SPDX-License-Identifier: Apache-2.0 */
/* envelope: what surrounds every result, in the encoder of the call's era.
 *
 * Private to this folder. Between begin and end the caller writes the members of the result. */
#ifndef MCP_ENVELOPE_H
#define MCP_ENVELOPE_H

#include "service/base/json_write.h"
#include "service/mcp/render.h"

/* How long a modern client may keep a result, and whether it may share it between tokens. */
enum cache_hint {
    CACHE_NONE,           /* not a cacheable result */
    CACHE_PUBLIC_STATIC,  /* the same for every caller */
    CACHE_PRIVATE_STATIC, /* the text of the binary, but behind a token */
    CACHE_PRIVATE_SHORT,  /* changes with the index */
};

struct json_writer result_begin(struct dynbuf *out, const struct mcp_call *call);
void result_end(struct json_writer *w, const struct mcp_call *call, enum cache_hint hint);

/* {"name":…,"title":…,"version":…} */
void add_server_info(struct json_writer *w);

#endif
