/* SPDX-License-Identifier: Apache-2.0 */
/* file: the bytes of one file of a corpus, within limits.
 *
 * Blocking: yes. */
#ifndef INGEST_FILE_H
#define INGEST_FILE_H

#include "service/ingest/fields.h"

enum file_type { FILE_OTHER, FILE_MARKDOWN, FILE_TEXT, FILE_HTML, FILE_JSONL };

/* By the ending of the name, upper or lower case. */
enum file_type file_type_of(struct slice name);

/* Appends the file's bytes. False with a reason: unreadable, no regular file, empty, larger than
 * INGEST_FILE_MAX_BYTES, binary (a NUL byte). A symbolic link is not followed. */
bool file_read(const char *path, struct dynbuf *ret_bytes, char ret_reason[FIELD_REASON_BYTES]);

/* Makes the bytes text: no byte order mark, LF newlines. False with a reason that names the first
 * byte that is not UTF-8. */
bool file_to_text(struct dynbuf *bytes, char ret_reason[FIELD_REASON_BYTES]);

#endif
