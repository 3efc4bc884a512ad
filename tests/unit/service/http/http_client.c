/* SPDX-License-Identifier: Apache-2.0 */
#include "tests/unit/service/http/http_client.h"

#include "service/base/mem.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>
#include <sys/socket.h>
#include <unistd.h>

struct client client_open(uint16_t port)
{
    struct client c = {.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    struct sockaddr_in to = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct timeval limit = {.tv_sec = 20};
    setsockopt(c.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    cr_assert_eq(connect(c.fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return c;
}

void client_close(struct client *c)
{
    close(c->fd);
    free(c->bytes);
    c->bytes = NULL;
}

void client_send_n(struct client *c, const char *bytes, size_t n)
{
    for (ssize_t sent; n; bytes += sent, n -= (size_t)sent) {
        sent = send(c->fd, bytes, n, MSG_NOSIGNAL);
        if (sent <= 0) {
            return; /* the server refused to read on; what it answered is what counts */
        }
    }
}

void client_send(struct client *c, const char *bytes)
{
    client_send_n(c, bytes, strlen(bytes));
}

/* False: the end. */
static bool receive(struct client *c)
{
    if (c->cap - c->n < 65537) {
        c->cap = 2 * c->cap + 131072;
        c->bytes = mem_realloc(c->bytes, c->cap);
    }
    ssize_t n = recv(c->fd, c->bytes + c->n, c->cap - c->n - 1, 0);
    if (n <= 0) {
        return false;
    }
    c->n += (size_t)n;
    c->bytes[c->n] = '\0';
    return true;
}

const char *response_header(const struct response *r, const char *name)
{
    static _Thread_local char value[1024];
    size_t n = strlen(name);
    for (const char *line = strstr(r->text, "\r\n"); line && line + 2 < r->body;
         line = strstr(line + 2, "\r\n")) {
        if (strncasecmp(line + 2, name, n) == 0 && line[2 + n] == ':') {
            sscanf(line + 2 + n + 1, " %1023[^\r]", value);
            return value;
        }
    }
    return NULL;
}

static size_t body_length(struct response *r)
{
    const char *length = response_header(r, "content-length");
    return length ? (size_t)strtoull(length, NULL, 10) : 0;
}

struct response client_read(struct client *c)
{
    struct response r = {0};
    const char *end = NULL;
    while (!(end = c->n ? strstr(c->bytes, "\r\n\r\n") : NULL)) {
        if (!receive(c)) {
            cr_assert_eq(c->n, 0, "cut in a head: %s", c->bytes);
            return r;
        }
    }
    size_t n_head = (size_t)(end - c->bytes) + 4;
    r = (struct response){.text = c->bytes, .body = c->bytes + n_head};
    size_t n_body = body_length(&r);
    while (c->n < n_head + n_body && receive(c)) {
    }
    r.n_body = c->n < n_head + n_body ? c->n - n_head : n_body;
    r.text = mem_alloc(n_head + r.n_body + 1);
    memcpy(r.text, c->bytes, n_head + r.n_body);
    r.body = r.text + n_head;
    c->n -= n_head + r.n_body;
    memmove(c->bytes, c->bytes + n_head + r.n_body, c->n + 1);
    cr_assert_eq(sscanf(r.text, "HTTP/1.1 %d ", &r.status), 1, "%s", r.text);
    return r;
}

void response_done(struct response *r)
{
    free(r->text);
    r->text = NULL;
}

bool client_is_closed(struct client *c)
{
    return c->n == 0 && !receive(c);
}

struct response client_ask(uint16_t port, const char *bytes)
{
    struct client c = client_open(port);
    client_send(&c, bytes);
    struct response r = client_read(&c);
    client_close(&c);
    return r;
}
