/* SPDX-License-Identifier: Apache-2.0 */
/* Sums and ranges are checked once here, so that a query may index the arrays without asking. */
#include "service/retrieval/segment_load.h"

#include "service/base/mem.h"
#include "service/retrieval/segment_sqlite.h"
#include "service/retrieval/text.h"

struct loader {
    struct segment_reader *r;
    sqlite3 *db;
    const char *path;
    const struct generation_entry *entry;
    struct err_detail *detail;
};

static bool wrong(const struct loader *l, const char *why)
{
    err_detail_set(l->detail, "%s: %s", l->path, why);
    return false;
}

static sqlite3_stmt *find_meta(const struct loader *l, const char *key)
{
    sqlite3_stmt *s =
        segment_sqlite_prepare(l->db, l->path, "SELECT value FROM meta WHERE key = ?", l->detail);
    if (s && (sqlite3_bind_text(s, 1, key, -1, SQLITE_STATIC) != SQLITE_OK ||
              sqlite3_step(s) != SQLITE_ROW)) {
        sqlite3_finalize(s);
        s = NULL;
        wrong(l, "not a segment file");
    }
    return s;
}

static bool meta_int(const struct loader *l, const char *key, uint64_t max, uint64_t *ret_value)
{
    sqlite3_stmt *s = find_meta(l, key);
    sqlite3_int64 value = s ? sqlite3_column_int64(s, 0) : -1;
    sqlite3_finalize(s);
    if (s && (value < 0 || (uint64_t)value > max)) {
        return wrong(l, "a count in it is out of range");
    }
    *ret_value = (uint64_t)value;
    return s != NULL;
}

static bool meta_bytes(const struct loader *l, const char *key, struct slice *ret_bytes)
{
    sqlite3_stmt *s = find_meta(l, key);
    *ret_bytes = s ? arena_copy(&l->r->arena, segment_sqlite_bytes(s, 0)) : SLICE_NONE;
    sqlite3_finalize(s);
    return ret_bytes->p != NULL;
}

static bool load_labels(const struct loader *l, struct doc_scope *ret_scope)
{
    size_t n = l->entry->partition.scope.n_labels;
    struct slice *labels = arena_alloc(&l->r->arena, (n + 1) * sizeof(*labels));
    sqlite3_stmt *s =
        segment_sqlite_prepare(l->db, l->path, "SELECT name FROM label ORDER BY label", l->detail);
    size_t found = 0;
    while (s && found <= n && sqlite3_step(s) == SQLITE_ROW) {
        labels[found++] = arena_copy(&l->r->arena, segment_sqlite_bytes(s, 0));
    }
    sqlite3_finalize(s);
    ret_scope->labels = labels;
    ret_scope->n_labels = found;
    return s != NULL;
}

static bool check_versions(const struct loader *l)
{
    uint64_t format = 0, analysis = 0;
    if (!meta_int(l, "format", UINT32_MAX, &format) ||
        !meta_int(l, "analysis_version", UINT32_MAX, &analysis)) {
        return false;
    }
    if (format != SEGMENT_FORMAT || analysis != TEXT_ANALYSIS_VERSION) {
        return wrong(l, "written by another version of kbgate; run kbgate ingest again");
    }
    return true;
}

static bool load_partition(const struct loader *l)
{
    struct partition *p = &l->r->partition;
    const struct partition *expected = &l->entry->partition;
    struct slice content;
    if (!meta_bytes(l, "content", &content) || !meta_bytes(l, "collection", &p->scope.collection) ||
        !meta_bytes(l, "doc_type", &p->scope.doc_type) || !load_labels(l, &p->scope) ||
        !meta_int(l, "n_docs", SEGMENT_MAX_CHUNKS, &p->n_docs) ||
        !meta_int(l, "n_chunks", SEGMENT_MAX_CHUNKS, &p->n_chunks)) {
        return false;
    }
    if (!slice_eq(content, digest_slice(&expected->content)) ||
        doc_scope_cmp(&p->scope, &expected->scope) != 0 || p->n_docs != expected->n_docs ||
        p->n_chunks != expected->n_chunks) {
        return wrong(l, "not the segment that the generation describes");
    }
    p->content = expected->content;
    l->r->n_docs = (uint32_t)p->n_docs;
    l->r->n_chunks = (uint32_t)p->n_chunks;
    return true;
}

