/* SPDX-License-Identifier: Apache-2.0 */
/* server: the public port (one loop a core, SO_REUSEPORT) and the admin port, on libh2o, HTTP/1.1
 * only.
 *
 * Answers what docs/design.md §8 lists for every path itself (Origin, Host, metadata, preflight,
 * path, method) and hands everything else to the pipeline. libh2o stays behind this header.
 *
 * Thread:    start and stop from the same thread; serving happens on the loops' own threads.
 * Failure:   start returns NULL with a reason that names the address. */
#ifndef HTTP_SERVER_H
#define HTTP_SERVER_H

#include "service/base/err.h"

#include <stdint.h>

struct gate;
struct http_server; /* opaque */

struct http_options {
    const char *host; /* numeric or a name; of the public port */
    uint16_t port;    /* 0: any free one (http_server_port tells) */
    const char *admin_host;
    uint16_t admin_port;
    unsigned n_threads; /* >= 1 */
    size_t max_body_bytes, max_connections, max_in_flight;
    int64_t deadline_ms; /* of the head and body of a request; the work's own is the pipeline's */
    int64_t write_timeout_ms; /* a client that does not read is cut after that */
    /* Host values served, compared without case: "name" with any port, "name:port" as it stands. */
    const struct slice *hosts;
    size_t n_hosts;
    const struct slice *origins; /* Origin values served; absent is fine, anything else is 403 */
    size_t n_origins;
};

/* Listens on both ports and serves on threads of its own. options is copied; gate outlives s. */
struct http_server *http_server_start(const struct http_options *options, struct gate *gate,
                                      struct err_detail *detail);

uint16_t http_server_port(const struct http_server *s);
uint16_t http_server_admin_port(const struct http_server *s);

/* SIGTERM: stops accepting, lets requests in flight finish for at most drain_ms, ends the threads
 * and frees s. Blocking. */
void http_server_stop(struct http_server *s, int64_t drain_ms);

#endif
