/* SPDX-License-Identifier: Apache-2.0 */
/* Memory statistics are off before SQLite's first use: they take one global mutex an allocation,
 * which makes two workers hardly faster than one. */
#include "service/retrieval/segment_sqlite.h"

#include "service/base/encode.h"
#include "service/retrieval/segment_format.h"

#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;

enum { MMAP_MAX_BYTES = 1 << 30, URI_MAX_BYTES = 3 * 4096 + 64, SQL_MAX_BYTES = 1000 };

static void configure(void)
{
    sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    sqlite3_initialize();
}

bool segment_sqlite_fail(sqlite3 *db, const char *path, struct err_detail *detail)
{
    err_detail_set(detail, "%s: %s", path, db ? sqlite3_errmsg(db) : "out of memory");
    return false;
}

static sqlite3 *open_with(const char *name, int flags, const char *path, struct err_detail *detail)
{
    pthread_once(&once, configure);
    sqlite3 *db = NULL;
    if (sqlite3_open_v2(name, &db, flags | SQLITE_OPEN_NOMUTEX, NULL) != SQLITE_OK) {
        segment_sqlite_fail(db, path, detail);
        sqlite3_close(db);
        return NULL;
    }
    sqlite3_extended_result_codes(db, 1);
    return db;
}

static sqlite3 *run_or_close(sqlite3 *db, const char *sql, const char *path,
                             struct err_detail *detail)
{
    if (db && sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK) {
        segment_sqlite_fail(db, path, detail);
        sqlite3_close(db);
        return NULL;
    }
    return db;
}

sqlite3 *segment_sqlite_create(const char *path, struct err_detail *detail)
{
    sqlite3 *db = open_with(path, SQLITE_OPEN_READWRITE, path, detail);
    return run_or_close(db,
                        "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
                        "PRAGMA locking_mode=EXCLUSIVE; PRAGMA cache_size=-16000;",
                        path, detail);
}

/* Statements of ours read tables; nothing else is ever compiled. */
static int authorize(void *arg, int action, const char *a, const char *b, const char *c,
                     const char *d)
{
    (void)arg, (void)a, (void)b, (void)c, (void)d;
    return action == SQLITE_SELECT || action == SQLITE_READ ? SQLITE_OK : SQLITE_DENY;
}

static void restrict_connection(sqlite3 *db)
{
    sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    sqlite3_limit(db, SQLITE_LIMIT_LENGTH, SEGMENT_TEXT_MAX_BYTES + 1000);
    sqlite3_limit(db, SQLITE_LIMIT_SQL_LENGTH, SQL_MAX_BYTES);
    sqlite3_limit(db, SQLITE_LIMIT_EXPR_DEPTH, 10);
    sqlite3_limit(db, SQLITE_LIMIT_COMPOUND_SELECT, 1);
    sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
    sqlite3_set_authorizer(db, authorize, NULL);
}

sqlite3 *segment_sqlite_open(const char *path, struct err_detail *detail)
{
    struct dynbuf uri;
    dynbuf_init(&uri, URI_MAX_BYTES);
    dynbuf_add_text(&uri, "file:");
    encode_percent(&uri, slice_of(path), "/");
    dynbuf_add(&uri, (struct slice){"?mode=ro&immutable=1", sizeof("?mode=ro&immutable=1")});
    if (uri.failed) {
        err_detail_set(detail, "%s: the path is too long", path);
        dynbuf_done(&uri);
        return NULL;
    }
    sqlite3 *db = open_with(uri.p, SQLITE_OPEN_READONLY | SQLITE_OPEN_URI, path, detail);
    dynbuf_done(&uri);
    /* One read transaction for good: the file never changes, and one a statement costs as much as
     * finding the row. */
    char start[64];
    sqlite3_snprintf(sizeof(start), start, "PRAGMA mmap_size=%d; BEGIN", MMAP_MAX_BYTES);
    db = run_or_close(db, start, path, detail);
    if (db) {
        restrict_connection(db);
    }
    return db;
}

sqlite3_stmt *segment_sqlite_prepare(sqlite3 *db, const char *path, const char *sql,
                                     struct err_detail *detail)
{
    sqlite3_stmt *s = NULL;
    if (sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL) != SQLITE_OK) {
        segment_sqlite_fail(db, path, detail);
        return NULL;
    }
    return s;
}

struct slice segment_sqlite_bytes(sqlite3_stmt *row, int column)
{
    if (sqlite3_column_type(row, column) == SQLITE_NULL) {
        return SLICE_NONE;
    }
    const char *p = sqlite3_column_blob(row, column); /* NULL for an empty one */
    return (struct slice){p ? p : "", (size_t)sqlite3_column_bytes(row, column)};
}
