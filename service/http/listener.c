/* SPDX-License-Identifier: Apache-2.0 */
/* SO_REUSEPORT would also let a second kbgate of the same user share the port, and each would get
 * half of the connections. So the address is first bound without it: that fails if anybody listens
 * there, and it picks the port when any will do. */
#include "service/http/listener.h"

#include <errno.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096 }; /* the kernel lowers it to its own limit */

static int open_bound(const struct addrinfo *at, bool shared)
{
    int on = 1, fd = socket(at->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0) {
        return -1;
    }
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)); /* old connections do not block it */
    if (shared) {
        setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &on, sizeof(on));
    }
    if (bind(fd, at->ai_addr, at->ai_addrlen) == 0 && (!shared || listen(fd, BACKLOG) == 0)) {
        return fd;
    }
    int reason = errno;
    close(fd);
    errno = reason;
    return -1;
}

/* Fills at with the address fd is bound to. */
static void take_port(int fd, struct addrinfo *at, uint16_t *ret_port)
{
    getsockname(fd, at->ai_addr, &at->ai_addrlen);
    const void *address = at->ai_addr;
    *ret_port = ntohs(at->ai_family == AF_INET6 ? ((const struct sockaddr_in6 *)address)->sin6_port
                                                : ((const struct sockaddr_in *)address)->sin_port);
}

static bool open_all(struct addrinfo *at, uint16_t *port, unsigned n, int *ret_fds)
{
    int first = open_bound(at, false);
    if (first < 0) {
        return false;
    }
    take_port(first, at, port);
    close(first);
    for (unsigned i = 0; i < n; i++) {
        ret_fds[i] = open_bound(at, true);
        if (ret_fds[i] < 0) {
            int reason = errno;
            while (i > 0) {
                close(ret_fds[--i]);
            }
            errno = reason;
            return false;
        }
    }
    return true;
}

static const char *advice(int reason)
{
    switch (reason) {
    case EADDRINUSE: return "stop the other process or choose another";
    case EACCES: return "ports below 1024 need a privilege; choose another";
    case EADDRNOTAVAIL: return "this machine has no such address; choose another";
    default: return "choose another";
    }
}

bool listener_open(const char *host, uint16_t *port, const char *option, unsigned n, int *ret_fds,
                   struct err_detail *detail)
{
    const struct addrinfo hints = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE};
    struct addrinfo *found = NULL;
    uint16_t wanted = *port;
    const char *open = strchr(host, ':') ? "[" : "", *shut = *open ? "]" : ""; /* IPv6 */
    char service[8];
    snprintf(service, sizeof(service), "%u", wanted);
    int unresolved = getaddrinfo(host, service, &hints, &found);
    if (unresolved) {
        err_detail_set(detail, "%s %s%s%s:%u: %s; correct the host in %s:", option, open, host,
                       shut, wanted, gai_strerror(unresolved), option);
        return false;
    }
    bool good = open_all(found, port, n, ret_fds);
    if (!good) {
        err_detail_set(detail, "%s %s%s%s:%u: %s; %s %s:", option, open, host, shut, wanted,
                       strerror(errno), advice(errno), option);
    }
    freeaddrinfo(found);
    return good;
}