/* The documents cover the chunks from first to last, each at least one, ids ascending. */
static bool add_doc(const struct loader *l, sqlite3_stmt *row, uint32_t n, uint32_t *first_chunk)
{
    struct segment_doc *d = &l->r->docs[n];
    sqlite3_int64 published = sqlite3_column_int64(row, 2);
    sqlite3_int64 n_chunks = sqlite3_column_int64(row, 4);
    d->doc_id = arena_copy(&l->r->arena, segment_sqlite_bytes(row, 1));
    d->published = (int32_t)published;
    d->first_chunk = *first_chunk;
    d->n_chunks = (uint32_t)n_chunks;
    bool good = sqlite3_column_int64(row, 0) == n && d->doc_id.p && published == d->published &&
                sqlite3_column_int64(row, 3) == *first_chunk && n_chunks >= 1 &&
                n_chunks <= l->r->n_chunks - *first_chunk &&
                (n == 0 || slice_cmp(d[-1].doc_id, d->doc_id) < 0);
    *first_chunk += d->n_chunks;
    return good;
}

static bool load_docs(const struct loader *l)
{
    sqlite3_stmt *s = segment_sqlite_prepare(
        l->db, l->path,
        "SELECT doc, doc_id, published, first_chunk, n_chunks FROM doc ORDER BY doc", l->detail);
    if (!s) {
        return false;
    }
    uint32_t n = 0, chunks = 0;
    bool good = true;
    l->r->docs = mem_array(l->r->n_docs, sizeof(*l->r->docs));
    while (good && sqlite3_step(s) == SQLITE_ROW) {
        good = n < l->r->n_docs && add_doc(l, s, n++, &chunks);
    }
    sqlite3_finalize(s);
    return (good && n == l->r->n_docs && chunks == l->r->n_chunks) ||
           wrong(l, "its documents contradict its meta");
}

static bool decode_chunk(const struct segment_reader *r, const char *info, uint32_t n)
{
    struct segment_chunk *c = &r->chunks[n];
    c->doc = (uint32_t)segment_get(info, 4);
    c->position = (uint32_t)segment_get(info + 4, 4);
    c->length = (uint32_t)segment_get(info + 8, 4);
    c->text_hash = segment_get(info + 12, 8);
    if (c->doc >= r->n_docs || c->length > SEGMENT_LENGTH_MAX) {
        return false;
    }
    const struct segment_doc *d = &r->docs[c->doc];
    return n >= d->first_chunk && n - d->first_chunk < d->n_chunks &&
           (n == d->first_chunk || c->position > c[-1].position);
}

static bool load_chunks(const struct loader *l)
{
    struct segment_reader *r = l->r;
    sqlite3_stmt *s = find_meta(l, "chunk_info");
    if (!s) {
        return false;
    }
    struct slice info = segment_sqlite_bytes(s, 0);
    bool good = info.n == (size_t)SEGMENT_CHUNK_INFO_BYTES * r->n_chunks;
    uint64_t length = 0;
    r->chunks = mem_array(r->n_chunks, sizeof(*r->chunks));
    for (uint32_t i = 0; good && i < r->n_chunks; i++) {
        good = decode_chunk(r, info.p + (size_t)SEGMENT_CHUNK_INFO_BYTES * i, i);
        length += r->chunks[i].length;
    }
    sqlite3_finalize(s);
    return (good && length == r->total_length) || wrong(l, "its chunks contradict its meta");
}

bool segment_load(struct segment_reader *r, sqlite3 *db, const char *path,
                  const struct generation_entry *entry, struct err_detail *detail)
{
    const struct loader l = {r, db, path, entry, detail};
    return check_versions(&l) && load_partition(&l) &&
           meta_int(&l, "total_length", INT64_MAX, &r->total_length) && load_docs(&l) &&
           load_chunks(&l);
}
