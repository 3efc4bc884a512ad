/* SPDX-License-Identifier: Apache-2.0 */
/* flight: of equal calls that are here at once one goes on; the others wait for its answer, free
 * like any hit. */
#include "service/pipeline/respond.h"

enum step_result flight_begin(struct request *r)
{
    request_await(r);
    flight_board(r->gate->flights, r->loop, &r->key, &r->seat, &r->boarding, &r->flight_op);
    return STEP_WAIT;
}

/* The flight before may have landed between the lookup and boarding. */
static enum step_result lead(struct request *r)
{
    r->cached = cache_get(r->gate->cache, &r->key);
    if (!r->cached) {
        return STEP_NEXT;
    }
    request_land(r, r->cached);
    return respond_cached(r);
}

enum step_result flight_finish(struct request *r)
{
    if (r->flight_op.result != ERR_OK) {
        r->failure = r->flight_op.result;
        return STEP_FAIL;
    }
    if (r->boarding.leads) {
        return lead(r);
    }
    r->cached = r->boarding.value;
    return respond_cached(r);
}
