/* SPDX-License-Identifier: Apache-2.0 */
/* scan_figures: how well a scanner tells texts that give orders from texts that do not. Pure. */
#ifndef EVAL_SCAN_FIGURES_H
#define EVAL_SCAN_FIGURES_H

#include "service/base/err.h"
#include "service/base/json_write.h"
#include "service/eval/id_map.h"
#include "service/eval/records.h"

#include <jansson.h>

/* Texts, and how many of them were marked. */
struct scan_tally {
    uint64_t n, flagged;
};

/* Tallies by category and difficulty, of one file. */
struct scan_class {
    struct scan_tally all;
    struct scan_cell {
        uint32_t category, difficulty;
        struct scan_tally tally;
    } * cells;
    size_t n_cells, cap;
    struct id_map categories, difficulties; /* in the order they came; "" where a text has none */
};

/* Names are borrowed from the record. */
void scan_class_add(struct scan_class *c, const struct eval_record *record, bool flagged);
void scan_class_done(struct scan_class *c);

/* The texts of one category, or of one difficulty, by its number. */
struct scan_tally scan_class_sum(const struct scan_class *c, bool by_category, uint32_t number);

struct scan_figures {
    struct scan_class positives, benign;
};

/* Fractions; 0 where nothing can be divided. */
double scan_precision(const struct scan_figures *f);
double scan_recall(const struct scan_figures *f);
double scan_f1(const struct scan_figures *f);
double scan_fpr(const struct scan_figures *f);
double scan_share(struct scan_tally t);

/* The members true_positives … fpr, recall_by_category, recall_by_difficulty and fpr_by_category of
 * an object that the caller begins and ends. */
void scan_figures_json(struct json_writer *w, const struct scan_figures *f);

/* Which half of a set a text belongs to, so that its variants are in one: the first hexadecimal
 * digit of SHA-256 over its group (its id where it has none). */
enum scan_half { SCAN_WHOLE, SCAN_LOWER, SCAN_UPPER };
bool scan_half_parse(const char *text, enum scan_half *ret_half); /* "0-7" or "8-f" */
bool scan_half_has(enum scan_half half, const struct eval_record *record);

/* Called for each bound; rule is how the gate's file puts it, found in millionths. */
typedef void scan_gate_check(void *arg, const char *figure, struct slice rule, int64_t found,
                             bool holds);

/* Checks the bounds of a gate: members recall, fpr, precision and f1, each a list of
 *   {"at_least": 0.6, "at_most": 1, "category": ["a", "b*"], "difficulty": ["medium", "mixed"]}
 * with one bound at least; category and difficulty (for recall and fpr) choose the texts that are
 * counted together, a * at the end stands for any rest. Members set and half are the caller's, note
 * is anybody's. False with a reason: the gate cannot be used, or chooses no text. */
bool scan_gate(const json_t *gate, const struct scan_figures *f, scan_gate_check *on_check,
               void *arg, uint64_t *ret_failed, struct err_detail *detail);

#endif
