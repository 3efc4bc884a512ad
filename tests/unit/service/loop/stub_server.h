/* SPDX-License-Identifier: Apache-2.0 */
/* stub_server: an HTTP server on a thread of its own that says what the test tells it to. Free of
 * any test framework: a failed call ends the process. */
#ifndef TESTS_LOOP_STUB_SERVER_H
#define TESTS_LOOP_STUB_SERVER_H

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define STUB_MUST(condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            perror("stub_server: " #condition);                                                    \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { STUB_MAX_PEERS = 64, STUB_REQUEST_BYTES = 16384, STUB_RESPONSE_BYTES = 1 << 20 };

struct stub_peer {
    char request[STUB_REQUEST_BYTES];
    size_t n;
};

struct stub_server {
    int listen_fd, stop[2];
    unsigned port;
    pthread_t thread;
    struct pollfd fds[2 + STUB_MAX_PEERS]; /* stop, listen, then the peers */
    struct stub_peer peers[STUB_MAX_PEERS];
    size_t n_peers;
    pthread_mutex_t lock; /* of the rest */
    pthread_cond_t changed;
    char response[STUB_RESPONSE_BYTES];
    size_t n_response;
    bool silent; /* reads requests, answers none */
    bool closes; /* after each answer */
    unsigned n_connections, n_requests, n_closed;
    char last_request[STUB_REQUEST_BYTES];
};

/* head without its status line's version and without the empty line; NULL body: Content-Length is
 * head's own business. */
static inline void stub_says(struct stub_server *s, const char *head, const char *body)
{
    pthread_mutex_lock(&s->lock);
    int n = body
                ? snprintf(s->response, sizeof(s->response),
                           "HTTP/1.1 %s\r\nContent-Length: %zu\r\n\r\n%s", head, strlen(body), body)
                : snprintf(s->response, sizeof(s->response), "HTTP/1.1 %s\r\n\r\n", head);
    STUB_MUST(n > 0 && n < STUB_RESPONSE_BYTES);
    s->n_response = (size_t)n;
    s->silent = s->closes = false;
    pthread_mutex_unlock(&s->lock);
}

static inline void stub_set(struct stub_server *s, bool *member, bool value)
{
    pthread_mutex_lock(&s->lock);
    *member = value;
    pthread_mutex_unlock(&s->lock);
}

static inline unsigned stub_count(struct stub_server *s, const unsigned *counter)
{
    pthread_mutex_lock(&s->lock);
    unsigned n = *counter;
    pthread_mutex_unlock(&s->lock);
    return n;
}

static inline void stub_wait(struct stub_server *s, const unsigned *counter, unsigned at_least)
{
    pthread_mutex_lock(&s->lock);
    while (*counter < at_least) {
        pthread_cond_wait(&s->changed, &s->lock);
    }
    pthread_mutex_unlock(&s->lock);
}

static inline void stub_drop(struct stub_server *s, size_t i)
{
    close(s->fds[2 + i].fd);
    s->n_peers--;
    s->fds[2 + i] = s->fds[2 + s->n_peers];
    s->peers[i] = s->peers[s->n_peers];
    s->n_closed++;
}

/* Whether the request is whole: a head and as many bytes as it announces. */
static inline bool stub_is_whole(struct stub_peer *p)
{
    p->request[p->n] = '\0';
    const char *end = strstr(p->request, "\r\n\r\n");
    const char *length = strstr(p->request, "Content-Length: ");
    size_t body = length && length < end ? strtoul(length + 16, NULL, 10) : 0;
    return end && p->n >= (size_t)(end - p->request) + 4 + body;
}

/* False: the peer is gone. */
static inline bool stub_serve(struct stub_server *s, size_t i)
{
    struct stub_peer *p = &s->peers[i];
    ssize_t n = recv(s->fds[2 + i].fd, p->request + p->n, STUB_REQUEST_BYTES - 1 - p->n, 0);
    if (n <= 0) {
        return false;
    }
    p->n += (size_t)n;
    if (!stub_is_whole(p)) {
        return true;
    }
    s->n_requests++;
    memcpy(s->last_request, p->request, p->n + 1);
    p->n = 0;
    if (s->silent) {
        return true;
    }
    for (size_t sent = 0; sent < s->n_response;) {
        ssize_t m = send(s->fds[2 + i].fd, s->response + sent, s->n_response - sent, MSG_NOSIGNAL);
        if (m <= 0) {
            return false;
        }
        sent += (size_t)m;
    }
    return !s->closes;
}

static inline void stub_accept(struct stub_server *s)
{
    int fd = accept(s->listen_fd, NULL, NULL);
    if (fd >= 0 && s->n_peers < STUB_MAX_PEERS) {
        s->fds[2 + s->n_peers] = (struct pollfd){.fd = fd, .events = POLLIN};
        s->peers[s->n_peers++].n = 0;
        s->n_connections++;
    }
}

static inline void *stub_run(void *arg)
{
    struct stub_server *s = arg;
    while (poll(s->fds, (nfds_t)(2 + s->n_peers), -1) > 0 && !s->fds[0].revents) {
        pthread_mutex_lock(&s->lock);
        for (size_t i = s->n_peers; i-- > 0;) {
            if (s->fds[2 + i].revents && !stub_serve(s, i)) {
                stub_drop(s, i);
            }
        }
        if (s->fds[1].revents) {
            stub_accept(s);
        }
        pthread_cond_broadcast(&s->changed);
        pthread_mutex_unlock(&s->lock);
    }
    return NULL;
}

static inline void stub_open(struct stub_server *s)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(address);
    memset(s, 0, sizeof(*s));
    s->listen_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    STUB_MUST(bind(s->listen_fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    STUB_MUST(listen(s->listen_fd, 64) == 0);
    STUB_MUST(getsockname(s->listen_fd, (struct sockaddr *)&address, &n) == 0);
    STUB_MUST(pipe(s->stop) == 0);
    s->port = ntohs(address.sin_port);
    s->fds[0] = (struct pollfd){.fd = s->stop[0], .events = POLLIN};
    s->fds[1] = (struct pollfd){.fd = s->listen_fd, .events = POLLIN};
    pthread_mutex_init(&s->lock, NULL);
    pthread_cond_init(&s->changed, NULL);
    stub_says(s, "200 OK", "hello");
    STUB_MUST(pthread_create(&s->thread, NULL, stub_run, s) == 0);
}

static inline void stub_close(struct stub_server *s)
{
    STUB_MUST(write(s->stop[1], "x", 1) == 1);
    pthread_join(s->thread, NULL);
    while (s->n_peers) {
        stub_drop(s, s->n_peers - 1);
    }
    close(s->listen_fd);
    close(s->stop[0]);
    close(s->stop[1]);
    pthread_mutex_destroy(&s->lock);
    pthread_cond_destroy(&s->changed);
}

#endif
