/* SPDX-License-Identifier: Apache-2.0 */
/* fake_redis: what a Redis server never says, said on the test's own loop: garbage, half replies,
 * silence. It reads commands as they are and answers each with what the test sets. Every event
 * stops the loop, so that a test runs it until what it waits for is so. */
#ifndef TESTS_LOOP_FAKE_REDIS_H
#define TESTS_LOOP_FAKE_REDIS_H

#include "service/base/dynbuf.h"
#include "service/base/mem.h"
#include "service/loop/redis_loop.h"
#include "service/loop/watch.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define FAKE_MUST(condition)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            perror("fake_redis: " #condition);                                                     \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define WAIT_FOR(l, condition)                                                                     \
    while (!(condition)) {                                                                         \
        loop_run(l);                                                                               \
    }

enum { FAKE_MAX_ARGS = 128, FAKE_MAX_BYTES = 32 * 1024 * 1024 };

struct fake_peer {
    struct watch watch;
    struct fake_redis *owner;
    struct fake_peer *next;
    struct dynbuf in, out;
    bool closes; /* once out is sent */
};

struct fake_redis {
    struct loop *loop;
    struct watch listen;
    int fd;
    struct redis_address address;
    struct fake_peer *peers;
    /* What it says: NULL is silence. To any other command than these: says. */
    const char *to_connect, *to_auth, *to_select, *to_ping;
    struct slice says;
    bool closes;  /* after each reply that is no part of the handshake */
    bool is_deaf; /* reads nothing */
    unsigned n_connections, n_closed, n_commands; /* n_commands: without the handshake */
    struct dynbuf log;                            /* all commands, "GET k\n" */
};

static inline void fake_close_peer(struct fake_peer *p)
{
    struct fake_peer **at = &p->owner->peers;
    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    p->owner->n_closed++;
    int fd = p->watch.fd;
    watch_stop(&p->watch);
    close(fd);
    dynbuf_done(&p->in);
    dynbuf_done(&p->out);
    free(p);
}

/* Sends what it can; false: the peer is gone. */
static inline bool fake_flush(struct fake_peer *p)
{
    size_t sent = 0;
    while (sent < p->out.n) {
        ssize_t n =
            send(p->watch.fd, p->out.p + sent, p->out.n - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0) {
            break;
        }
        sent += (size_t)n;
    }
    if (sent) {
        memmove(p->out.p, p->out.p + sent, p->out.n - sent);
        p->out.n -= sent;
    }
    if (p->closes && p->out.n == 0) {
        fake_close_peer(p);
        return false;
    }
    watch_change(&p->watch, (p->owner->is_deaf ? 0U : EPOLLIN) | (p->out.n ? EPOLLOUT : 0U));
    return true;
}

static inline void fake_says_now(struct fake_redis *f, struct slice bytes)
{
    for (struct fake_peer *p = f->peers, *next; p; p = next) {
        next = p->next;
        dynbuf_add(&p->out, bytes);
        fake_flush(p);
    }
}

static inline void fake_answer(struct fake_peer *p, const struct slice *args, size_t n_args)
{
    struct fake_redis *f = p->owner;
    const struct {
        const char *command, *reply;
    } rows[] = {{"AUTH", f->to_auth}, {"SELECT", f->to_select}, {"PING", f->to_ping}};
    for (size_t i = 0; i < n_args; i++) {
        dynbuf_add(&f->log, args[i]);
        dynbuf_add_byte(&f->log, i + 1 < n_args ? ' ' : '\n');
    }
    for (size_t i = 0; i < 3; i++) {
        if (slice_is(args[0], rows[i].command)) {
            dynbuf_add(&p->out, rows[i].reply ? slice_of(rows[i].reply) : SLICE_LIT(""));
            return;
        }
    }
    f->n_commands++;
    if (f->says.p) {
        dynbuf_add(&p->out, f->says);
        p->closes = f->closes;
    } else if (f->closes) {
        p->closes = true;
    }
}

/* The number behind `mark` at *at, which moves past its line; -1: it is not whole. */
static inline long fake_number(const struct dynbuf *in, size_t *at, char mark)
{
    const char *end = *at < in->n ? memchr(in->p + *at, '\n', in->n - *at) : NULL;
    if (!end) {
        return -1;
    }
    FAKE_MUST(in->p[*at] == mark && end[-1] == '\r');
    long n = strtol(in->p + *at + 1, NULL, 10);
    *at = (size_t)(end - in->p) + 1;
    return n;
}

