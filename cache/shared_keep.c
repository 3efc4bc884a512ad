/* SPDX-License-Identifier: Apache-2.0 */
/* The answer and the release of the lock leave in one write, the answer first: who finds the lock
 * gone finds the answer. */
#include "cache/shared_private.h"
#include "service/base/mem.h"

#include <stdlib.h>

struct keep {
    struct redis_call call; /* first: found by its op */
    struct shared_cache *cache;
    struct shared_spot spot;
    const struct cache_value *value;
    const struct cache_value **ret_value;
    struct op *op;
};

static void keep_end(struct keep *k, const struct cache_value *kept)
{
    struct op *op = k->op;
    *k->ret_value = kept ? kept : cache_value_ref(k->value);
    cache_release(k->value);
    free(k);
    op_done(op, ERR_OK);
}

/* What was sent goes on. */
static void keep_detach(void *work)
{
    struct keep *k = work;
    op_cancel(&k->call.op);
    cache_release(k->value);
    free(k);
}

static void keep_overwrite(struct keep *k)
{
    struct dynbuf bytes;
    dynbuf_init(&bytes, SHARED_VALUE_MAX_BYTES);
    if (shared_value_encode(k->cache->hmac_key, k->value, &bytes)) {
        const struct slice args[] = {SLICE_LIT("SET"), shared_spot_value(&k->spot),
                                     dynbuf_get(&bytes), SLICE_LIT("PX"),
                                     slice_of(k->cache->ttl_text)};
        redis_loop_send(k->spot.redis, args, sizeof(args) / sizeof(args[0]));
    }
    dynbuf_done(&bytes);
}

static const struct cache_value *keep_read(struct keep *k, struct slice stored)
{
    const struct cache_value *first =
        shared_value_decode(k->cache->hmac_key, &k->value->key, stored);
    if (!first) {
        k->cache->counters.rejected++;
        keep_overwrite(k);
    }
    return first;
}

static void on_kept(struct op *op)
{
    struct keep *k = (struct keep *)op;
    const struct redis_reply *reply = k->call.reply;
    const struct cache_value *first = NULL;
    if (op->result == ERR_OK && reply->kind == REDIS_TEXT) {
        first = keep_read(k, reply->text);
    } else if (op->result == ERR_OK && reply->kind == REDIS_ERROR &&
               slice_starts(reply->text, SLICE_LIT("WRONGTYPE"))) {
        first = keep_read(k, SLICE_NONE);
    } else if (op->result != ERR_OK) {
        k->cache->counters.unavailable++;
    } else if (reply->kind == REDIS_ERROR) {
        k->cache->counters.unavailable++;
        shared_note_error(k->cache, reply->text);
    } else {
        shared_note_written(k->cache);
    }
    keep_end(k, first);
}

static void keep_send(struct keep *k, struct slice bytes, bool overwrite)
{
    struct slice args[7] = {SLICE_LIT("SET"), shared_spot_value(&k->spot), bytes, SLICE_LIT("PX"),
                            slice_of(k->cache->ttl_text)};
    size_t n_args = 5;
    if (!overwrite) {
        args[n_args++] = SLICE_LIT("NX");
        args[n_args++] = SLICE_LIT("GET");
    }
    redis_loop_call(k->spot.redis, args, n_args, &k->call); /* k may be gone */
}

void shared_cache_keep(struct shared_cache *c, const struct shared_place *place,
                       const struct shared_claim *claim, const struct cache_value *value,
                       const struct cache_value **ret_value, struct op *op)
{
    struct keep *k = mem_alloc(sizeof(*k));
    struct dynbuf bytes;
    k->call.op.on_done = on_kept;
    k->cache = c;
    k->value = cache_value_ref(value);
    k->ret_value = ret_value;
    k->op = op;
    shared_spot_init(c, place, &k->spot);
    *ret_value = NULL;
    op_start(op, keep_detach, k);
    /* for the release: when the SET was tried, everything borrowed may be gone */
    struct shared_spot spot = k->spot;
    struct shared_claim right = *claim;
    dynbuf_init(&bytes, SHARED_VALUE_MAX_BYTES);
    if (shared_value_encode(c->hmac_key, value, &bytes)) {
        keep_send(k, dynbuf_get(&bytes), claim->overwrite);
    } else {
        c->counters.too_large++;
        keep_end(k, NULL);
    }
    dynbuf_done(&bytes);
    if (right.held) {
        shared_release(c, &spot, right.token);
    }
}
