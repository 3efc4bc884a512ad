/* SPDX-License-Identifier: Apache-2.0 */
/* redis_loop: commands to one Redis server, through hiredis' asynchronous API on a loop.
 *
 * One connection. It is made by itself, says AUTH and SELECT, and is up once a PING was answered.
 * Until the first news of it (the first handshake, the first failure at all addresses of the host,
 * or connect_ms from the first turn of the loop) calls are held, in their order: then they are
 * sent, or fail. After that, while it is not up, every call fails at once: nothing ever waits for
 * Redis to return, which is all the breaker there is.
 *
 * It goes down when it is lost, when REDIS_LOOP_MAX_MISSES calls in a row passed their deadline,
 * and for a reply that is too large, unasked for or no RESP2. While nothing is asked it asks PING
 * every REDIS_LOOP_CHECK_MS, so that a silent server is found out by few calls or none: within
 * REDIS_LOOP_MAX_MISSES times that and command_ms. It is tried again after a delay with jitter
 * that doubles up to REDIS_LOOP_RETRY_MAX_MS.
 *
 * Thread:    the loop's own, or before it runs and after it ended.
 * Process:   ignores SIGPIPE, for hiredis writes to connections that may be closed.
 * Blocking:  never; a host name is looked up by a detached thread, at most one at a time, and
 *            nobody waits for it: neither its redis_loop nor the loop nor the process.
 * Ownership: calls in flight when it is freed end as if cancelled.
 * Ceiling:   REDIS_LOOP_MAX_CALLS held or in flight, REDIS_LOOP_MAX_QUEUED_BYTES unsent; beyond a
 *            call fails at once. Commands of one turn of the loop leave in one write. */
#ifndef LOOP_REDIS_LOOP_H
#define LOOP_REDIS_LOOP_H

#include "service/base/op.h"
#include "service/loop/loop.h"
#include "service/loop/redis_address.h"

enum {
    REDIS_LOOP_MAX_CALLS = 1024,
    REDIS_LOOP_MAX_QUEUED_BYTES = 4 * 1024 * 1024,
    REDIS_LOOP_MAX_REPLY_BYTES = 512 * 1024, /* of all texts of a reply together */
    REDIS_LOOP_MAX_ITEMS = 32,               /* of a list reply, which nests no further */
    REDIS_LOOP_MAX_ARGS = 64,
    REDIS_LOOP_MAX_MISSES = 3,
    REDIS_LOOP_CHECK_MS = 200, /* so a stall of less than twice that is none */
    REDIS_LOOP_RETRY_MIN_MS = 50,
    REDIS_LOOP_RETRY_MAX_MS = 1000,
};

/* Why there is no reply, and why a connection is not up: a bounded list for logs and metrics. */
#define REDIS_FAILURE_TABLE(X)                                                                     \
    X(REDIS_FAILURE_NONE, "none")                                                                  \
    X(REDIS_FAILURE_DOWN, "down")       /* not up: the call was not sent */                        \
    X(REDIS_FAILURE_RESOLVE, "resolve") /* the host has no address */                              \
    X(REDIS_FAILURE_CONNECT, "connect")                                                            \
    X(REDIS_FAILURE_REFUSED, "refused") /* AUTH, SELECT or PING was answered with an error */      \
    X(REDIS_FAILURE_TIMEOUT, "timeout")                                                            \
    X(REDIS_FAILURE_LOST, "lost")     /* the server closed the connection */                       \
    X(REDIS_FAILURE_BROKEN, "broken") /* what came is no RESP2, too large or unasked for */        \
    X(REDIS_FAILURE_FULL, "full")     /* a ceiling is reached: the call was not sent */

enum redis_failure {
#define X(name, text) name,
    REDIS_FAILURE_TABLE(X)
#undef X
        REDIS_FAILURE_COUNT
};

const char *redis_failure_name(enum redis_failure failure);

struct redis_loop; /* opaque */

