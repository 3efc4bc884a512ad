/* SPDX-License-Identifier: Apache-2.0 */
/* output: fractions in decimal whatever the locale, TREC run lines, and files that are written
 * whole or not at all. */
#ifndef EVAL_OUTPUT_H
#define EVAL_OUTPUT_H

#include "service/base/err.h"
#include "service/base/json_write.h"
#include "service/eval/evaluation.h"

/* To the nearest millionth. A gate compares these: what a file says is what counts. */
int64_t millionths(double value);

/* "-0.123456", or fewer digits, rounded again. 1 <= digits <= 6. */
void fraction_add(struct dynbuf *out, int64_t value_millionths, int digits);
void json_member_fraction(struct json_writer *w, const char *key, double value);

/* "QUERY Q0 DOC RANK SCORE kbgate" for each document. Scores fall by one, so that a reader that
 * orders by score finds the order that was evaluated. White space within an id is written %20. */
void run_add(struct dynbuf *out, struct slice query, const struct ranking *ranking);

/* Writes `path` through a file beside it that takes its name when complete; "-" is standard
 * output. */
bool output_write(const char *path, struct slice bytes, struct err_detail *detail);

#endif
