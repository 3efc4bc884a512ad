/* SPDX-License-Identifier: Apache-2.0 */
/* recheck: every hit, and every place a text stands in too, against the filter once more. An engine
 * that returned a foreign document has a fault nobody can reason about, so the whole answer is
 * dropped. */
#include "service/base/log.h"
#include "service/pipeline/steps.h"

static bool permits(const struct request *r, const struct hit *h)
{
    for (size_t i = 0; i < h->n_also; i++) {
        if (!filter_permits(r->filter, &h->also[i].scope)) {
            return false;
        }
    }
    return filter_permits(r->filter, &h->scope);
}

enum step_result recheck_begin(struct request *r)
{
    for (size_t i = 0; r->hits && i < r->hits->n; i++) {
        if (!permits(r, &r->hits->items[i])) {
            atomic_fetch_add(&r->gate->metrics.scope_violations, 1);
            r->failure = ERR_SCOPE_VIOLATION;
            return STEP_FAIL;
        }
    }
    return STEP_NEXT;
}
