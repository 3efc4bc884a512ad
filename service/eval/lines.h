/* SPDX-License-Identifier: Apache-2.0 */
/* lines: the files of a test set, line by line, with a place for every mistake.
 *
 * Blocking. Every size is bounded: a set is chosen by whoever runs the command, but a wrong path is
 * easily given. */
#ifndef EVAL_LINES_H
#define EVAL_LINES_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"

enum {
    EVAL_FILE_MAX_BYTES = 512 * 1024 * 1024,
    EVAL_LINE_MAX_BYTES = 16 * 1024 * 1024,
    EVAL_ID_MAX_BYTES = 512,
};

/* Reads a whole file into `out` (initialised here; the caller's to free either way). */
bool eval_file_read(const char *path, struct dynbuf *out, struct err_detail *detail);

/* The next line of *rest, which loses it, without its line end. */
struct slice line_next(struct slice *rest);

/* Whether a line may be read: valid UTF-8 of at most EVAL_LINE_MAX_BYTES without NUL. The reason is
 * a literal; NULL where there is none. */
const char *line_fault(struct slice line);

/* "PATH:LINE: reason". Returns false, for `return line_refuse(…)`. */
bool line_refuse(struct err_detail *detail, const char *path, uint64_t line, const char *reason);

#endif
