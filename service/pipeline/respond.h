/* SPDX-License-Identifier: Apache-2.0 */
/* respond: words every answer for the surface the call came by. The only place that fills r->reply.
 */
#ifndef PIPELINE_RESPOND_H
#define PIPELINE_RESPOND_H

#include "service/pipeline/steps.h"

/* A JSON body with this HTTP status; the body is r->body. */
enum step_result respond_json(struct request *r, int status, enum metrics_outcome outcome);

/* No body. */
enum step_result respond_empty(struct request *r, int status, enum metrics_outcome outcome);

/* 400, 401 or 403 with its challenge; on stdio a JSON-RPC error. */
enum step_result respond_challenge(struct request *r, enum challenge c);

/* What is refused before the body is looked at: JSON-RPC error -32600 without an id; on /v1/search
 * {"error":message}. */
enum step_result respond_refusal(struct request *r, int status, const char *message);

/* The outcome in r->answer (from the engine or from the cache). */
enum step_result respond_outcome(struct request *r, struct slice answer, bool is_empty);

/* r->cached: what somebody was answered before. */
enum step_result respond_cached(struct request *r);

/* invalid_input as r->arg_error says. */
enum step_result respond_invalid(struct request *r);

/* r->failure, by its kind. */
enum step_result respond_failure(struct request *r);

#endif
