/* SPDX-License-Identifier: Apache-2.0 */
/* eval_files: what a sub-command of `kbgate eval` reads and writes, so that nothing it writes
 * costs a set or a held-out result. */
#ifndef CLI_EVAL_FILES_H
#define CLI_EVAL_FILES_H

#include "service/base/err.h"
#include "service/cli/options.h"

#include <stdbool.h>
#include <stddef.h>

struct eval_file {
    const char *option; /* "--json" */
    const char *path;   /* NULL: not given; "-": standard output */
    enum eval_file_use {
        EVAL_FILE_READ,
        EVAL_FILE_WRITTEN,
        EVAL_FILE_RECORDED, /* written once: a held-out result */
    } use;
};

/* Whether no output is an input or another output, by whatever path. What is no regular file
 * cannot be overwritten and is passed over. False names both options. */
bool eval_files_apart(const struct eval_file *files, size_t n, struct err_detail *detail);

/* As eval_files_apart, and whether the outputs may be written: without `force` nothing overwrites a
 * held-out result, and a held-out result overwrites nothing. -1 to go on, else the exit code; what
 * is wrong was said. */
int eval_files_check(const struct command *c, const struct eval_file *files, size_t n, bool force);

#endif
