/* SPDX-License-Identifier: Apache-2.0 */
/* store_files: the few durable file operations that segments and generations need.
 *
 * Blocking: yes. Failure: false with a reason that names the file. */
#ifndef RETRIEVAL_STORE_FILES_H
#define RETRIEVAL_STORE_FILES_H

#include "service/base/err.h"
#include "service/digest/digest.h"

enum { STORE_PATH_MAX = 4096 };

/* dir/name, or false where it does not fit. */
bool store_path(char ret_path[STORE_PATH_MAX], const char *dir, const char *name);

/* Makes the folder and those above it. */
bool store_make_dir(const char *path, struct err_detail *detail);

/* Writes a new file (path must not exist) and fsyncs it. */
bool store_write_new(const char *path, struct slice bytes, struct err_detail *detail);

/* The same from parts, one behind the other; returns the SHA-256 of the whole. */
bool store_write_parts(const char *path, const struct slice *parts, size_t n,
                       struct digest *ret_digest, struct err_detail *detail);

/* fsync of a file or a folder. */
bool store_sync(const char *path, struct err_detail *detail);

/* fsync of the folder that holds path. */
bool store_sync_parent(const char *path, struct err_detail *detail);

/* Appends the whole file; one larger than out's ceiling is an error. */
bool store_read(const char *path, struct dynbuf *out, struct err_detail *detail);

/* Whether a file's SHA-256 is the published one. */
bool store_is_published(const char *path, const struct digest *found,
                        const struct digest *published, struct err_detail *detail);

/* SHA-256 of the whole file. */
bool store_digest(const char *path, struct digest *ret_digest, struct err_detail *detail);

#endif
