/* SPDX-License-Identifier: Apache-2.0 */
/* answer_job: writes an answer's bytes on a worker, since neutralising and fencing twenty passages
 * takes milliseconds that a loop does not have.
 *
 * Thread:    the loop's own.      Blocking: never, but without a pool, where the caller writes.
 * Ownership: the job takes the hits and borrows the pool, profile and fence key, which outlive it.
 * Failure:   ERR_BUSY (queue full), ERR_INTERNAL (an answer larger than any may be). */
#ifndef PIPELINE_ANSWER_JOB_H
#define PIPELINE_ANSWER_JOB_H

#include "service/base/op.h"
#include "service/loop/worker.h"
#include "service/retrieval/shape.h"

#include <stdatomic.h>

enum answer_kind { ANSWER_SEARCH, ANSWER_PASSAGES, ANSWER_INDEX };

struct answer_job_start {
    struct worker_pool *pool; /* NULL: at once */
    struct loop *loop;
    enum answer_kind kind;
    struct hits *hits;           /* taken, whatever the result; NULL for ANSWER_INDEX */
    const struct ranked *ranked; /* ANSWER_SEARCH: pointing into hits, copied */
    size_t n_ranked;
    struct view *view;
    struct shape_options options; /* index_version: the view's */
};

/* Both are filled before op's on_done, on ERR_OK only; then the caller's (dynbuf_done). */
struct answer_bytes {
    struct dynbuf answer; /* the JSON of the outcome, or a resource's text */
    struct dynbuf note;   /* for the audit: returned chunk ids, a JSON array; may have failed */
};

void answer_job(const struct answer_job_start *start, struct answer_bytes *ret_bytes,
                struct op *op);

#endif
