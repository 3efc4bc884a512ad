/* SPDX-License-Identifier: Apache-2.0 */
/* Read whole and sorted once; each file is then one binary search. */
#include "service/ingest/manifest.h"

#include "service/base/mem.h"
#include "service/ingest/file.h"
#include "service/ingest/ingest.h"
#include "service/ingest/jsonl.h"
#include "service/retrieval/text.h"

#include <stdio.h>
#include <stdlib.h>

struct reading {
    struct manifest *m;
    struct arena *arena;
    void (*on_broken)(void *arg, uint64_t line, const char *reason);
    void *arg;
};

static void add(struct manifest *m, const struct manifest_entry *entry)
{
    if (m->n == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 64;
        m->entries = mem_realloc(m->entries, m->cap * sizeof(*m->entries));
    }
    m->entries[m->n++] = *entry;
}

struct slice manifest_path(struct arena *arena, struct slice path)
{
    struct dynbuf parts, key;
    bool absolute = path.n && path.p[0] == '/';
    dynbuf_init(&parts, SIZE_MAX);
    for (size_t at = 0; at < path.n;) {
        const char *slash = memchr(path.p + at, '/', path.n - at);
        size_t end = slash ? (size_t)(slash - path.p) : path.n;
        struct slice part = {path.p + at, end - at};
        if (part.n && !slice_is(part, ".")) {
            dynbuf_add_text(&parts, parts.n || absolute ? "/" : "");
            dynbuf_add(&parts, part);
        }
        at = end + 1;
    }
    if (path.n && path.p[path.n - 1] == '/') {
        dynbuf_add_byte(&parts, '/');
    }
    dynbuf_init(&key, SIZE_MAX);
    text_add_nfc(&key, dynbuf_get(&parts));
    struct slice copy = arena_copy(arena, dynbuf_get(&key));
    dynbuf_done(&key);
    dynbuf_done(&parts);
    return copy;
}

static bool fail(char *ret_reason, const char *reason)
{
    snprintf(ret_reason, FIELD_REASON_BYTES, "%s", reason);
    return false;
}

/* Manifests are written for us alone, so a member that we do not know is a mistake. */
static bool check_keys(const json_t *object, char *ret_reason)
{
    static const char *const known[] = {"path",   "id",        "collection", "doc_type",
                                        "labels", "published", "title",      "source_url"};
    const size_t n = sizeof(known) / sizeof(known[0]);
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        size_t i = 0;
        while (i < n && strcmp(key, known[i]) != 0) {
            i++;
        }
        if (i == n) {
            snprintf(ret_reason, FIELD_REASON_BYTES,
                     "%.64s: no field of a manifest; there are path, id, collection, doc_type, "
                     "labels, published, title, source_url",
                     key);
            return false;
        }
    }
    return true;
}

/* Fills the path as soon as it is known: then the mistake costs that file alone. */
static bool read_entry(const json_t *object, struct arena *arena, struct manifest_entry *e,
                       char *ret_reason)
{
    const json_t *path = json_object_get(object, "path");
    struct slice text = {json_string_value(path), json_string_length(path)};
    if (text.n == 0 || memchr(text.p, 0, text.n)) {
        return fail(ret_reason, "path: write the file's path relative to the folder");
    }
    e->path = manifest_path(arena, text);
    return check_keys(object, ret_reason) &&
           fields_from_json(object, arena, &e->fields, ret_reason) &&
           fields_check(&e->fields, arena, ret_reason);
}

static void on_line(void *arg, uint64_t line, const json_t *object, const char *reason)
{
    struct reading *r = arg;
    struct manifest_entry entry = {.line = line};
    char why[FIELD_REASON_BYTES];
    if (object) {
        reason = read_entry(object, r->arena, &entry, why) ? NULL : why;
    }
    if (reason) {
        entry.broken = arena_copy(r->arena, slice_of(reason)).p;
        r->on_broken(r->arg, line, reason);
    }
    if (entry.path.p) {
        add(r->m, &entry);
    } else if (r->m->broken_line == 0) {
        r->m->broken_line = line;
    }
}

