/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the documents fills the text tables and the inverted index in memory; the terms are
 * then written in the order of their row ids, so that SQLite only ever appends. The file is not
 * live before its generation is published, so SQLite keeps no journal and one fsync at the end is
 * enough. */
#include "service/base/mem.h"
#include "service/retrieval/segment.h"
#include "service/retrieval/segment_format.h"
#include "service/retrieval/segment_sqlite.h"
#include "service/retrieval/store_files.h"
#include "service/retrieval/term_index.h"
#include "service/retrieval/text.h"

#include <stdlib.h>

static const char SCHEMA[] =
    "CREATE TABLE meta(key TEXT PRIMARY KEY, value) WITHOUT ROWID;"
    "CREATE TABLE label(label INTEGER PRIMARY KEY, name TEXT NOT NULL);"
    "CREATE TABLE doc(doc INTEGER PRIMARY KEY, doc_id TEXT NOT NULL, title TEXT NOT NULL,"
    " source_url TEXT, published INTEGER NOT NULL, first_chunk INTEGER NOT NULL,"
    " n_chunks INTEGER NOT NULL);"
    "CREATE TABLE chunk(chunk INTEGER PRIMARY KEY, text TEXT NOT NULL);"
    "CREATE TABLE term(hash INTEGER PRIMARY KEY, term TEXT NOT NULL, df INTEGER NOT NULL,"
    " postings BLOB NOT NULL);"
    "BEGIN;";

enum statement { INSERT_META, INSERT_LABEL, INSERT_DOC, INSERT_CHUNK, INSERT_TERM, N_STATEMENTS };

static const char *const SQL[N_STATEMENTS] = {
    [INSERT_META] = "INSERT INTO meta VALUES(?,?)",
    [INSERT_LABEL] = "INSERT INTO label VALUES(?,?)",
    [INSERT_DOC] = "INSERT INTO doc VALUES(?,?,?,?,?,?,?)",
    [INSERT_CHUNK] = "INSERT INTO chunk VALUES(?,?)",
    [INSERT_TERM] = "INSERT INTO term VALUES(?,?,?,?)",
};

struct segment_writer {
    const struct segment_input *in;
    const struct digest *content;
    const char *path;
    struct err_detail *detail;
    sqlite3 *db;
    sqlite3_stmt *statements[N_STATEMENTS];
    struct text_analyser *analyser;
    struct term_index index;
    uint32_t weight;       /* of the field being analysed */
    uint32_t *title_terms; /* of the document at hand, as often as they occur */
    size_t n_title_terms, cap_title_terms;
    struct dynbuf chunk_info;
    uint32_t n_chunks;
    uint64_t total_length;
};

static bool refuse(struct err_detail *detail, struct slice doc_id, const char *why)
{
    err_detail_set(detail, "document %.*s: %s", (int)(doc_id.n < 300 ? doc_id.n : 300), doc_id.p,
                   why);
    return false;
}

static bool check_doc(const struct doc_input *doc, uint64_t *n_chunks, struct err_detail *detail)
{
    if (doc->n_chunks == 0) {
        return refuse(detail, doc->doc_id, "has no chunk");
    }
    for (size_t i = 1; i < doc->n_chunks; i++) {
        if (doc->chunks[i].position <= doc->chunks[i - 1].position) {
            return refuse(detail, doc->doc_id, "its chunks are not in order");
        }
    }
    *n_chunks += doc->n_chunks;
    return *n_chunks <= SEGMENT_MAX_CHUNKS ||
           refuse(detail, doc->doc_id, "one partition cannot hold so many chunks");
}

static bool check_input(const struct segment_input *in, struct err_detail *detail)
{
    uint64_t n_chunks = 0;
    for (size_t i = 0; i < in->n_docs; i++) {
        const struct doc_input *doc = &in->docs[i];
        if (i > 0 && slice_cmp(doc[-1].doc_id, doc->doc_id) >= 0) {
            return refuse(detail, doc->doc_id, "is there twice or out of order");
        }
        if (!check_doc(doc, &n_chunks, detail)) {
            return false;
        }
    }
    return true;
}

