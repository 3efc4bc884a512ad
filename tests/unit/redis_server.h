/* SPDX-License-Identifier: Apache-2.0 */
/* redis_server: a real redis-server for one test, on a socket in a folder of its own, with nothing
 * saved. It ends with the process that started it, whatever becomes of that. Free of any test
 * framework: a failed call ends the process. */
#ifndef TESTS_REDIS_SERVER_H
#define TESTS_REDIS_SERVER_H

#include "service/loop/redis_address.h"

#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define REDIS_SERVER "/usr/bin/redis-server"

#define REDIS_SERVER_MUST(condition)                                                               \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            perror("redis_server: " #condition);                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { REDIS_SERVER_MAX_ARGS = 32 };

struct redis_server {
    char folder[64];
    struct redis_address address; /* of its socket, without user and password */
    const char *args[REDIS_SERVER_MAX_ARGS + 1];
    pid_t pid; /* 0: not running */
};

static inline void redis_server_exec(struct redis_server *s, int log_fd, pid_t parent)
{
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != parent || dup2(log_fd, STDOUT_FILENO) < 0) {
        _exit(1); /* the parent died before we asked to follow it */
    }
    execv(REDIS_SERVER, (char *const *)(void *)s->args);
    _exit(1);
}

/* Starts it, perhaps again at the same address, and returns once it takes connections. */
static inline void redis_server_run(struct redis_server *s)
{
    char log[512];
    int fds[2];
    pid_t parent = getpid();
    REDIS_SERVER_MUST(pipe(fds) == 0);
    s->pid = fork();
    REDIS_SERVER_MUST(s->pid >= 0);
    if (s->pid == 0) {
        redis_server_exec(s, fds[1], parent);
    }
    close(fds[1]);
    FILE *lines = fdopen(fds[0], "r");
    REDIS_SERVER_MUST(lines);
    do {
        REDIS_SERVER_MUST(fgets(log, sizeof(log), lines));
    } while (!strstr(log, "eady to accept connections"));
    fclose(lines); /* it ignores SIGPIPE, so the rest of its log is lost */
}

/* More arguments, up to a NULL: "--maxmemory", "1mb". They must outlive it. */
static inline void redis_server_start(struct redis_server *s, const char *const *more)
{
    *s = (struct redis_server){.folder = "/tmp/redis_server.XXXXXX"};
    REDIS_SERVER_MUST(mkdtemp(s->folder));
    snprintf(s->address.path, sizeof(s->address.path), "%s/s", s->folder);
    s->address.is_unix = true;
    const char *args[] = {REDIS_SERVER,
                          "--port",
                          "0",
                          "--unixsocket",
                          s->address.path,
                          "--dir",
                          s->folder,
                          "--save",
                          "",
                          "--appendonly",
                          "no",
                          "--daemonize",
                          "no"};
    size_t n = sizeof(args) / sizeof(args[0]);
    memcpy(s->args, args, sizeof(args));
    for (; more && *more; more++) {
        REDIS_SERVER_MUST(n < REDIS_SERVER_MAX_ARGS);
        s->args[n++] = *more;
    }
    redis_server_run(s);
}

/* SIGSTOP, SIGCONT, or SIGKILL, after which redis_server_run starts it anew, empty. */
static inline void redis_server_signal(struct redis_server *s, int signal_number)
{
    int status = 0;
    REDIS_SERVER_MUST(kill(s->pid, signal_number) == 0);
    if (signal_number == SIGSTOP) {
        REDIS_SERVER_MUST(waitpid(s->pid, &status, WUNTRACED) == s->pid && WIFSTOPPED(status));
    } else if (signal_number == SIGKILL) {
        REDIS_SERVER_MUST(waitpid(s->pid, &status, 0) == s->pid);
        s->pid = 0;
        unlink(s->address.path);
    }
}

static inline void redis_server_stop(struct redis_server *s)
{
    if (s->pid) {
        redis_server_signal(s, SIGKILL);
    }
    rmdir(s->folder);
}

/* One command of a test's own, words without white space in them: "SET k v". Free the reply. */
static inline redisReply *redis_server_say(struct redis_server *s, const char *words)
{
    redisContext *c = redisConnectUnix(s->address.path);
    REDIS_SERVER_MUST(c && !c->err);
    redisReply *reply = redisCommand(c, words); /* no test's words hold a '%' */
    REDIS_SERVER_MUST(reply);
    redisFree(c);
    return reply;
}

static inline void redis_server_do(struct redis_server *s, const char *words)
{
    redisReply *reply = redis_server_say(s, words);
    if (reply->type == REDIS_REPLY_ERROR) {
        fprintf(stderr, "redis_server: %s: %s\n", words, reply->str);
        abort();
    }
    freeReplyObject(reply);
}

#endif
