/* SPDX-License-Identifier: Apache-2.0 */
/* records: queries, corpora and texts to scan: one JSON object a line with `id` and `text`.
 *
 * Members that are not named below are not looked at. */
#ifndef EVAL_RECORDS_H
#define EVAL_RECORDS_H

#include "service/base/arena.h"
#include "service/base/err.h"

#include <stdint.h>

enum { RECORDS_MAX = 2000000 };

struct eval_record {
    struct slice id, text;
    struct slice title, category, difficulty, group; /* SLICE_NONE where absent */
    uint64_t line;
};

/* Calls on_record for each line that is not blank; record is NULL for a broken one, with the
 * reason. What the record points to is in `arena`. */
void records_each(struct slice bytes, struct arena *arena,
                  void (*on_record)(void *arg, uint64_t line, const struct eval_record *record,
                                    const char *reason),
                  void *arg);

struct records {
    struct arena arena;
    struct eval_record *items;
    size_t n, cap;
};

/* Reads a file in which every line has to be right, every id its own, and at least one record is.
 * False with a reason that names the file and the line. */
bool records_read(const char *path, struct slice bytes, struct records *ret_records,
                  struct err_detail *detail);
void records_done(struct records *r);

#endif
