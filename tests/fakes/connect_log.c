/* SPDX-License-Identifier: Apache-2.0 */
/* Writes down whom a program speaks to, preloaded (LD_PRELOAD) into it: a line for every peer that
 * connect, sendto, sendmsg or sendmmsg names and for every host name that is looked up. glibc's
 * own calls, those of its resolver, cannot be seen from here; getaddrinfo is what starts them, so
 * it is written down in their place.
 *
 *   CONNECT_LOG  the file the lines are appended to: program, process, what, whom
 *
 *   kbgate 4711 start -                    so that an empty list of peers is no accident
 *   kbgate 4711 connect 127.0.0.1:8080
 *   kbgate 4711 send [::1]:53
 *   kbgate 4711 resolve kb.example
 */
#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default")))

enum { PEER_BYTES = 160, LINE_BYTES = 512 };

/* The next definition of a function: libc's, or that of a sanitizer. */
#define REAL(name) real_##name
#define DECLARE(result, name, ...) static result (*REAL(name))(__VA_ARGS__)

DECLARE(int, connect, int, const struct sockaddr *, socklen_t);
DECLARE(ssize_t, sendto, int, const void *, size_t, int, const struct sockaddr *, socklen_t);
DECLARE(ssize_t, sendmsg, int, const struct msghdr *, int);
DECLARE(int, sendmmsg, int, struct mmsghdr *, unsigned, int);
DECLARE(int, getaddrinfo, const char *, const char *, const struct addrinfo *, struct addrinfo **);

/* One write a line, so that the lines of threads and processes do not mix. */
static void note(const char *what, const char *whom)
{
    const char *path = getenv("CONNECT_LOG");
    char line[LINE_BYTES];
    int kept = errno;
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd >= 0) {
        int n = snprintf(line, sizeof(line), "%.64s %ld %s %.300s\n", program_invocation_short_name,
                         (long)getpid(), what, whom);
        (void)!write(fd, line, (size_t)n);
        close(fd);
    }
    errno = kept;
}

__attribute__((constructor)) static void start(void)
{
    /* dlsym returns an object pointer; POSIX wants it usable as a function. */
#define FIND(name) (*(void **)&REAL(name) = dlsym(RTLD_NEXT, #name))
    FIND(connect);
    FIND(sendto);
    FIND(sendmsg);
    FIND(sendmmsg);
    FIND(getaddrinfo);
    note("start", "-");
}

static void note_inet(const char *what, const struct sockaddr *to)
{
    struct sockaddr_in a;
    char host[INET_ADDRSTRLEN] = "", peer[PEER_BYTES];
    memcpy(&a, to, sizeof(a));
    (void)inet_ntop(AF_INET, &a.sin_addr, host, sizeof(host));
    (void)snprintf(peer, sizeof(peer), "%s:%u", host, (unsigned)ntohs(a.sin_port));
    note(what, peer);
}

static void note_inet6(const char *what, const struct sockaddr *to)
{
    struct sockaddr_in6 a;
    char host[INET6_ADDRSTRLEN] = "", peer[PEER_BYTES];
    memcpy(&a, to, sizeof(a));
    (void)inet_ntop(AF_INET6, &a.sin6_addr, host, sizeof(host));
    (void)snprintf(peer, sizeof(peer), "[%s]:%u", host, (unsigned)ntohs(a.sin6_port));
    note(what, peer);
}

static void note_other(const char *what, const struct sockaddr *to, socklen_t n)
{
    struct sockaddr_un a = {0};
    char peer[PEER_BYTES];
    memcpy(&a, to, n < sizeof(a) ? n : sizeof(a));
    if (a.sun_family == AF_UNIX) {
        (void)snprintf(peer, sizeof(peer), "unix:%.107s", a.sun_path);
    } else {
        (void)snprintf(peer, sizeof(peer), "family:%d", (int)a.sun_family);
    }
    note(what, peer);
}

/* No peer: the socket was connected, which was written down then. */
static void note_peer(const char *what, const struct sockaddr *to, socklen_t n)
{
    if (!to || n < sizeof(to->sa_family)) {
        return;
    }
    if (to->sa_family == AF_INET && n >= sizeof(struct sockaddr_in)) {
        note_inet(what, to);
    } else if (to->sa_family == AF_INET6 && n >= sizeof(struct sockaddr_in6)) {
        note_inet6(what, to);
    } else {
        note_other(what, to, n);
    }
}

EXPORT int connect(int fd, const struct sockaddr *to, socklen_t n)
{
    note_peer("connect", to, n);
    return REAL(connect)(fd, to, n);
}

EXPORT ssize_t sendto(int fd, const void *bytes, size_t n_bytes, int flags,
                      const struct sockaddr *to, socklen_t n)
{
    note_peer("send", to, n);
    return REAL(sendto)(fd, bytes, n_bytes, flags, to, n);
}

EXPORT ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
    note_peer("send", message->msg_name, message->msg_namelen);
    return REAL(sendmsg)(fd, message, flags);
}

EXPORT int sendmmsg(int fd, struct mmsghdr *messages, unsigned n, int flags)
{
    for (unsigned i = 0; i < n; i++) {
        note_peer("send", messages[i].msg_hdr.msg_name, messages[i].msg_hdr.msg_namelen);
    }
    return REAL(sendmmsg)(fd, messages, n, flags);
}

EXPORT int getaddrinfo(const char *host, const char *service, const struct addrinfo *hints,
                       struct addrinfo **ret_found)
{
    if (host) {
        note("resolve", host);
    }
    return REAL(getaddrinfo)(host, service, hints, ret_found);
}
