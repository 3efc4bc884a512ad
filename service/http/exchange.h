/* SPDX-License-Identifier: Apache-2.0 */
/* exchange: one request from the handler's call until libh2o has written the answer or given up.
 *
 * It lives in the request's pool. Thread: the connection's loop. */
#ifndef HTTP_EXCHANGE_H
#define HTTP_EXCHANGE_H

#include "service/http/connection.h"
#include "service/pipeline/request.h"

struct exchange {
    h2o_req_t *req;
    struct connection *connection;
    struct timer write_deadline;
    struct slice cors_origin; /* an Origin that is served: the answer carries CORS headers */
    bool is_answered;
    /* Called once, when nothing more is wanted: after the answer was written (is_answered), or when
     * the client left first. NULL: nothing to end. */
    void (*end)(struct exchange *e);
};

/* size: of the struct that begins with the exchange; the rest is zeroed. */
void *exchange_begin(h2o_req_t *req, size_t size);

/* A header beside those of struct reply; the name is a literal in lower case. */
struct header {
    const char *name;
    struct slice value;
};

/* Sends the answer. What it points at stays until end(). */
void exchange_reply(struct exchange *e, const struct reply *reply, const struct header *extra,
                    size_t n_extra);

/* The usual small answers. */
void exchange_reply_empty(struct exchange *e, int status, const struct header *extra,
                          size_t n_extra);
void exchange_reply_text(struct exchange *e, int status, struct slice content_type,
                         struct slice body);

/* The handler returns without an answer: from now on a client that leaves ends the exchange. */
void exchange_wait(struct exchange *e);

/* Ends the work and the connection without an answer. */
void exchange_abandon(struct exchange *e);

/* A copy that lives as long as the exchange. */
struct slice exchange_copy(struct exchange *e, struct slice bytes);

#endif
