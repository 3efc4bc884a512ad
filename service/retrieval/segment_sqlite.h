/* SPDX-License-Identifier: Apache-2.0 */
/* segment_sqlite: SQLite as segments use it: set up once, files of ours alone, no SQL from outside.
 *
 * Thread: one connection, one thread at a time. Blocking: yes. */
#ifndef RETRIEVAL_SEGMENT_SQLITE_H
#define RETRIEVAL_SEGMENT_SQLITE_H

#include "service/base/err.h"

#include <sqlite3.h>

/* A new file that nothing can interrupt usefully: no journal, no fsync; the caller fsyncs. */
sqlite3 *segment_sqlite_create(const char *path, struct err_detail *detail);

/* An existing file, never written and never locked, with everything off that reading a segment does
 * not need. */
sqlite3 *segment_sqlite_open(const char *path, struct err_detail *detail);

/* A statement that is kept; NULL with a reason. */
sqlite3_stmt *segment_sqlite_prepare(sqlite3 *db, const char *path, const char *sql,
                                     struct err_detail *detail);

/* "path: what SQLite says". Returns false. */
bool segment_sqlite_fail(sqlite3 *db, const char *path, struct err_detail *detail);

/* A text or blob column of the current row, valid until the next step; SLICE_NONE for NULL. */
struct slice segment_sqlite_bytes(sqlite3_stmt *row, int column);

#endif