struct redis_loop_options {
    const struct redis_address *address; /* borrowed; outlives the redis_loop */
    int64_t connect_ms;                  /* longest from the first packet to the answer of PING */
    int64_t command_ms;                  /* longest wait for a reply, from when it is sent */
    uint64_t seed;                       /* of the jitter */
    /* Told each time it goes up or down, `why` REDIS_FAILURE_NONE when up, and of the first
     * failure to connect; of those that follow only once that it is refused, where the reason told
     * was another: its owner must mend that. May be NULL. */
    void (*on_health)(void *who, bool up, enum redis_failure why);
    void *who;
};

/* Starts connecting when the loop runs; until then calls are held. */
struct redis_loop *redis_loop_new(struct loop *l, const struct redis_loop_options *options);

/* At any time, also from an on_done or on_health; neither is called again. What is queued leaves if
 * the socket takes it, but not from there. */
void redis_loop_free(struct redis_loop *r);
bool redis_loop_is_up(const struct redis_loop *r);

/* RESP2, less what no command of ours is answered with. */
enum redis_kind { REDIS_NIL, REDIS_INTEGER, REDIS_TEXT, REDIS_STATUS, REDIS_ERROR, REDIS_LIST };

struct redis_reply {
    enum redis_kind kind;
    int64_t integer;                 /* REDIS_INTEGER */
    struct slice text;               /* REDIS_TEXT, REDIS_STATUS, REDIS_ERROR */
    const struct redis_reply *items; /* REDIS_LIST */
    size_t n_items;
};

/* The code of an error reply, its first word ("OOM", "NOPERM"): for logs. */
struct slice redis_error_code(struct slice error);

/* One command on its way, embedded in what waits for it; op_cancel(&call->op) at any time. */
struct redis_call {
    struct op op;                    /* ERR_OK: there is a reply, perhaps an error reply;
                                        ERR_BACKEND_DOWN: none, see failure */
    const struct redis_reply *reply; /* while op.on_done runs, no longer */
    enum redis_failure failure;
};

/* Sends a command: args are bytes, copied; none that changes what a connection is for (SUBSCRIBE,
 * MONITOR, HELLO, CLIENT REPLY). Done perhaps before it returns. A command that was sent and then
 * cancelled or missed its deadline may still be carried out; what is sent after it on the same
 * redis_loop is carried out after it, but for an EVAL that follows an unknown EVALSHA. */
void redis_loop_call(struct redis_loop *r, const struct slice *args, size_t n_args,
                     struct redis_call *call);

/* The same without waiting for the reply, whatever it is; dropped where it cannot be sent. */
void redis_loop_send(struct redis_loop *r, const struct slice *args, size_t n_args);

/* A Lua script, known to the server by its SHA-1 (redis.io, EVALSHA). */
struct redis_script {
    struct slice text;
    char sha1_hex[41];
};
void redis_script_init(struct redis_script *s, struct slice text); /* text outlives it */

/* EVALSHA; where the server does not know the script, EVAL, once and with a deadline of its own. A
 * call that was cancelled or missed its deadline meanwhile is not sent again. s outlives the
 * redis_loop. */
void redis_loop_eval(struct redis_loop *r, const struct redis_script *s, const struct slice *keys,
                     size_t n_keys, const struct slice *args, size_t n_args,
                     struct redis_call *call);
void redis_loop_eval_send(struct redis_loop *r, const struct redis_script *s,
                          const struct slice *keys, size_t n_keys, const struct slice *args,
                          size_t n_args);

/* What it did for its callers so far, for metrics and tests. Any thread. */
struct redis_stats {
    uint64_t calls;                         /* sent */
    uint64_t writes;                        /* system calls that sent something: batches */
    uint64_t connects;                      /* attempts */
    uint64_t failures[REDIS_FAILURE_COUNT]; /* of calls and of connections: one for each that
                                               ended other than by its owner */
};
void redis_loop_stats(const struct redis_loop *r, struct redis_stats *ret_stats);

#endif
