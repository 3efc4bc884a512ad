/* SPDX-License-Identifier: Apache-2.0 */
/* redis_private: what the files of one redis_loop share. Thread: the loop's own, but for counters.
 *
 * hiredis calls back from within its own calls and frees its context there. So each way in is
 * bracketed by redis_enter and redis_leave, and a redis_loop that its owner frees in between, from
 * an on_done or on_health, lives until the outermost redis_leave. */
#ifndef LOOP_REDIS_PRIVATE_H
#define LOOP_REDIS_PRIVATE_H

#include "service/loop/redis_loop.h"
#include "service/loop/watch.h"

#include <hiredis/async.h>
#include <netinet/in.h>
#include <stdatomic.h>

enum redis_state {
    REDIS_WAITING,    /* for the next attempt */
    REDIS_RESOLVING,  /* a thread looks up the host */
    REDIS_CONNECTING, /* until PING is answered */
    REDIS_UP,
    REDIS_ENDING, /* hiredis is ending what is in flight, or the owner has freed us */
};

enum redis_health { REDIS_HEALTH_UNKNOWN, REDIS_HEALTH_UP, REDIS_HEALTH_DOWN };

/* Whose command it is: a caller's; ours, of the handshake; ours, to see whether it still answers.
 */
enum redis_step {
    REDIS_STEP_NONE,
    REDIS_STEP_AUTH,
    REDIS_STEP_SELECT,
    REDIS_STEP_PING,
    REDIS_STEP_CHECK
};

/* One command in flight, until it is answered or the connection ends, whoever waits for it. */
struct redis_shell {
    struct redis_loop *owner;
    struct redis_shell *next;
    struct redis_call *call; /* NULL: nobody waits (any more) */
    bool is_settled;         /* the caller knows: its reply, a failure, or it has cancelled */
    bool is_late;            /* passed its deadline */
    enum redis_step step;
    int64_t due_mono_ms;
    uint64_t end; /* of its bytes among all that were queued on this connection */
    const struct redis_script *script; /* of EVALSHA: args is what EVAL needs then */
    size_t n_args;
    struct slice args[]; /* with their bytes behind them */
};

enum { REDIS_MAX_ADDRESSES = 4 };

struct redis_addresses {
    char text[REDIS_MAX_ADDRESSES][INET6_ADDRSTRLEN];
    size_t n;
};

struct redis_loop {
    struct loop *loop;
    struct redis_loop_options options;
    enum redis_state state;
    enum redis_health health;
    enum redis_failure why;  /* of the end that is under way */
    enum redis_failure told; /* of the last on_health */
    unsigned depth;          /* of redis_enter */
    bool is_freed;           /* by its owner */
    struct timer timer;      /* one, for what the state waits for */
    uint64_t random;
    int64_t retry_ms;                        /* the last delay before jitter; 0: none yet */
    struct redis_lookup *lookup;             /* in flight */
    struct redis_addresses addresses;        /* of the host, */
    size_t next_address;                     /* and which of them to try next */
    redisAsyncContext *context;              /* NULL: none */
    const redisReplyObjectFunctions *makers; /* hiredis' own, behind our guards */
    size_t reply_bytes;                      /* of the reply being read */
    struct watch watch;
    uint32_t watched; /* epoll events */
    bool is_writing;  /* within redisAsyncHandleWrite */
    struct loop_deferred flush;
    struct timer hold; /* of connect_ms, from the first attempt */
    struct redis_shell *held, **last_held;
    size_t n_held, held_bytes;         /* in all: they are held but once */
    struct redis_shell *first, **last; /* in flight, in the order they were sent */
    struct redis_shell *due;           /* the first of them that is not late */
    size_t n_calls;
    uint64_t n_queued; /* bytes since the connection was begun */
    unsigned misses;   /* of calls, in a row */
    unsigned silences; /* of checks, likewise */
    bool is_quiet;     /* nothing is due, and timer says when to check */
    bool is_idle;      /* nothing but a check was queued since the last write */
    atomic_uint_least64_t calls, writes, connects, failures[REDIS_FAILURE_COUNT];
};

