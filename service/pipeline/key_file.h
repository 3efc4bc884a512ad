/* SPDX-License-Identifier: Apache-2.0 */
/* key_file: a file of random bytes that keys something. Blocking. */
#ifndef PIPELINE_KEY_FILE_H
#define PIPELINE_KEY_FILE_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"

enum { KEY_FILE_MIN_BYTES = 32, KEY_FILE_MAX_BYTES = 4096 };

/* Appends the file's bytes to ret_key (initialised with KEY_FILE_MAX_BYTES). `key` names it in the
 * reason: the setting it comes from. False where it is unreadable, too short or too long. */
bool key_file_read(const char *key, const char *path, struct dynbuf *ret_key,
                   struct err_detail *detail);

#endif
