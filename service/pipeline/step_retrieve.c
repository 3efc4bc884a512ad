/* SPDX-License-Identifier: Apache-2.0 */
/* retrieve: asks the engine, over the view and nothing else. A leg that fails makes the call
 * retryable: there is no degraded answer. */
#include "service/pipeline/steps.h"

static void search(struct request *r)
{
    struct backend *b = r->gate->backend;
    b->ops->search(b, r->loop, r->view, &r->query, &r->hits, &r->retrieve_op);
}

static void fetch(struct request *r)
{
    const struct fetch_query q = {.collection = r->uri.collection,
                                  .doc_id = r->uri.doc_id,
                                  .one_chunk = r->uri.kind == RESOURCE_CHUNK,
                                  .position = r->uri.position};
    struct backend *b = r->gate->backend;
    b->ops->fetch(b, r->loop, r->view, &q, &r->hits, &r->retrieve_op);
}

enum step_result retrieve_begin(struct request *r)
{
    if (r->tool == TOOL_READ && r->uri.kind == RESOURCE_INDEX) {
        return STEP_NEXT; /* the view alone answers it */
    }
    request_await(r);
    if (r->tool == TOOL_SEARCH) {
        search(r);
    } else {
        fetch(r);
    }
    return STEP_WAIT;
}

enum step_result retrieve_finish(struct request *r)
{
    if (r->retrieve_op.result != ERR_OK) {
        r->failure = r->retrieve_op.result;
        return STEP_FAIL;
    }
    return STEP_NEXT;
}
