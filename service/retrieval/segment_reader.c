/* SPDX-License-Identifier: Apache-2.0 */
/* The file's SHA-256 already says that it is what ingest wrote. Its content is checked all the
 * same: a segment of another format or analysis, or a manifest that mixes files up, must be refused
 * at the start and by name, not found out in an answer. */
#include "service/retrieval/segment_reader.h"

#include "service/base/mem.h"
#include "service/retrieval/segment_load.h"
#include "service/retrieval/segment_sqlite.h"
#include "service/retrieval/store_files.h"

#include <stdlib.h>

enum query { READ_TEXT, READ_HIT, N_QUERIES };

static const char *const SQL[N_QUERIES] = {
    [READ_TEXT] = "SELECT text FROM chunk WHERE chunk = ?",
    [READ_HIT] = "SELECT title, source_url, text FROM doc, chunk WHERE doc.doc = ?2 AND chunk = ?1",
};

struct segment_slot {
    sqlite3 *db;
    sqlite3_stmt *queries[N_QUERIES];
};

static bool open_slot(struct segment_slot *s, const char *path, struct err_detail *detail)
{
    s->db = segment_sqlite_open(path, detail);
    bool good = s->db != NULL;
    for (size_t i = 0; good && i < N_QUERIES; i++) {
        s->queries[i] = segment_sqlite_prepare(s->db, path, SQL[i], detail);
        good = s->queries[i] != NULL;
    }
    return good;
}

static void close_slot(struct segment_slot *s)
{
    for (size_t i = 0; i < N_QUERIES; i++) {
        sqlite3_finalize(s->queries[i]);
    }
    sqlite3_close(s->db);
}

static bool check_file(const char *path, const struct digest *expected, struct err_detail *detail)
{
    struct digest found;
    return store_digest(path, &found, detail) && store_is_published(path, &found, expected, detail);
}

static bool open_all(struct segment_reader *r, const struct segment_paths *paths,
                     const struct generation_entry *entry, struct err_detail *detail)
{
    bool good = check_file(paths->texts, &entry->files.texts, detail);
    for (unsigned i = 0; good && i < r->n_slots; i++) {
        good = open_slot(&r->slots[i], paths->texts, detail);
    }
    return good && segment_load(r, r->slots[0].db, paths->texts, entry, detail) &&
           segment_index_open(&r->index, paths->index, entry, detail);
}

struct segment_reader *segment_reader_open(const struct segment_paths *paths,
                                           const struct generation_entry *entry, unsigned n_slots,
                                           struct err_detail *detail)
{
    struct segment_reader *r = mem_alloc(sizeof(*r));
    r->refs = 1;
    r->files = entry->files;
    r->n_slots = n_slots;
    r->slots = mem_array(n_slots, sizeof(*r->slots));
    if (!open_all(r, paths, entry, detail)) {
        segment_reader_unref(r);
        return NULL;
    }
    r->n_docs = r->index.header.n_docs;
    r->n_chunks = r->index.header.n_chunks;
    r->total_length = r->index.header.total_length;
    return r;
}

struct segment_reader *segment_reader_ref(struct segment_reader *r)
{
    __atomic_add_fetch(&r->refs, 1, __ATOMIC_RELAXED);
    return r;
}

void segment_reader_unref(struct segment_reader *r)
{
    if (!r || __atomic_sub_fetch(&r->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (unsigned i = 0; i < r->n_slots; i++) {
        close_slot(&r->slots[i]);
    }
    free(r->slots);
    segment_index_close(&r->index);
    arena_done(&r->arena);
    free(r);
}

static sqlite3_stmt *start(struct segment_reader *r, unsigned slot, enum query which, uint64_t key)
{
    sqlite3_stmt *s = r->slots[slot].queries[which];
    sqlite3_reset(s);
    sqlite3_bind_int64(s, 1, (sqlite3_int64)key);
    return s;
}

struct segment_term segment_term_of(struct slice text)
{
    return (struct segment_term){text, segment_hash(text)};
}

enum err segment_text(struct segment_reader *r, unsigned slot, uint32_t chunk,
                      struct slice *ret_text)
{
    sqlite3_stmt *row = start(r, slot, READ_TEXT, chunk);
    *ret_text = sqlite3_step(row) == SQLITE_ROW ? segment_sqlite_bytes(row, 0) : SLICE_NONE;
    return ret_text->p ? ERR_OK : ERR_INTERNAL;
}

enum err segment_hit_texts(struct segment_reader *r, unsigned slot, uint32_t chunk,
                           struct hit_texts *ret_texts)
{
    sqlite3_stmt *row = start(r, slot, READ_HIT, chunk);
    sqlite3_bind_int64(row, 2, segment_chunk_at(r, chunk).doc);
    if (sqlite3_step(row) != SQLITE_ROW) {
        return ERR_INTERNAL;
    }
    *ret_texts = (struct hit_texts){
        .title = segment_sqlite_bytes(row, 0),
        .source_url = segment_sqlite_bytes(row, 1),
        .text = segment_sqlite_bytes(row, 2),
    };
    return ret_texts->title.p && ret_texts->text.p ? ERR_OK : ERR_INTERNAL;
}

bool segment_find_doc(const struct segment_reader *r, struct slice doc_id, uint32_t *ret_doc)
{
    uint32_t low = 0, high = r->n_docs;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        int order = slice_cmp(segment_doc_at(r, middle).doc_id, doc_id);
        if (order == 0) {
            *ret_doc = middle;
            return true;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return false;
}
