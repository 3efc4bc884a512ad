/* SPDX-License-Identifier: Apache-2.0 */
/* http_client: a blocking client that sends any bytes it is told to. A read that takes 20 s fails.
 */
#ifndef TEST_HTTP_CLIENT_H
#define TEST_HTTP_CLIENT_H

#include "service/base/slice.h"

#include <stdint.h>

struct client {
    int fd;
    char *bytes; /* received and not yet taken */
    size_t n, cap;
};

struct response {
    int status; /* 0: the connection ended without one */
    char *text; /* head and body, NUL-terminated */
    char *body; /* in text */
    size_t n_body;
};

struct client client_open(uint16_t port);
void client_close(struct client *c);

void client_send(struct client *c, const char *bytes);
void client_send_n(struct client *c, const char *bytes, size_t n);

/* The next response; release with response_done. */
struct response client_read(struct client *c);
void response_done(struct response *r);

/* Whether the server has closed (or does so within the time limit) and sent nothing more. */
bool client_is_closed(struct client *c);

/* One request on a connection of its own. */
struct response client_ask(uint16_t port, const char *bytes);

/* The value of a header (name in lower case), or NULL; static memory. */
const char *response_header(const struct response *r, const char *name);

#endif
