/* SPDX-License-Identifier: Apache-2.0 */
/* hiredis 0.14 trusts its server: it allocates whatever an array announces, ends the process for a
 * reply nobody asked for, and buffers a string of any length. So we stand before the functions that
 * make its reply objects, and refuse what no command of ours is answered with; hiredis takes that
 * for a lack of memory and ends the connection. It knows no RESP3 and refuses its types itself. */
#include "service/loop/redis_private.h"

#include <hiredis/sds.h>

enum {
    KEPT_BYTES = 64 * 1024
}; /* of the buffer between replies: an answer is larger than hiredis' 16 KiB */

/* Only to a command that has left. While we connect an error may come sooner: a server that is full
 * says so at once, and the handshake takes that for its answer. */
static bool is_asked_for(const struct redis_loop *r, const redisReadTask *task)
{
    const struct redis_shell *s = r->first;
    if (!s) {
        return false;
    }
    bool has_left = s->end <= r->n_queued - sdslen(r->context->c.obuf);
    return has_left || (r->state == REDIS_CONNECTING && task->type == REDIS_REPLY_ERROR);
}

/* Whether n more bytes may be added to the reply that is being read. */
static bool may_add(const redisReadTask *task, size_t n)
{
    struct redis_loop *r = task->privdata;
    if (!task->parent) {
        r->reply_bytes = 0;
        if (!is_asked_for(r, task)) {
            return false;
        }
    }
    if (n > REDIS_LOOP_MAX_REPLY_BYTES - r->reply_bytes) {
        return false;
    }
    r->reply_bytes += n;
    return true;
}

static const redisReplyObjectFunctions *makers(const redisReadTask *task)
{
    return ((const struct redis_loop *)task->privdata)->makers;
}

static void *make_string(const redisReadTask *task, char *p, size_t n)
{
    return may_add(task, n) ? makers(task)->createString(task, p, n) : NULL;
}

static void *make_array(const redisReadTask *task, int n)
{
    bool fits = !task->parent && n <= REDIS_LOOP_MAX_ITEMS;
    return fits && may_add(task, 0) ? makers(task)->createArray(task, n) : NULL;
}

static void *make_integer(const redisReadTask *task, long long value)
{
    return may_add(task, 0) ? makers(task)->createInteger(task, value) : NULL;
}

static void *make_nil(const redisReadTask *task)
{
    return may_add(task, 0) ? makers(task)->createNil(task) : NULL;
}

void redis_reply_guard(struct redis_loop *r)
{
    static redisReplyObjectFunctions guards = {make_string, make_array, make_integer, make_nil,
                                               freeReplyObject};
    redisReader *reader = r->context->c.reader;
    r->makers = reader->fn;
    reader->fn = &guards;
    reader->privdata = r;
    reader->maxbuf = KEPT_BYTES;
}

/* A string that has not come to its end yet, announced or not: of one that is within the limit at
 * most its bytes and its framing are unread. */
bool redis_reply_is_too_long(const struct redis_loop *r)
{
    const redisReader *reader = r->context->c.reader;
    return reader->len - reader->pos > REDIS_LOOP_MAX_REPLY_BYTES + REDIS_FRAMING_BYTES;
}

static void read_one(const redisReply *from, struct redis_reply *ret_reply)
{
    static const enum redis_kind KINDS[] = {
        [REDIS_REPLY_STRING] = REDIS_TEXT,     [REDIS_REPLY_ARRAY] = REDIS_LIST,
        [REDIS_REPLY_INTEGER] = REDIS_INTEGER, [REDIS_REPLY_NIL] = REDIS_NIL,
        [REDIS_REPLY_STATUS] = REDIS_STATUS,   [REDIS_REPLY_ERROR] = REDIS_ERROR,
    };
    *ret_reply = (struct redis_reply){.kind = KINDS[from->type]};
    if (from->str) {
        ret_reply->text = (struct slice){from->str, from->len};
    } else if (from->type == REDIS_REPLY_INTEGER) {
        ret_reply->integer = from->integer;
    }
}

void redis_reply_read(const redisReply *from, struct redis_reply *items,
                      struct redis_reply *ret_reply)
{
    read_one(from, ret_reply);
    if (from->type == REDIS_REPLY_ARRAY) {
        ret_reply->items = items;
        ret_reply->n_items = from->elements;
        for (size_t i = 0; i < from->elements; i++) {
            read_one(from->element[i], &items[i]);
        }
    }
}

struct slice redis_error_code(struct slice error)
{
    size_t n = 0;
    while (n < error.n && error.p[n] > ' ' && error.p[n] <= '~') {
        n++;
    }
    return (struct slice){error.p, n};
}
