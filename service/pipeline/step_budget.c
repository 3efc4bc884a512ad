/* SPDX-License-Identifier: Apache-2.0 */
/* budget: work is paid for before it is done, once for the same call, and given back if it fails.
 */
#include "service/pipeline/steps.h"

enum step_result budget_begin(struct request *r)
{
    struct budget_charge charge = request_charge(r);
    request_await(r);
    budget_take(r->gate->budget, r->gate_loop->budget.redis, &charge, &r->verdict, &r->budget_op);
    return STEP_WAIT;
}

enum step_result budget_finish(struct request *r)
{
    if (r->budget_op.result != ERR_OK) {
        r->failure = r->budget_op.result;
        return STEP_FAIL;
    }
    if (r->verdict.charged) {
        atomic_fetch_add(&r->gate->metrics.charged, 1);
    }
    return STEP_NEXT;
}
