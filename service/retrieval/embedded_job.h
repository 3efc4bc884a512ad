/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_job: a search or fetch on the worker pool.
 *
 * A job lives apart from the op that waits for it: cancelling cuts the tie and asks the worker to
 * stop soon; the job is freed when it comes back to its loop.
 * Thread: the loop's. Blocking: never. Result: ERR_BUSY where the queue is full. */
#ifndef RETRIEVAL_EMBEDDED_JOB_H
#define RETRIEVAL_EMBEDDED_JOB_H

#include "service/loop/worker.h"
#include "service/retrieval/embedded_view.h"

struct embedded_job_start {
    struct worker_pool *pool;
    struct loop *loop;
    struct view *view; /* the job takes its own reference */
    struct embedded_reader (*reader)(void *arg, unsigned worker, atomic_bool *cancelled);
    void *arg; /* outlives the job */
};

void embedded_job_search(const struct embedded_job_start *start, const struct search_query *q,
                         struct hits **ret_hits, struct op *op);
void embedded_job_fetch(const struct embedded_job_start *start, const struct fetch_query *q,
                        struct hits **ret_hits, struct op *op);

#endif
