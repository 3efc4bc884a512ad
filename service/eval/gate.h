/* SPDX-License-Identifier: Apache-2.0 */
/* gate: whether figures hold against a baseline.
 *
 * A baseline is a report of `eval retrieval --json`, perhaps with a `tolerance`, or any JSON object
 * with members of these names (all optional but one measure):
 *   "ndcg_cut_10": 0.7, …     the measures, at the top or within "measures"
 *   "tolerance": 0.005        how far below its baseline a measure may be; or an object by measure
 *   "set": {"checksum": "…", "documents": 1400}  of the files, and how many documents the store
 *                             holds: with them, figures of another corpus are not compared
 *   "as_served", "depth", "source"  how they were measured
 * Further members of the report are passed over; any other is refused as a slip of the pen. */
#ifndef EVAL_GATE_H
#define EVAL_GATE_H

#include "service/base/err.h"
#include "service/eval/measures.h"

#include <jansson.h>

#define GATE_TOLERANCE_DEFAULT 0.005

/* What was measured now. */
struct gate_figures {
    const struct measures *measures;
    const char *checksum, *source;
    bool as_served;
    int64_t depth;
    int64_t n_documents; /* of the store; -1: not known */
};

struct gate_result {
    size_t n_checked, n_failed;
};

/* Calls on_check for each measure of the baseline, in the order of MEASURE_TABLE; values are
 * millionths. False with a reason where the baseline cannot be used or is of something else. */
bool gate_check(const json_t *baseline, const struct gate_figures *figures,
                void (*on_check)(void *arg, enum measure m, int64_t wanted, int64_t tolerance,
                                 int64_t found),
                void *arg, struct gate_result *ret_result, struct err_detail *detail);

#endif
