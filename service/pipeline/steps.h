/* SPDX-License-Identifier: Apache-2.0 */
/* steps: the gauntlet. The table STEPS in runner.c is its order; each step is one file.
 *
 * begin starts operations (request_await before each) and returns STEP_WAIT, or decides at once.
 * finish runs once, when no operation is pending. */
#ifndef PIPELINE_STEPS_H
#define PIPELINE_STEPS_H

#include "service/pipeline/state.h"

enum step_result {
    STEP_NEXT,
    STEP_WAIT,    /* operations are in flight; finish decides */
    STEP_RESPOND, /* r->reply is filled: send it */
    STEP_FAIL,    /* r->failure says why; the runner words the answer for the caller's surface */
};

typedef enum step_result (*step_fn)(struct request *r);

enum step_result token_begin(struct request *r);
enum step_result token_finish(struct request *r);
enum step_result call_begin(struct request *r);
enum step_result scope_begin(struct request *r);
enum step_result arguments_begin(struct request *r);
enum step_result direct_begin(struct request *r);
enum step_result cache_begin(struct request *r);
enum step_result flight_begin(struct request *r);
enum step_result flight_finish(struct request *r);
enum step_result shared_begin(struct request *r);
enum step_result shared_finish(struct request *r);
enum step_result budget_begin(struct request *r);
enum step_result budget_finish(struct request *r);
enum step_result retrieve_begin(struct request *r);
enum step_result retrieve_finish(struct request *r);
enum step_result recheck_begin(struct request *r);
enum step_result abstain_begin(struct request *r);
enum step_result fuse_begin(struct request *r);
enum step_result answer_begin(struct request *r);
enum step_result answer_finish(struct request *r);
enum step_result keep_begin(struct request *r);
enum step_result keep_finish(struct request *r);

/* One more operation this request waits for: call it before starting that. */
void request_await(struct request *r);

/* The names of the steps in order; returns how many. */
size_t steps_names(const char **ret_names, size_t room);

#endif
