/* SPDX-License-Identifier: Apache-2.0 */
/* small_file: files of settings and keys read whole. Blocking. */
#ifndef BASE_SMALL_FILE_H
#define BASE_SMALL_FILE_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"

/* Opens a regular file for reading; -1 with errno set for anything else. Never waits: a named pipe
 * in a file's place would hold the caller until somebody writes to it. */
int file_open_regular(const char *path);

/* Appends all that fd still holds. False with errno set: EFBIG where out's ceiling was reached. */
bool fd_read_all(int fd, struct dynbuf *out);

/* Appends the file's bytes to out (initialised; its ceiling is the file's). False with a reason
 * that names `what`, the path and the fix. */
bool small_file_read(const char *path, const char *what, struct dynbuf *out,
                     struct err_detail *detail);

/* path, or folder-of(base) "/" path where path is relative. */
void path_beside(const char *base, struct slice path, struct dynbuf *out);

#endif