static bool step(struct segment_writer *w, enum statement which)
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

static void count_term(void *arg, struct slice term, uint32_t position)
{
    (void)position;
    struct segment_writer *w = arg;
    term_index_count(&w->index, term_index_id(&w->index, term), w->weight);
}

static void keep_title_term(void *arg, struct slice term, uint32_t position)
{
    (void)position;
    struct segment_writer *w = arg;
    if (w->n_title_terms == w->cap_title_terms) {
        w->cap_title_terms = w->cap_title_terms ? 2 * w->cap_title_terms : 64;
        w->title_terms = mem_realloc(w->title_terms, w->cap_title_terms * sizeof(uint32_t));
    }
    w->title_terms[w->n_title_terms++] = term_index_id(&w->index, term);
}

static void analyse(struct segment_writer *w, struct slice text, uint32_t weight)
{
    w->weight = weight;
    if (text.n) {
        text_analyse(w->analyser, text, count_term, w);
    }
}

static uint32_t index_chunk(struct segment_writer *w, const struct chunk_input *chunk)
{
    for (size_t i = 0; i < w->n_title_terms; i++) {
        term_index_count(&w->index, w->title_terms[i], SEGMENT_TITLE_WEIGHT);
    }
    analyse(w, chunk->context, SEGMENT_CONTEXT_WEIGHT);
    analyse(w, chunk->text, SEGMENT_TEXT_WEIGHT);
    return term_index_end_chunk(&w->index, w->n_chunks);
}

static bool write_chunk(struct segment_writer *w, uint32_t doc, const struct chunk_input *chunk)
{
    uint32_t length = index_chunk(w, chunk);
    struct slice text = chunk->text.p ? chunk->text : SLICE_LIT("");
    char info[SEGMENT_CHUNK_INFO_BYTES];
    segment_put(info, doc, 4);
    segment_put(info + 4, chunk->position, 4);
    segment_put(info + 8, length, 4);
    segment_put(info + 12, segment_hash(text), 8);
    dynbuf_add(&w->chunk_info, (struct slice){info, sizeof(info)});
    w->total_length += length;

    sqlite3_stmt *s = w->statements[INSERT_CHUNK];
    sqlite3_bind_int64(s, 1, w->n_chunks++);
    bind_text(s, 2, text);
    return step(w, INSERT_CHUNK);
}

static bool write_doc(struct segment_writer *w, uint32_t number)
{
    const struct doc_input *doc = &w->in->docs[number];
    sqlite3_stmt *s = w->statements[INSERT_DOC];
    sqlite3_bind_int64(s, 1, number);
    bind_present(s, 2, doc->doc_id);
    bind_present(s, 3, doc->title);
    bind_text(s, 4, doc->source_url);
    sqlite3_bind_int64(s, 5, doc->published);
    sqlite3_bind_int64(s, 6, w->n_chunks);
    sqlite3_bind_int64(s, 7, (sqlite3_int64)doc->n_chunks);
    bool good = step(w, INSERT_DOC);

    w->n_title_terms = 0;
    if (doc->title.n) {
        text_analyse(w->analyser, doc->title, keep_title_term, w);
    }
    for (size_t i = 0; good && i < doc->n_chunks; i++) {
        good = write_chunk(w, number, &doc->chunks[i]);
    }
    return good;
}

static bool write_terms(struct segment_writer *w)
{
    term_index_hash(&w->index);
    bool good = term_index_sort(&w->index, w->detail);
    sqlite3_stmt *s = w->statements[INSERT_TERM];
    for (size_t i = 0; good && i < w->index.n; i++) {
        const struct term_entry *e = &w->index.entries[i];
        struct slice postings = dynbuf_get(&e->postings.bytes);
        sqlite3_bind_int64(s, 1, (sqlite3_int64)e->hash);
        bind_text(s, 2, e->term);
        sqlite3_bind_int64(s, 3, e->postings.df);
        sqlite3_bind_blob64(s, 4, postings.p, postings.n, SQLITE_STATIC);
        good = step(w, INSERT_TERM);
    }
    return good;
}

