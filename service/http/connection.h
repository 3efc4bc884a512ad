/* SPDX-License-Identifier: Apache-2.0 */
/* connection: what is known of an accepted socket beside what libh2o knows.
 *
 * libh2o stops reading while a request is worked on, so it neither sees a client leave nor can be
 * asked to close a connection; both are done here. Thread: the connection's loop. */
#ifndef HTTP_CONNECTION_H
#define HTTP_CONNECTION_H

#include "service/http/thread.h"
#include "service/loop/watch.h"

struct exchange;

struct connection {
    struct http_thread *thread;
    h2o_socket_t *socket;
    struct exchange *exchange; /* the request being answered; NULL: none */
    struct watch hang_up;
    bool is_gone;         /* the client has closed its side */
    bool reading_is_shut; /* by us, to end an idle connection */
    struct connection *previous, *next;
};

/* Listener callback: accepts what waits; what is over the port's limit is closed. */
void connection_on_accept(h2o_socket_t *listener, const char *error);

struct connection *connection_of(h2o_req_t *req);

/* Tells the exchange when the client leaves; once more costs nothing. False: it has left. */
bool connection_watch(struct connection *c);

/* No byte goes in or out any more; libh2o closes it at its next turn. */
void connection_cut(struct connection *c);

/* Ends it at once when idle, after its answer when busy. */
void connection_drain(struct connection *c);

#endif
