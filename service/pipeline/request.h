/* SPDX-License-Identifier: Apache-2.0 */
/* request: one call on its way through the gauntlet, and the answer a door sends.
 *
 * Two doors use it, service/http and cli/stdio. A door fills request_input, calls request_new, then
 * request_run; the answer arrives in on_reply, perhaps before request_run returns. The door sends
 * the bytes and calls request_free. A client that leaves: request_cancel, after which there is no
 * answer. Thread: the loop's own.     Blocking: never. */
#ifndef PIPELINE_REQUEST_H
#define PIPELINE_REQUEST_H

#include "service/base/slice.h"

#include <stdint.h>

struct gate_loop; /* the service as one loop has it, see gate_loop.h */
struct request;   /* opaque */

enum surface { SURFACE_MCP, SURFACE_REST, SURFACE_STDIO };

/* Borrowed until request_free or request_cancel: a door whose buffers move copies first.
 * Absent headers are SLICE_NONE. */
struct request_input {
    enum surface surface;
    bool is_get;                /* SURFACE_REST: the arguments are in query_string */
    struct slice query_string;  /* without the '?' */
    struct slice authorization; /* Authorization; on stdio the bare token */
    size_t n_authorization;     /* how many such headers came */
    struct slice content_type, accept, if_none_match;
    struct slice mcp_version, mcp_method, mcp_name;
    struct slice body;
};

struct reply {
    int status;                /* HTTP */
    struct slice content_type; /* SLICE_NONE: no body */
    struct slice body;
    struct slice www_authenticate, etag; /* SLICE_NONE: not sent */
    bool private_no_cache;   /* Cache-Control: private, no-cache and Vary: Authorization */
    int64_t retry_after_ms;  /* < 0: not sent; else Retry-After in whole seconds, rounded up */
    struct slice request_id; /* X-Request-Id */
};

/* reply and what it points at live until request_free. */
typedef void (*request_reply_fn)(struct request *r, const struct reply *reply, void *door);

struct request *request_new(struct gate_loop *gl, const struct request_input *in,
                            request_reply_fn on_reply, void *door);
void request_run(struct request *r);

/* Ends the work and frees the request, without an answer. Not after on_reply. */
void request_cancel(struct request *r);
void request_free(struct request *r);

#endif
