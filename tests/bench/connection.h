/* SPDX-License-Identifier: Apache-2.0 */
/* connection: a blocking keep-alive HTTP/1.1 client on loopback, no more than a load client needs.
 *
 * Thread: one a connection.      Blocking: yes, at most CONNECTION_WAIT_S a read. */
#ifndef TESTS_BENCH_CONNECTION_H
#define TESTS_BENCH_CONNECTION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CONNECTION_WAIT_S = 20, CONNECTION_MAX_BYTES = 256 * 1024 };

struct connection {
    int fd; /* -1: not open */
    char *bytes;
    size_t n; /* received */
};

/* body: within the connection's buffer, until its next call; NUL-terminated. */
struct reply {
    int status;
    const char *body;
};

/* False: no such port, or nobody listens. */
bool connection_open(struct connection *c, uint16_t port);
void connection_close(struct connection *c);

/* Sends a whole request and reads its answer, which must name its length. False: the connection
 * ended, the answer was late, too large or no HTTP. */
bool connection_call(struct connection *c, const char *request, size_t n, struct reply *ret_reply);

#endif
