/* SPDX-License-Identifier: Apache-2.0 */
/* eval_common: what the sub-commands of `kbgate eval` share. */
#ifndef CLI_EVAL_COMMON_H
#define CLI_EVAL_COMMON_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"
#include "service/cli/eval_files.h"
#include "service/cli/options.h"

extern const struct command EVAL_RETRIEVAL, EVAL_ABSTAIN, EVAL_SCAN, EVAL_FREEZE, EVAL_LINT;

/* A counter on a terminal, nothing elsewhere. */
struct eval_progress {
    const char *what;
    bool terminal;
    uint64_t shown;
};
struct eval_progress eval_progress_new(const char *what);
void eval_progress_show(struct eval_progress *p, uint64_t done, uint64_t total);
void eval_progress_clear(const struct eval_progress *p);

/* "warning: …" on stderr; what others named is shown escaped. */
void eval_warn(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Whether figures are shown as text: not where standard output takes them as JSON. */
bool eval_shows_text(const char *json);

/* Writes `bytes` where path is not NULL. */
bool eval_write(const char *path, const struct dynbuf *bytes, struct err_detail *detail);

#endif
