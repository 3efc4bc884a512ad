/* SPDX-License-Identifier: Apache-2.0 */
/* files: small files read whole. Blocking. */
#ifndef PIPELINE_FILES_H
#define PIPELINE_FILES_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"

/* Appends the file's bytes to out (initialised; its ceiling is the file's). False with a reason
 * that names `what`, the path and the fix. */
bool file_read(const char *path, const char *what, struct dynbuf *out, struct err_detail *detail);

/* path, or folder-of(base) "/" path where path is relative. */
void file_beside(const char *base, struct slice path, struct dynbuf *out);

#endif
