/* SPDX-License-Identifier: Apache-2.0 */
/* abstain: passages that only share words with the question are worse than none, for a model takes
 * what it is given. A read asks for a passage by name and is never judged. */
#include "service/pipeline/steps.h"
#include "service/retrieval/abstain.h"

enum step_result abstain_begin(struct request *r)
{
    if (r->tool == TOOL_SEARCH && abstain(r->hits, &r->gate->profile)) {
        r->hits->n = 0;
    }
    return STEP_NEXT;
}
