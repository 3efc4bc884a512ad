/* SPDX-License-Identifier: Apache-2.0 */
/* server_private: what the two ports and their owner share. */
#ifndef HTTP_SERVER_PRIVATE_H
#define HTTP_SERVER_PRIVATE_H

#include "service/base/arena.h"
#include "service/http/server.h"
#include "service/http/thread.h"

/* /livez: one tick runs through all serving loops at a time, and every probe that comes meanwhile
 * waits for it. Only the admin thread touches it. */
struct liveness {
    unsigned n_ticking; /* loops that have not answered yet */
    struct probe *probes;
};

struct http_server {
    struct arena memory;
    struct http_options options; /* texts in memory */
    struct gate *gate;
    struct http_port public_port, admin_port;
    atomic_size_t n_in_flight, n_shed;
    struct liveness liveness;
    struct http_thread admin;
    struct http_thread threads[]; /* options.n_threads */
};

/* The handlers of the two ports. */
int public_on_request(h2o_handler_t *self, h2o_req_t *req);
int admin_on_request(h2o_handler_t *self, h2o_req_t *req);

#endif
