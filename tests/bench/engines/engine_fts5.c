/* SPDX-License-Identifier: Apache-2.0 */
/* SQLite's full-text index as one would set it up for speed: Porter stems, one optimised table, the
 * file mapped, statements prepared once. The partition is a column of the index that ranks nothing;
 * its terms are no words of the text, so that no column filter is needed, which is faster. For the
 * joined form it is a row of a plain table. ORDER BY rank is FTS5's own fast way to the
 * best rows. */
#include "tests/bench/engines/corpus.h"
#include "tests/bench/engines/engine.h"

#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>

enum { PATH_BYTES = 4096, MATCH_BYTES = 64 * 1024 };

static const char SCHEMA[] =
    "PRAGMA page_size=4096; PRAGMA journal_mode=OFF; PRAGMA synchronous=OFF;"
    "PRAGMA cache_size=-200000;"
    "CREATE VIRTUAL TABLE passage USING fts5(title, text, part, tokenize='porter unicode61');"
    "INSERT INTO passage(passage, rank) VALUES('rank', 'bm25(1.0, 1.0, 0.0)');"
    "CREATE TABLE home(id INTEGER PRIMARY KEY, part INTEGER NOT NULL);"
    "CREATE TABLE acl(caller INTEGER, part INTEGER, PRIMARY KEY(caller, part)) WITHOUT ROWID;"
    "BEGIN;";

static const char TERM[] =
    "SELECT rowid, title, text FROM passage WHERE passage MATCH ?1 ORDER BY rank LIMIT 10";
static const char JOINED[] =
    "SELECT passage.rowid, title, text FROM passage CROSS JOIN home ON home.id = passage.rowid "
    "CROSS JOIN acl ON acl.caller = ?2 AND acl.part = home.part "
    "WHERE passage MATCH ?1 ORDER BY rank LIMIT 10";

struct fts5 {
    sqlite3 *db;
    sqlite3_stmt *select;
    char partitions[MATCH_BYTES]; /* of the narrow caller, as a match expression */
    char match[MATCH_BYTES];
};

static void require(struct fts5 *f, int code, const char *what)
{
    engine_require(code == SQLITE_OK || code == SQLITE_ROW || code == SQLITE_DONE, what,
                   sqlite3_errmsg(f->db));
}

static sqlite3_stmt *prepare(struct fts5 *f, const char *sql)
{
    sqlite3_stmt *s = NULL;
    require(f, sqlite3_prepare_v3(f->db, sql, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL), sql);
    return s;
}

static void open_database(struct fts5 *f, const char *dir, int flags)
{
    char path[PATH_BYTES];
    int n = snprintf(path, sizeof(path), "%s/fts5.db", dir);
    engine_require(n > 0 && n < PATH_BYTES, dir, "too long a path");
    sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
    require(f, sqlite3_open_v2(path, &f->db, flags | SQLITE_OPEN_NOMUTEX, NULL), path);
}

static void run(struct fts5 *f, const char *sql)
{
    require(f, sqlite3_exec(f->db, sql, NULL, NULL, NULL), sql);
}