static bool write_meta_bytes(struct segment_writer *w, const char *key, struct slice value)
{
    sqlite3_stmt *s = w->statements[INSERT_META];
    bind_text(s, 1, slice_of(key));
    sqlite3_bind_blob64(s, 2, value.p, value.n, SQLITE_STATIC);
    return step(w, INSERT_META);
}

static bool write_meta_text(struct segment_writer *w, const char *key, struct slice value)
{
    sqlite3_stmt *s = w->statements[INSERT_META];
    bind_text(s, 1, slice_of(key));
    bind_present(s, 2, value);
    return step(w, INSERT_META);
}

static bool write_meta_int(struct segment_writer *w, const char *key, uint64_t value)
{
    sqlite3_stmt *s = w->statements[INSERT_META];
    bind_text(s, 1, slice_of(key));
    sqlite3_bind_int64(s, 2, (sqlite3_int64)value);
    return step(w, INSERT_META);
}

static bool write_labels(struct segment_writer *w)
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

static bool write_meta(struct segment_writer *w)
{
    return write_meta_int(w, "format", SEGMENT_FORMAT) &&
           write_meta_int(w, "analysis_version", TEXT_ANALYSIS_VERSION) &&
           write_meta_bytes(w, "content", digest_slice(w->content)) &&
           write_meta_text(w, "collection", w->in->scope.collection) &&
           write_meta_text(w, "doc_type", w->in->scope.doc_type) && write_labels(w) &&
           write_meta_int(w, "n_docs", w->in->n_docs) &&
           write_meta_int(w, "n_chunks", w->n_chunks) &&
           write_meta_int(w, "total_length", w->total_length) &&
           write_meta_bytes(w, "chunk_info", dynbuf_get(&w->chunk_info));
}

static bool run(struct segment_writer *w, const char *sql)
{
    return sqlite3_exec(w->db, sql, NULL, NULL, NULL) == SQLITE_OK ||
           segment_sqlite_fail(w->db, w->path, w->detail);
}

static bool write_everything(struct segment_writer *w)
{
    bool good = run(w, SCHEMA);
    for (size_t i = 0; good && i < N_STATEMENTS; i++) {
        w->statements[i] = segment_sqlite_prepare(w->db, w->path, SQL[i], w->detail);
        good = w->statements[i] != NULL;
    }
    for (size_t i = 0; good && i < w->in->n_docs; i++) {
        good = write_doc(w, (uint32_t)i);
    }
    return good && write_terms(w) && write_meta(w) && run(w, "COMMIT");
}

static void writer_done(struct segment_writer *w)
{
    for (size_t i = 0; i < N_STATEMENTS; i++) {
        sqlite3_finalize(w->statements[i]);
    }
    term_index_done(&w->index);
    dynbuf_done(&w->chunk_info);
    text_analyser_free(w->analyser);
    free(w->title_terms);
}

/* close: what SQLite still holds back reaches the file only here. */
static bool write_database(struct segment_writer *w)
{
    w->db = segment_sqlite_create(w->path, w->detail);
    if (!w->db) {
        return false;
    }
    w->analyser = text_analyser_new();
    term_index_init(&w->index);
    dynbuf_init(&w->chunk_info, SEGMENT_BLOB_MAX_BYTES);
    bool good = write_everything(w);
    writer_done(w);
    bool closed = sqlite3_close(w->db) == SQLITE_OK;
    if (good && !closed) {
        err_detail_set(w->detail, "%s: cannot close the file", w->path);
    }
    return good && closed;
}

bool segment_write(const struct segment_input *in, const struct digest *content, const char *path,
                   struct digest *ret_file, struct err_detail *detail)
{
    struct segment_writer w = {.in = in, .content = content, .path = path, .detail = detail};
    return check_input(in, detail) && store_write_new(path, SLICE_LIT(""), detail) &&
           write_database(&w) && store_sync(path, detail) && store_sync_parent(path, detail) &&
           store_digest(path, ret_file, detail);
}