/* How long the first command in `in` is; 0: it is not whole. */
static inline size_t fake_command(const struct dynbuf *in, struct slice *args, size_t *ret_n)
{
    size_t at = 0;
    long n = fake_number(in, &at, '*');
    for (long i = 0; i < n; i++) {
        long length = fake_number(in, &at, '$');
        if (length < 0 || in->n - at < (size_t)length + 2) {
            return 0;
        }
        FAKE_MUST(i < FAKE_MAX_ARGS);
        args[i] = (struct slice){in->p + at, (size_t)length};
        at += (size_t)length + 2;
    }
    *ret_n = n > 0 ? (size_t)n : 0;
    return n > 0 ? at : 0;
}

static inline void fake_on_peer(struct watch *w, uint32_t events)
{
    char bytes[1 << 14];
    struct fake_peer *p = (struct fake_peer *)w;
    struct slice args[FAKE_MAX_ARGS];
    size_t n_args;
    loop_stop(w->loop);
    if (events & EPOLLIN && !p->owner->is_deaf) {
        ssize_t n = recv(w->fd, bytes, sizeof(bytes), 0);
        if (n <= 0) {
            fake_close_peer(p);
            return;
        }
        dynbuf_add(&p->in, (struct slice){bytes, (size_t)n});
        for (size_t used; (used = fake_command(&p->in, args, &n_args));) {
            fake_answer(p, args, n_args);
            memmove(p->in.p, p->in.p + used, p->in.n - used);
            p->in.n -= used;
        }
    } else if (events & (EPOLLHUP | EPOLLERR)) {
        fake_close_peer(p);
        return;
    }
    fake_flush(p);
}

static inline void fake_on_listen(struct watch *w, uint32_t events)
{
    struct fake_redis *f =
        (struct fake_redis *)(void *)((char *)w - offsetof(struct fake_redis, listen));
    struct fake_peer *p = mem_alloc(sizeof(*p));
    int fd = accept(w->fd, NULL, NULL);
    (void)events;
    FAKE_MUST(fd >= 0);
    f->n_connections++;
    p->owner = f;
    p->next = f->peers;
    f->peers = p;
    p->watch.on_ready = fake_on_peer;
    dynbuf_init(&p->in, FAKE_MAX_BYTES);
    dynbuf_init(&p->out, FAKE_MAX_BYTES);
    FAKE_MUST(watch_start(f->loop, &p->watch, fd, f->is_deaf ? 0 : EPOLLIN));
    if (f->to_connect) {
        dynbuf_add(&p->out, slice_of(f->to_connect));
        fake_flush(p);
    }
    loop_stop(f->loop);
}

static inline void fake_begin(struct fake_redis *f, struct loop *l, int fd)
{
    f->loop = l;
    f->fd = fd;
    f->to_auth = f->to_select = "+OK\r\n";
    f->to_ping = "+PONG\r\n";
    FAKE_MUST(listen(fd, 16) == 0);
    f->listen.on_ready = fake_on_listen;
    FAKE_MUST(watch_start(l, &f->listen, fd, EPOLLIN));
    dynbuf_init(&f->log, FAKE_MAX_BYTES);
}

/* port 0: one that is free. */
static inline void fake_open(struct fake_redis *f, struct loop *l, uint16_t port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t n = sizeof(address);
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FAKE_MUST(setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0);
    FAKE_MUST(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    FAKE_MUST(getsockname(fd, (struct sockaddr *)&address, &n) == 0);
    *f = (struct fake_redis){.address.port = ntohs(address.sin_port)};
    memcpy(f->address.host, "127.0.0.1", sizeof("127.0.0.1"));
    fake_begin(f, l, fd);
}

/* On a socket of this path, which nothing has taken. */
static inline void fake_open_at(struct fake_redis *f, struct loop *l, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    FAKE_MUST(strlen(path) < sizeof(address.sun_path));
    memcpy(address.sun_path, path, strlen(path));
    FAKE_MUST(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    *f = (struct fake_redis){.address.is_unix = true};
    memcpy(f->address.path, path, strlen(path) + 1);
    fake_begin(f, l, fd);
}

static inline void fake_close_peers(struct fake_redis *f)
{
    while (f->peers) {
        fake_close_peer(f->peers);
    }
}

static inline void fake_close(struct fake_redis *f)
{
    fake_close_peers(f);
    watch_stop(&f->listen);
    close(f->fd);
    dynbuf_done(&f->log);
}

#endif
