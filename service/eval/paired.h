/* SPDX-License-Identifier: Apache-2.0 */
/* paired: two systems over the same queries, query by query.
 *
 * Sets are small and queries differ more than systems do, so the difference of two means says
 * little; the interval of the differences says whether there is one. */
#ifndef EVAL_PAIRED_H
#define EVAL_PAIRED_H

#include "service/base/err.h"
#include "service/eval/evaluation.h"

struct paired {
    size_t n;                   /* queries */
    struct measures difference; /* mean of (this - the other) */
    struct interval intervals[N_MEASURES];
};

/* `bytes`: what eval retrieval --per-query wrote of the other system. It has to hold every judged
 * query that was asked here, with every measure. False with file, line and reason. */
bool paired_compare(const struct evaluation *e, const char *path, struct slice bytes,
                    struct paired *ret_paired, struct err_detail *detail);

#endif