static void insert_chunk(struct fts5 *f, sqlite3_stmt *passage, sqlite3_stmt *home,
                         const struct chunk *chunk)
{
    char part[CORPUS_NAME_BYTES];
    (void)snprintf(part, sizeof(part), "part%u", chunk->partition);
    sqlite3_bind_int64(passage, 1, chunk->number);
    sqlite3_bind_text64(passage, 2, chunk->title.p, chunk->title.n, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_text64(passage, 3, chunk->text.p, chunk->text.n, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_text(passage, 4, part, -1, SQLITE_STATIC);
    require(f, sqlite3_step(passage), "insert");
    sqlite3_reset(passage);
    sqlite3_bind_int64(home, 1, chunk->number);
    sqlite3_bind_int64(home, 2, chunk->partition);
    require(f, sqlite3_step(home), "insert");
    sqlite3_reset(home);
}

static void insert_acl(struct fts5 *f, uint32_t n_partitions)
{
    sqlite3_stmt *acl = prepare(f, "INSERT INTO acl VALUES(?,?)");
    for (int scope = 0; scope < N_SCOPES; scope++) {
        for (uint32_t p = 0; p < n_partitions; p++) {
            if (corpus_permits((enum corpus_scope)scope, p)) {
                sqlite3_bind_int(acl, 1, scope);
                sqlite3_bind_int64(acl, 2, p);
                require(f, sqlite3_step(acl), "insert");
                sqlite3_reset(acl);
            }
        }
    }
    sqlite3_finalize(acl);
}

void engine_fts5_build(const char *dir, uint32_t n_chunks, uint32_t n_partitions)
{
    struct fts5 *f = calloc(1, sizeof(*f));
    struct corpus *c = corpus_new(n_chunks, n_partitions);
    struct chunk chunk;
    open_database(f, dir, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE);
    run(f, SCHEMA);
    sqlite3_stmt *passage =
        prepare(f, "INSERT INTO passage(rowid, title, text, part) VALUES(?,?,?,?)");
    sqlite3_stmt *home = prepare(f, "INSERT INTO home VALUES(?,?)");
    while (corpus_next(c, &chunk)) {
        insert_chunk(f, passage, home, &chunk);
    }
    sqlite3_finalize(passage);
    sqlite3_finalize(home);
    insert_acl(f, n_partitions);
    run(f, "INSERT INTO passage(passage) VALUES('optimize'); COMMIT; ANALYZE;");
    require(f, sqlite3_close(f->db), "close");
    corpus_free(c);
    free(f);
}

static void name_partitions(struct fts5 *f, uint32_t n_partitions)
{
    size_t n = 0;
    for (uint32_t p = 0; p < n_partitions; p++) {
        if (corpus_permits(SCOPE_TENTH, p)) {
            n += (size_t)snprintf(f->partitions + n, sizeof(f->partitions) - n, "%spart%u",
                                  n ? " OR " : "", p);
            engine_require(n < sizeof(f->partitions), "fts5", "too many partitions");
        }
    }
}

static void *open_engine(const struct engine_place *place, const char *sql)
{
    struct fts5 *f = calloc(1, sizeof(*f));
    engine_require(f != NULL, "fts5", "out of memory");
    open_database(f, place->dir, SQLITE_OPEN_READONLY);
    run(f, "PRAGMA mmap_size=2147418112; PRAGMA cache_size=-65536;");
    f->select = prepare(f, sql);
    name_partitions(f, place->n_partitions);
    return f;
}

static void *open_term(const struct engine_place *place)
{
    return open_engine(place, TERM);
}

static void *open_joined(const struct engine_place *place)
{
    return open_engine(place, JOINED);
}

static void close_engine(void *self)
{
    struct fts5 *f = self;
    sqlite3_finalize(f->select);
    sqlite3_close(f->db);
    free(f);
}

/* Quoted, so that no word is an operator. Words are short and few: they fit. */
static size_t match_words(struct fts5 *f, const char *question)
{
    char words[QUESTION_WORDS_MAX][QUESTION_WORD_BYTES];
    size_t n_words = question_words(question, words), n = 0;
    n += (size_t)snprintf(f->match, sizeof(f->match), "(");
    for (size_t i = 0; i < n_words; i++) {
        n += (size_t)snprintf(f->match + n, sizeof(f->match) - n, "%s\"%s\"", i ? " OR " : "",
                              words[i]);
    }
    return n + (size_t)snprintf(f->match + n, sizeof(f->match) - n, ")");
}

static void fetch(struct fts5 *f, struct passages *ret_passages)
{
    ret_passages->n = ret_passages->n_bytes = 0;
    int code;
    while ((code = sqlite3_step(f->select)) == SQLITE_ROW) {
        passages_add(ret_passages, (uint32_t)sqlite3_column_int64(f->select, 0),
                     (const char *)sqlite3_column_text(f->select, 1),
                     (size_t)sqlite3_column_bytes(f->select, 1),
                     (const char *)sqlite3_column_text(f->select, 2),
                     (size_t)sqlite3_column_bytes(f->select, 2));
    }
    require(f, code, "select");
    sqlite3_reset(f->select);
}

static void search_term(void *self, int scope, const char *question, struct passages *ret_passages)
{
    struct fts5 *f = self;
    size_t n = match_words(f, question);
    if (scope == SCOPE_TENTH) {
        n += (size_t)snprintf(f->match + n, sizeof(f->match) - n, " AND (%s)", f->partitions);
        engine_require(n < sizeof(f->match), "fts5", "too long a question");
    }
    sqlite3_bind_text64(f->select, 1, f->match, n, SQLITE_STATIC, SQLITE_UTF8);
    fetch(f, ret_passages);
}

static void search_joined(void *self, int scope, const char *question,
                          struct passages *ret_passages)
{
    struct fts5 *f = self;
    size_t n = match_words(f, question);
    sqlite3_bind_text64(f->select, 1, f->match, n, SQLITE_STATIC, SQLITE_UTF8);
    sqlite3_bind_int(f->select, 2, scope);
    fetch(f, ret_passages);
}

const struct engine ENGINE_FTS5_TERM = {"fts5_term", open_term, search_term, close_engine};
const struct engine ENGINE_FTS5_JOINED = {"fts5_joined", open_joined, search_joined, close_engine};
