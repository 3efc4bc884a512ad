/* SPDX-License-Identifier: Apache-2.0 */
/* The scope of a hit comes from the file that holds its text, not from the list of segments: the
 * recheck compares what was stored with the text against the filter. */
#include "service/retrieval/segment_load.h"

#include "service/retrieval/segment_sqlite.h"

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

static bool check_format(const struct loader *l)
{
    uint64_t format = 0;
    if (!meta_int(l, "format", UINT32_MAX, &format)) {
        return false;
    }
    return format == SEGMENT_FORMAT ||
           wrong(l, "written by another version of kbgate; run kbgate ingest again");
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
    return true;
}

bool segment_load(struct segment_reader *r, sqlite3 *db, const char *path,
                  const struct generation_entry *entry, struct err_detail *detail)
{
    const struct loader l = {r, db, path, entry, detail};
    return check_format(&l) && load_partition(&l);
}
