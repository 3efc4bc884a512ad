/* SPDX-License-Identifier: Apache-2.0 */
/* metrics: counters of one gate in Prometheus' text format. Thread: any. Blocking: never.
 *
 * Labels come from fixed lists and the configuration alone: no subject, query or path is one. */
#ifndef PIPELINE_METRICS_H
#define PIPELINE_METRICS_H

#include "auth/token.h"
#include "service/base/err.h"

#include <stdatomic.h>

enum { METRICS_MAX_STEPS = 16, METRICS_ERRS = ERR_NOT_FOUND + 1 };

enum metrics_outcome {
    OUTCOME_OK,
    OUTCOME_EMPTY,
    OUTCOME_INVALID_INPUT,
    OUTCOME_RETRYABLE,
    OUTCOME_PERMANENT,
    OUTCOME_PROTOCOL, /* answered by the protocol alone: lists, JSON-RPC errors, notifications */
    OUTCOME_UNAUTHORISED,
    OUTCOME_CLIENT_GONE,
    OUTCOME_COUNT
};
const char *metrics_outcome_name(enum metrics_outcome outcome);

enum metrics_tool { TOOL_NONE, TOOL_SEARCH, TOOL_READ, TOOL_COUNT };
const char *metrics_tool_name(enum metrics_tool tool);

struct metrics {
    atomic_ullong requests[TOOL_COUNT][OUTCOME_COUNT];
    atomic_ullong failures[METRICS_ERRS];
    atomic_ullong tokens_refused[TOKEN_RESULT_COUNT];
    atomic_ullong step_count[METRICS_MAX_STEPS], step_us[METRICS_MAX_STEPS];
    atomic_ullong cache_hits, cache_misses, charged, refunded, scope_violations;
    atomic_ullong config_reloads, config_reload_failures;
    atomic_ullong policy_reloads, policy_reload_failures, store_switches, store_failures;
    atomic_long in_flight;
};

/* Appends everything; step_names[i] names step i. */
void metrics_write(struct metrics *m, const char *const *step_names, size_t n_steps,
                   struct dynbuf *out);

/* "# TYPE name type". */
void metrics_add_type(struct dynbuf *out, const char *name, const char *type);

/* label="value" with any value; before: '{' for the first of a sample, else ','. */
void metrics_add_label(struct dynbuf *out, char before, const char *label, struct slice value);

/* "} value". */
void metrics_end_sample(struct dynbuf *out, int64_t value);

/* One sample without labels: "# TYPE name type" and its value. */
void metrics_write_one(struct dynbuf *out, const char *name, const char *type, int64_t value);

#endif
