/* SPDX-License-Identifier: Apache-2.0 */
/* scope: freezes what the caller may see of the newest version. Every later step reads through this
 * view and has no other way to the store. */
#include "service/pipeline/steps.h"

enum step_result scope_begin(struct request *r)
{
    r->view = r->gate->backend->ops->open_view(r->gate->backend, r->filter);
    return STEP_NEXT;
}
