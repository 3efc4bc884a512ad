/* SPDX-License-Identifier: Apache-2.0 */
/* One script a round trip: the answer, or the lock, or neither and the timer. Whatever ends a find
 * without a reply may have got the lock nevertheless, so a release follows on the same connection,
 * where it is carried out behind. What Redis answers is a stranger's until shared_value_decode()
 * took it for ours. */
#include "cache/shared_private.h"
#include "service/base/clock.h"
#include "service/base/mem.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum { FIRST_WAIT_MS = 10, LONGEST_WAIT_MS = 100 };

struct find {
    struct redis_call call; /* first: found by its op */
    struct timer timer;
    struct shared_cache *cache;
    struct loop *loop;
    struct cache_key key;
    struct shared_spot spot;
    char token[SHARED_TOKEN_CHARS + 1];
    uint64_t random;
    int64_t wait_ms; /* 0: it has not waited yet */
    int64_t give_up_mono_ms;
    struct shared_claim *ret_claim;
    const struct cache_value **ret_value;
    struct op *op;
};

static void find_end(struct find *f, const struct cache_value *value)
{
    struct op *op = f->op;
    *f->ret_value = value;
    free(f);
    op_done(op, ERR_OK);
}

static void find_detach(void *work)
{
    struct find *f = work;
    timer_stop(&f->timer);
    if (f->call.op.active) {
        op_cancel(&f->call.op);
        shared_release(f->cache, &f->spot, f->token);
    }
    free(f);
}

static void find_ask(struct find *f)
{
    struct shared_cache *c = f->cache;
    const struct slice keys[] = {shared_spot_value(&f->spot), shared_spot_lock(&f->spot)};
    const struct slice args[] = {
        {f->token, SHARED_TOKEN_CHARS}, slice_of(c->lock_text), slice_of(c->max_text)};
    redis_loop_eval(f->spot.redis, &c->find, keys, 2, args, 3, &f->call); /* f may be gone */
}

static void on_wait_over(struct timer *t)
{
    find_ask((struct find *)((char *)t - offsetof(struct find, timer)));
}

/* Between three and five quarters of the wait, so that waiters do not ask all at once (the
 * multiplier is Knuth's of MMIX). */
static int64_t with_jitter(struct find *f)
{
    f->random = f->random * 6364136223846793005u + 1442695040888963407u;
    return f->wait_ms * 3 / 4 + (int64_t)((f->random >> 33) % (uint64_t)(f->wait_ms / 2 + 1));
}

static void find_wait(struct find *f)
{
    int64_t now_ms = clock_mono_ms();
    if (!f->wait_ms) {
        f->wait_ms = FIRST_WAIT_MS;
        f->give_up_mono_ms = now_ms + f->cache->lock_ms;
        f->cache->counters.waited++;
    }
    int64_t left_ms = f->give_up_mono_ms - now_ms, wait_ms = with_jitter(f);
    if (left_ms <= 0) {
        f->cache->counters.misses++;
        find_end(f, NULL);
        return;
    }
    timer_start(f->loop, &f->timer, wait_ms < left_ms ? wait_ms : left_ms);
    f->wait_ms = f->wait_ms * 2 < LONGEST_WAIT_MS ? f->wait_ms * 2 : LONGEST_WAIT_MS;
}

static void find_read(struct find *f, struct slice stored)
{
    struct shared_cache *c = f->cache;
    const struct cache_value *value = shared_value_decode(c->hmac_key, &f->key, stored);
    if (value) {
        c->counters.hits++;
    } else {
        c->counters.rejected++;
        c->counters.misses++;
        f->ret_claim->overwrite = true;
    }
    find_end(f, value);
}

static void find_unavailable(struct find *f)
{
    f->cache->counters.unavailable++;
    find_end(f, NULL);
}

static void find_lead(struct find *f)
{
    f->ret_claim->held = true;
    memcpy(f->ret_claim->token, f->token, sizeof(f->token));
    f->cache->counters.misses++;
    find_end(f, NULL);
}

static void on_found(struct op *op)
{
    struct find *f = (struct find *)op;
    const struct redis_reply *reply = f->call.reply;
    if (op->result != ERR_OK) {
        shared_release(f->cache, &f->spot, f->token);
        find_unavailable(f);
    } else if (reply->kind == REDIS_TEXT) {
        find_read(f, reply->text);
    } else if (reply->kind == REDIS_INTEGER && reply->integer == 1) {
        shared_note_written(f->cache);
        find_lead(f);
    } else if (reply->kind == REDIS_INTEGER && reply->integer == 0) {
        find_wait(f);
    } else {
        shared_note_error(f->cache, reply->text);
        find_unavailable(f);
    }
}

/* Of a lock a token says whose it is: no two are alike, and nobody has to be kept from guessing
 * one, who could as well delete the lock. So they are counted: a hit needs one too, and drawing it
 * would be one more system call. */
static void make_token(struct shared_cache *c, char ret_token[SHARED_TOKEN_CHARS + 1],
                       uint64_t *ret_random)
{
    uint64_t number = atomic_fetch_add(&c->tokens, 1);
    (void)snprintf(ret_token, SHARED_TOKEN_CHARS + 1, "%016" PRIx64 "%016" PRIx64, c->token_seed,
                   number);
    *ret_random = c->token_seed + number;
}

void shared_cache_find(struct shared_cache *c, const struct shared_place *place,
                       struct shared_claim *ret_claim, const struct cache_value **ret_value,
                       struct op *op)
{
    struct find *f = mem_alloc(sizeof(*f));
    f->call.op.on_done = on_found;
    f->timer.on_expired = on_wait_over;
    f->cache = c;
    f->loop = place->loop;
    f->key = *place->key;
    shared_spot_init(c, place, &f->spot);
    make_token(c, f->token, &f->random);
    f->ret_claim = ret_claim;
    f->ret_value = ret_value;
    f->op = op;
    *ret_claim = (struct shared_claim){0};
    *ret_value = NULL;
    op_start(op, find_detach, f);
    find_ask(f);
}