/* redis_loop.c */
void redis_enter(struct redis_loop *r);
void redis_leave(struct redis_loop *r);
struct redis_shell *redis_shell_new(struct redis_loop *r, struct redis_call *call, size_t n_args,
                                    size_t n_bytes);
/* Queues a command for s, which goes over to the connection. REDIS_FAILURE_NONE, or why not. */
enum redis_failure redis_send(struct redis_shell *s, const struct slice *args, size_t n_args);
/* The same for a caller's command; where it cannot be sent the caller is told and s is freed. */
void redis_start(struct redis_shell *s, const struct slice *args, size_t n_args);
/* Its caller now waits. */
void redis_begin(struct redis_shell *s);
/* Tells the caller that there will be no reply, unless it knows. */
void redis_fail(struct redis_shell *s, enum redis_failure failure);
void redis_count(struct redis_loop *r, enum redis_failure failure);
/* Counts a call that ends without a reply and tells its caller; NULL: nobody waits. */
void redis_refuse(struct redis_loop *r, struct redis_call *call, enum redis_failure failure);
void redis_on_deadline(struct redis_loop *r);
/* From now on it is seen to that the server answers. */
void redis_check_later(struct redis_loop *r);

/* redis_connect.c */
void redis_connect_later(struct redis_loop *r);
void redis_on_timer(struct timer *t);
void redis_on_hold_expired(struct timer *t);
void redis_resolved(struct redis_loop *r); /* addresses is filled; n == 0: there are none */
void redis_on_step(struct redis_loop *r, enum redis_step step, const struct redis_reply *reply);
/* Ends the connection: all in flight fail for this reason before it returns, or, within a callback
 * of hiredis, soon after. */
void redis_drop(struct redis_loop *r, enum redis_failure why);
/* hiredis has begun to end it; why is left where it is known. */
void redis_note_end(struct redis_loop *r);
/* hiredis has let go of the descriptor. */
void redis_ended(struct redis_loop *r);

/* redis_hold.c */
bool redis_is_holding(const struct redis_loop *r); /* instead of sending */
/* s, with its arguments in it, goes over to what is held; where that is full its caller is told. */
void redis_hold(struct redis_shell *s);
void redis_hold_call(struct redis_loop *r, const struct slice *args, size_t n_args,
                     struct redis_call *call);
/* Sends what is held where r is up, and fails it where not. */
void redis_release(struct redis_loop *r);
void redis_hold_end(struct redis_loop *r); /* as if all were cancelled */
/* Of all together; more than REDIS_LOOP_MAX_QUEUED_BYTES: too many. */
size_t redis_args_bytes(const struct slice *args, size_t n_args);
/* The next of s->args, with its bytes at `to`; where the next goes. */
char *redis_keep_arg(struct redis_shell *s, struct slice arg, char *to);

/* redis_watch.c */
bool redis_watch_begin(struct redis_loop *r);
/* What is queued, as far as the socket takes it; not within a callback of hiredis. */
void redis_watch_write(struct redis_loop *r);
/* Reads what has come already, as long as the condition lasts: this loop may have been late itself,
 * so a deadline says nothing of what waits in the socket. */
void redis_watch_catch_up(struct redis_loop *r, bool (*wants_more)(const struct redis_loop *r));

/* redis_resolve.c */
bool redis_resolve(struct redis_loop *r); /* false: it cannot be looked up now */
void redis_resolve_cancel(struct redis_loop *r);

/* redis_reply.c */
enum { REDIS_FRAMING_BYTES = 64 }; /* of a reply around its bytes, generously */
void redis_reply_guard(struct redis_loop *r);
bool redis_reply_is_too_long(const struct redis_loop *r);
/* items: room for REDIS_LOOP_MAX_ITEMS */
void redis_reply_read(const redisReply *from, struct redis_reply *items,
                      struct redis_reply *ret_reply);

/* redis_script.c */
/* Sends EVAL for a script the server did not know, and s goes over to it. */
bool redis_script_retry(struct redis_shell *s, const struct redis_reply *reply);

#endif
