/* SPDX-License-Identifier: Apache-2.0 */
/* answer: the bytes. A pure function of the canonical request, the filter and the version, which is
 * why they may be kept and given to the next equal call. */
#include "service/pipeline/steps.h"

static enum answer_kind kind_of(const struct request *r)
{
    if (r->tool == TOOL_SEARCH) {
        return ANSWER_SEARCH;
    }
    return r->uri.kind == RESOURCE_INDEX ? ANSWER_INDEX : ANSWER_PASSAGES;
}

static struct shape_options options_of(const struct request *r)
{
    return (struct shape_options){
        .rendering = r->in.surface == SURFACE_REST ? RENDER_REST : RENDER_MCP,
        .top_k = r->args.top_k,
        .profile = &r->gate->profile,
        .fence_key = dynbuf_get(&r->gate->fence_key),
        .index_version = r->view->index_version,
    };
}

enum step_result answer_begin(struct request *r)
{
    enum answer_kind kind = kind_of(r);
    if (kind == ANSWER_PASSAGES && r->hits->n == 0) {
        r->failure = ERR_NOT_FOUND;
        return STEP_FAIL;
    }
    const struct answer_job_start start = {
        .pool = r->gate->workers,
        .loop = r->loop,
        .kind = kind,
        .hits = r->hits,
        .ranked = r->ranked,
        .n_ranked = r->n_ranked,
        .view = r->view,
        .options = options_of(r),
    };
    r->hits = NULL; /* the job's */
    r->ranked = NULL;
    request_await(r);
    answer_job(&start, &r->answered, &r->answer_op);
    return STEP_WAIT;
}

enum step_result answer_finish(struct request *r)
{
    if (r->answer_op.result != ERR_OK) {
        r->failure = r->answer_op.result;
        return STEP_FAIL;
    }
    return STEP_NEXT;
}
