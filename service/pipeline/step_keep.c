/* SPDX-License-Identifier: Apache-2.0 */
/* keep: the answer is stored, and everybody who waits for it, here and on other replicas, gets the
 * same bytes: those of the first writer. */
#include "service/pipeline/respond.h"

enum step_result keep_begin(struct request *r)
{
    bool is_empty = r->tool == TOOL_SEARCH && r->n_ranked == 0;
    struct slice note = r->answered.note.failed ? SLICE_NONE : dynbuf_get(&r->answered.note);
    r->made = cache_value_new(&r->key, dynbuf_get(&r->answered.answer), note, is_empty);
    if (!r->gate->redis) {
        r->kept = cache_value_ref(r->made);
        return keep_finish(r);
    }
    request_await(r);
    shared_cache_keep(gate_redis_cache(r->gate->redis), &r->place, &r->claim, r->made, &r->kept,
                      &r->keep_op);
    return STEP_WAIT;
}

enum step_result keep_finish(struct request *r)
{
    const struct cache_value *first = r->kept;
    r->claim.held = false; /* given up with the answer */
    r->kept = cache_put(r->gate->cache, first);
    cache_release(first);
    request_land(r, r->kept);
    r->note = r->kept->note;
    return respond_outcome(r, r->kept->body, r->kept->is_empty_outcome);
}
