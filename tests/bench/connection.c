/* SPDX-License-Identifier: Apache-2.0 */
/* One request in flight at a time, so whatever arrives belongs to it and the buffer starts anew
 * with each. */
#include "tests/bench/connection.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

bool connection_open(struct connection *c, uint16_t port)
{
    const struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const struct timeval limit = {.tv_sec = CONNECTION_WAIT_S};
    const int on = 1;
    c->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    c->bytes = malloc(CONNECTION_MAX_BYTES + 1);
    if (c->fd < 0 || !c->bytes ||
        setsockopt(c->fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit)) != 0 ||
        setsockopt(c->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on)) != 0 ||
        connect(c->fd, (const struct sockaddr *)&to, sizeof(to)) != 0) {
        connection_close(c);
        return false;
    }
    return true;
}

void connection_close(struct connection *c)
{
    if (c->fd >= 0) {
        close(c->fd);
    }
    free(c->bytes);
    *c = (struct connection){.fd = -1};
}

static bool send_all(int fd, const char *p, size_t n)
{
    for (ssize_t sent; n; p += sent, n -= (size_t)sent) {
        sent = send(fd, p, n, MSG_NOSIGNAL);
        if (sent <= 0) {
            return false;
        }
    }
    return true;
}

static bool receive(struct connection *c)
{
    ssize_t n = recv(c->fd, c->bytes + c->n, CONNECTION_MAX_BYTES - c->n, 0);
    if (n <= 0) {
        return false;
    }
    c->n += (size_t)n;
    c->bytes[c->n] = '\0';
    return true;
}

/* Where the body starts; 0: the head is not complete. */
static size_t head_length(const struct connection *c)
{
    const char *end = strstr(c->bytes, "\r\n\r\n");
    return end ? (size_t)(end - c->bytes) + 4 : 0;
}

/* False: the head names no length that fits. */
static bool body_length(const struct connection *c, size_t head, size_t *ret_n)
{
    static const char NAME[] = "\r\ncontent-length:";
    const char *at = strcasestr(c->bytes, NAME);
    if (!at || (size_t)(at - c->bytes) >= head) {
        return false;
    }
    *ret_n = strtoul(at + sizeof(NAME) - 1, NULL, 10);
    return *ret_n <= CONNECTION_MAX_BYTES - head;
}

bool connection_call(struct connection *c, const char *request, size_t n, struct reply *ret_reply)
{
    size_t head = 0, body = 0;
    c->n = 0;
    if (c->fd < 0 || !send_all(c->fd, request, n)) {
        return false;
    }
    while (!head || c->n < head + body) {
        if (!receive(c)) {
            return false;
        }
        if (!head && (head = head_length(c)) && !body_length(c, head, &body)) {
            return false;
        }
    }
    ret_reply->status = strncmp(c->bytes, "HTTP/1.1 ", 9) == 0 ? atoi(c->bytes + 9) : 0;
    ret_reply->body = c->bytes + head;
    return true;
}
