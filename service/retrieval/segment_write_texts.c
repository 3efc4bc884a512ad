/* SPDX-License-Identifier: Apache-2.0 */
/* Rows come in the order of their keys, so that SQLite only ever appends. The file is not live
 * before its generation is published, so SQLite keeps no journal and one fsync at the end is
 * enough. */
#include "service/retrieval/segment_format.h"
#include "service/retrieval/segment_sqlite.h"
#include "service/retrieval/segment_write.h"
#include "service/retrieval/store_files.h"

static const char SCHEMA[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE label(label INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "CREATE TABLE doc(doc INTEGER PRIMARY KEY, title TEXT NOT NULL, source_url TEXT);"
    "CREATE TABLE chunk(chunk INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "BEGIN;";

enum statement { INSERT_META, INSERT_LABEL, INSERT_DOC, INSERT_CHUNK, N_STATEMENTS };

static const char *const SQL[N_STATEMENTS] = {
    [INSERT_META] = "INSERT INTO meta VALUES(?,?)",
    [INSERT_LABEL] = "INSERT INTO label VALUES(?,?)",
    [INSERT_DOC] = "INSERT INTO doc VALUES(?,?,?)",
    [INSERT_CHUNK] = "INSERT INTO chunk VALUES(?,?)",
};

struct writer {
    const struct segment_input *in;
    const struct digest *content;
    const char *path;
    struct err_detail *detail;
    sqlite3 *db;
    sqlite3_stmt *statements[N_STATEMENTS];
    int64_t n_chunks;
};

static bool step(struct writer *w, enum statement which)
{
    sqlite3_stmt *s = w->statements[which];
    bool good = sqlite3_step(s) == SQLITE_DONE;
    if (!good) {
        segment_sqlite_fail(w->db, w->path, w->detail);
    }
    sqlite3_reset(s);
    return good;
}

static void bind_text(sqlite3_stmt *s, int column, struct slice text)
{
    sqlite3_bind_text64(s, column, text.p, text.n, SQLITE_STATIC, SQLITE_UTF8);
}

/* Required columns: an absent text is stored as an empty one. */
static void bind_present(sqlite3_stmt *s, int column, struct slice text)
{
    bind_text(s, column, text.p ? text : SLICE_LIT(""));
}

static bool write_docs(struct writer *w)
{
    sqlite3_stmt *s = w->statements[INSERT_DOC];
    bool good = true;
    for (size_t i = 0; good && i < w->in->n_docs; i++) {
        sqlite3_bind_int64(s, 1, (sqlite3_int64)i);
        bind_present(s, 2, w->in->docs[i].title);
        bind_text(s, 3, w->in->docs[i].source_url);
        good = step(w, INSERT_DOC);
    }
    return good;
}

static bool write_chunks_of(struct writer *w, const struct doc_input *doc)
{
    sqlite3_stmt *s = w->statements[INSERT_CHUNK];
    bool good = true;
    for (size_t i = 0; good && i < doc->n_chunks; i++) {
        sqlite3_bind_int64(s, 1, w->n_chunks++);
        bind_present(s, 2, doc->chunks[i].text);
        good = step(w, INSERT_CHUNK);
    }
    return good;
}

static bool write_chunks(struct writer *w)
{
    bool good = true;
    for (size_t i = 0; good && i < w->in->n_docs; i++) {
        good = write_chunks_of(w, &w->in->docs[i]);
    }
    return good;
}

static bool write_meta_bytes(struct writer *w, const char *key, struct slice value)
{
    sqlite3_stmt *s = w->statements[INSERT_META];
    bind_text(s, 1, slice_of(key));
    sqlite3_bind_blob64(s, 2, value.p, value.n, SQLITE_STATIC);
    return step(w, INSERT_META);
}

static bool write_meta_text(struct writer *w, const char *key, struct slice value)
{
    sqlite3_stmt *s = w->statements[INSERT_META];
    bind_text(s, 1, slice_of(key));
    bind_present(s, 2, value);
    return step(w, INSERT_META);
}

static bool write_meta_int(struct writer *w, const char *key, int64_t value)
{
    sqlite3_stmt *s = w->statements[INSERT_META];
    bind_text(s, 1, slice_of(key));
    sqlite3_bind_int64(s, 2, value);
    return step(w, INSERT_META);
}

static bool write_labels(struct writer *w)
{
    sqlite3_stmt *s = w->statements[INSERT_LABEL];
    bool good = true;
    for (size_t i = 0; good && i < w->in->scope.n_labels; i++) {
        sqlite3_bind_int64(s, 1, (sqlite3_int64)i);
        bind_text(s, 2, w->in->scope.labels[i]);
        good = step(w, INSERT_LABEL);
    }
    return good;
}

static bool write_meta(struct writer *w)
{
    return write_meta_int(w, "format", SEGMENT_FORMAT) &&
           write_meta_bytes(w, "content", digest_slice(w->content)) &&
           write_meta_text(w, "collection", w->in->scope.collection) &&
           write_meta_text(w, "doc_type", w->in->scope.doc_type) && write_labels(w) &&
           write_meta_int(w, "n_docs", (int64_t)w->in->n_docs) &&
           write_meta_int(w, "n_chunks", w->n_chunks);
}

static bool run(struct writer *w, const char *sql)
{
    return sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           segment_sqlite_fail(w->db, w->path, w->detail);
}

static bool write_everything(struct writer *w)
{
    bool good = run(w, SCHEMA);
    for (size_t i = 0; good && i < N_STATEMENTS; i++) {
        w->statements[i] = segment_sqlite_prepare(w->db, w->path, SQL[i], w->detail);
        good = w->statements[i] != NULL;
    }
    return good && write_docs(w) && write_chunks(w) && write_meta(w) && run(w, "COMMIT");
}

/* close: what SQLite still holds back reaches the file only here. */
static bool write_database(struct writer *w)
{
    w->db = segment_sqlite_create(w->path, w->detail);
    if (!w->db) {
        return false;
    }
    bool good = write_everything(w);
    for (size_t i = 0; i < N_STATEMENTS; i++) {
        sqlite3_finalize(w->statements[i]);
    }
    bool closed = sqlite3_close(w->db) == SQLITE_OK;
    if (good && !closed) {
        err_detail_set(w->detail, "%s: cannot close the file", w->path);
    }
    return good && closed;
}

bool segment_write_texts(const struct segment_input *in, const struct digest *content,
                         const char *path, struct digest *ret_file, struct err_detail *detail)
{
    struct writer w = {.in = in, .content = content, .path = path, .detail = detail};
    return store_write_new(path, SLICE_LIT(""), detail) && write_database(&w) &&
           store_sync(path, detail) && store_digest(path, ret_file, detail);
}
