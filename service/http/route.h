/* SPDX-License-Identifier: Apache-2.0 */
/* route: what is decided about a request before its token is looked at. Pure. */
#ifndef HTTP_ROUTE_H
#define HTTP_ROUTE_H

#include "service/http/server.h"

#include "service/base/slice.h"

enum route {
    ROUTE_MCP,
    ROUTE_SEARCH_GET,
    ROUTE_SEARCH_POST,
    ROUTE_METADATA,
    ROUTE_PREFLIGHT,
    ROUTE_BAD_ORIGIN,     /* 403 */
    ROUTE_BAD_HOST,       /* 403 */
    ROUTE_NOT_FOUND,      /* 404 */
    ROUTE_ONLY_POST,      /* 405 */
    ROUTE_ONLY_GET_POST,  /* 405 */
    ROUTE_BODY_TOO_LARGE, /* 413 */
};

struct route_input {
    struct slice method;
    struct slice path; /* as it came, without the query string: no decoding, no dot segments */
    struct slice host;
    struct slice origin; /* SLICE_NONE: no such header */
    size_t n_origins, body_bytes;
};

/* The first test that fails names the answer: Origin, metadata, Host, preflight, path, method,
 * size. */
enum route route_find(const struct http_options *o, const struct route_input *in);

#endif
