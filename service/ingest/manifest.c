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

static void broken(struct reading *r, uint64_t line, const char *reason)
{
    if (r->m->broken_line == 0) {
        r->m->broken_line = line;
    }
    r->on_broken(r->arg, line, reason);
}

static struct slice path_key(struct arena *arena, struct slice path)
{
    struct dynbuf b;
    while (slice_starts(path, SLICE_LIT("./"))) {
        path = slice_skip(path, 2);
    }
    dynbuf_init(&b, INGEST_FILE_MAX_BYTES);
    text_add_nfc(&b, path);
    struct slice key = arena_copy(arena, dynbuf_get(&b));
    dynbuf_done(&b);
    return key;
}

static void on_line(void *arg, uint64_t line, const json_t *object, const char *reason)
{
    struct reading *r = arg;
    struct manifest *m = r->m;
    struct manifest_entry entry = {.line = line};
    char field_reason[FIELD_REASON_BYTES];
    const json_t *path = json_object_get(object, "path");
    if (!object) {
        broken(r, line, reason);
        return;
    }
    if (!json_is_string(path) || json_string_length(path) == 0) {
        broken(r, line, "path: write the file's path relative to the folder");
        return;
    }
    if (!fields_from_json(object, r->arena, &entry.fields, field_reason)) {
        broken(r, line, field_reason);
        return;
    }
    entry.path =
        path_key(r->arena, (struct slice){json_string_value(path), json_string_length(path)});
    if (m->n == m->cap) {
        m->cap = m->cap ? m->cap * 2 : 64;
        m->entries = mem_realloc(m->entries, m->cap * sizeof(*m->entries));
    }
    m->entries[m->n++] = entry;
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
static void settle(struct manifest *m)
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
        jsonl_each(dynbuf_get(&bytes), on_line, &r);
        settle(ret_manifest);
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
