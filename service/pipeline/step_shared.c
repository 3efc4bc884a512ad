/* SPDX-License-Identifier: Apache-2.0 */
/* shared: the answer another replica gave, or is about to give, is a hit too; else the right to
 * work it out, so that one replica does. Without Redis every replica has that right. */
#include "service/pipeline/respond.h"

enum step_result shared_begin(struct request *r)
{
    if (!r->gate->redis) {
        return STEP_NEXT;
    }
    r->place = (struct shared_place){.redis = r->gate_loop->cache.redis,
                                     .loop = r->loop,
                                     .tenant = r->claims.tenant,
                                     .key = &r->key};
    request_await(r);
    shared_cache_find(gate_redis_cache(r->gate->redis), &r->place, &r->claim, &r->cached,
                      &r->shared_op);
    return STEP_WAIT;
}

enum step_result shared_finish(struct request *r)
{
    if (!r->cached) {
        return STEP_NEXT;
    }
    const struct cache_value *found = r->cached;
    r->cached = cache_put(r->gate->cache, found);
    cache_release(found);
    request_land(r, r->cached);
    return respond_cached(r);
}
