/* SPDX-License-Identifier: Apache-2.0 */
/* search_http: one search_kb call to a running service, as an MCP client makes it. Blocking. */
#ifndef CLI_SEARCH_HTTP_H
#define CLI_SEARCH_HTTP_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"

/* Posts tools/call with these arguments (a JSON object) to the /mcp address `url` and appends the
 * outcome's JSON, byte for byte as the
 * service words it, to out. False with a reason. */
bool search_http(const char *url, const char *token, struct slice arguments, struct dynbuf *out,
                 struct err_detail *detail);

#endif