static int compare_entries(const void *a, const void *b)
{
    const struct manifest_entry *x = a, *y = b;
    int order = slice_cmp(x->path, y->path);
    if (order != 0) {
        return order;
    }
    return x->line < y->line ? -1 : x->line > y->line;
}

/* Sorts; of a path that is named several times one entry stays, marked. */
static void sort(struct manifest *m)
{
    size_t n = 0;
    if (m->n) {
        qsort(m->entries, m->n, sizeof(*m->entries), compare_entries);
    }
    for (size_t i = 0; i < m->n; i++) {
        if (n && slice_eq(m->entries[n - 1].path, m->entries[i].path)) {
            m->entries[n - 1].again = m->entries[i].line;
        } else {
            m->entries[n++] = m->entries[i];
        }
    }
    m->n = n;
}

bool manifest_read(const char *path, struct arena *arena,
                   void (*on_broken)(void *arg, uint64_t line, const char *reason), void *arg,
                   struct manifest *ret_manifest, char ret_reason[FIELD_REASON_BYTES])
{
    struct dynbuf bytes;
    struct reading r = {ret_manifest, arena, on_broken, arg};
    *ret_manifest = (struct manifest){0};
    dynbuf_init(&bytes, INGEST_FILE_MAX_BYTES);
    bool ok = file_read(path, &bytes, ret_reason);
    if (ok) {
        jsonl_each(jsonl_without_mark(dynbuf_get(&bytes)), on_line, &r);
        sort(ret_manifest);
    }
    dynbuf_done(&bytes);
    return ok;
}

void manifest_done(struct manifest *m)
{
    free(m->entries);
    *m = (struct manifest){0};
}

static int compare_path(const void *key, const void *entry)
{
    return slice_cmp(*(const struct slice *)key, ((const struct manifest_entry *)entry)->path);
}

struct manifest_entry *manifest_find(const struct manifest *m, struct slice path)
{
    return m->n ? bsearch(&path, m->entries, m->n, sizeof(*m->entries), compare_path) : NULL;
}

void manifest_mark(const struct manifest *m, struct slice path)
{
    struct manifest_entry *entry = manifest_find(m, path);
    if (entry) {
        entry->used = true;
    }
}

void manifest_settle(struct manifest *m,
                     void (*on_unmatched)(void *arg, const struct manifest_entry *entry), void *arg)
{
    for (size_t i = 0; i < m->n; i++) {
        const struct manifest_entry *e = &m->entries[i];
        if (e->used) {
            continue;
        }
        if (m->unmatched_line == 0 || e->line < m->unmatched_line) {
            m->unmatched_line = e->line;
        }
        on_unmatched(arg, e);
    }
}

static bool admits_named(const struct manifest_entry *e, char *ret_reason)
{
    if (e->again) {
        snprintf(ret_reason, FIELD_REASON_BYTES,
                 "the manifest names it twice, in lines %llu and %llu", (unsigned long long)e->line,
                 (unsigned long long)e->again);
    } else if (e->broken) {
        snprintf(ret_reason, FIELD_REASON_BYTES,
                 "line %llu of the manifest, which names it, is broken: %.180s",
                 (unsigned long long)e->line, e->broken);
    }
    return !e->again && !e->broken;
}

static bool admits_unnamed(const struct manifest *m, char *ret_reason)
{
    uint64_t line = m->broken_line ? m->broken_line : m->unmatched_line;
    if (line) {
        snprintf(ret_reason, FIELD_REASON_BYTES,
                 "the manifest does not name it, but line %llu of the manifest %s and may have "
                 "meant it",
                 (unsigned long long)line, m->broken_line ? "is broken" : "names no file");
    }
    return line == 0;
}

bool manifest_admits(const struct manifest *m, const struct manifest_entry *entry,
                     char ret_reason[FIELD_REASON_BYTES])
{
    return entry ? admits_named(entry, ret_reason) : admits_unnamed(m, ret_reason);
}
