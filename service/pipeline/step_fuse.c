/* SPDX-License-Identifier: Apache-2.0 */
/* fuse: the legs' ranked lists to one, by rank alone, so that no engine's scale matters. */
#include "service/pipeline/steps.h"

enum step_result fuse_begin(struct request *r)
{
    if (r->tool == TOOL_SEARCH) {
        const struct leg legs[] = {{r->hits, r->gate->profile.lexical_weight}};
        r->ranked = fuse_legs(legs, sizeof(legs) / sizeof(legs[0]), &r->gate->profile, &r->arena,
                              &r->n_ranked);
    }
    return STEP_NEXT;
}
