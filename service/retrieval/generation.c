/* SPDX-License-Identifier: Apache-2.0 */
/* The manifest is small JSON that a person can read. Whatever it says is checked against the
 * segments' own meta before it is believed; here it only has to be well-formed and sorted. */
#include "service/retrieval/generation.h"

#include "service/base/json_write.h"
#include "service/retrieval/generation_files.h"
#include "service/retrieval/store_files.h"

#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <sys/file.h>
#include <unistd.h>

enum { FORMAT = 3, MANIFEST_MAX_BYTES = 64 * 1024 * 1024 };

/* Reading */

static bool read_text(const json_t *object, const char *key, struct arena *arena,
                      struct slice *ret_text)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_string(value)) {
        return false;
    }
    *ret_text =
        arena_copy(arena, (struct slice){json_string_value(value), json_string_length(value)});
    return true;
}

static bool read_name(const json_t *object, const char *key, struct arena *arena,
                      struct slice *ret_name)
{
    return read_text(object, key, arena, ret_name) && scope_name_is_valid(*ret_name);
}

static bool read_digest(const json_t *object, const char *key, struct digest *ret_digest)
{
    const json_t *value = json_object_get(object, key);
    return json_is_string(value) && digest_from_hex(slice_of(json_string_value(value)), ret_digest);
}

static bool read_count(const json_t *object, const char *key, uint64_t *ret_count)
{
    const json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 1) {
        return false;
    }
    *ret_count = (uint64_t)json_integer_value(value);
    return true;
}

static bool read_labels(const json_t *object, struct arena *arena, struct doc_scope *ret_scope)
{
    const json_t *list = json_object_get(object, "labels");
    if (!json_is_array(list)) {
        return false;
    }
    size_t n = json_array_size(list);
    struct slice *labels = arena_alloc(arena, n * sizeof(*labels));
    for (size_t i = 0; i < n; i++) {
        const json_t *value = json_array_get(list, i);
        labels[i] = arena_copy(arena, slice_of(json_string_value(value)));
        if (!scope_name_is_valid(labels[i]) ||
            (i > 0 && slice_cmp(labels[i - 1], labels[i]) >= 0)) {
            return false;
        }
    }
    ret_scope->labels = labels;
    ret_scope->n_labels = n;
    return true;
}

static bool read_entry(const json_t *object, struct arena *arena,
                       struct generation_entry *ret_entry)
{
    struct partition *p = &ret_entry->partition;
    return json_is_object(object) && read_name(object, "collection", arena, &p->scope.collection) &&
           read_name(object, "doc_type", arena, &p->scope.doc_type) &&
           read_labels(object, arena, &p->scope) && read_digest(object, "content", &p->content) &&
           read_digest(object, "texts_sha256", &ret_entry->files.texts) &&
           read_digest(object, "index_sha256", &ret_entry->files.index) &&
           read_count(object, "documents", &p->n_docs) &&
           read_count(object, "chunks", &p->n_chunks);
}

static bool read_entries(const json_t *root, struct generation *g)
{
    const json_t *list = json_object_get(root, "segments");
    if (!json_is_array(list)) {
        return false;
    }
    g->n = json_array_size(list);
    g->entries = arena_alloc(&g->arena, g->n * sizeof(*g->entries));
    for (size_t i = 0; i < g->n; i++) {
        struct generation_entry *e = &g->entries[i];
        if (!read_entry(json_array_get(list, i), &g->arena, e) ||
            (i > 0 && doc_scope_cmp(&e[-1].partition.scope, &e->partition.scope) >= 0)) {
            return false;
        }
    }
    return true;
}

static bool refuse(const char *path, struct err_detail *detail)
{
    err_detail_set(detail, "%s: not a generation file", path);
    return false;
}

/* Nothing of another format is carried over: its segments cannot be read, and an ingest of some
 * collections must not lose the others. */
static bool check_format(const json_t *root, const char *path, const char *store_dir,
                         struct err_detail *detail)
{
    const json_t *format = json_object_get(root, "format");
    if (!json_is_integer(format) || json_integer_value(format) == FORMAT) {
        return json_is_integer(format) || refuse(path, detail);
    }
    err_detail_set(detail,
                   "%s: written by another version of kbgate (format %lld, not %d); remove the "
                   "folder %s and run kbgate ingest again",
                   path, (long long)json_integer_value(format), FORMAT, store_dir);
    return false;
}

bool generation_read_named(const char *store_dir, const char *name,
                           struct generation *ret_generation, struct err_detail *detail)
{
    struct generation g = {0};
    char path[STORE_PATH_MAX];
    struct dynbuf text;
    dynbuf_init(&text, MANIFEST_MAX_BYTES);
    bool good = generation_file_path(store_dir, name, path) && store_read(path, &text, detail);
    if (good) {
        json_t *root = json_loadb(dynbuf_get(&text).p, text.n, JSON_REJECT_DUPLICATES, NULL);
        good = check_format(root, path, store_dir, detail) &&
               (read_entries(root, &g) || refuse(path, detail));
        json_decref(root);
    }
    dynbuf_done(&text);
    if (!good) {
        arena_done(&g.arena);
        return false;
    }
    snprintf(g.name, sizeof(g.name), "%s", name);
    *ret_generation = g;
    return true;
}

bool generation_current_name(const char *store_dir, char ret_name[GENERATION_NAME_MAX],
                             struct err_detail *detail)
{
    char path[STORE_PATH_MAX];
    struct dynbuf text;
    ret_name[0] = 0;
    if (!store_path(path, store_dir, "CURRENT")) {
        err_detail_set(detail, "the store's path is too long");
        return false;
    }
    if (access(path, F_OK) != 0 && errno == ENOENT) {
        return true;
    }
    dynbuf_init(&text, GENERATION_NAME_MAX);
    bool good = store_read(path, &text, detail);
    if (good) {
        struct slice name = dynbuf_get(&text);
        name.n -= name.n > 0 && name.p[name.n - 1] == '\n';
        good = generation_number(name) > 0;
        if (good) {
            memcpy(ret_name, name.p, name.n);
            ret_name[name.n] = 0;
        } else {
            err_detail_set(detail, "%s: does not name a generation file", path);
        }
    }
    dynbuf_done(&text);
    return good;
}

bool generation_read(const char *store_dir, struct generation *ret_generation,
                     struct err_detail *detail)
{
    char name[GENERATION_NAME_MAX];
    if (!generation_current_name(store_dir, name, detail)) {
        return false;
    }
    if (!name[0]) {
        *ret_generation = (struct generation){0};
        return true;
    }
    return generation_read_named(store_dir, name, ret_generation, detail);
}

void generation_done(struct generation *g)
{
    arena_done(&g->arena);
    *g = (struct generation){0};
}

/* Writing */

int generation_lock(const char *store_dir, struct err_detail *detail)
{
    char path[STORE_PATH_MAX];
    static const char *const folders[] = {"generations", "segments"};
    for (size_t i = 0; i < 2; i++) {
        if (!store_path(path, store_dir, folders[i])) {
            err_detail_set(detail, "the store's path is too long");
            return -1;
        }
        if (!store_make_dir(path, detail)) {
            return -1;
        }
    }
    if (!store_path(path, store_dir, "lock")) {
        return -1;
    }
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (fd < 0 || flock(fd, LOCK_EX | LOCK_NB) != 0) {
        err_detail_set(detail, "%s: %s", path,
                       fd >= 0 && errno == EWOULDBLOCK ? "another ingest is writing this store"
                                                       : strerror(errno));
        if (fd >= 0) {
            close(fd);
        }
        return -1;
    }
    return fd;
}

static void write_digest(struct json_writer *w, const char *key, const struct digest *d)
{
    struct dynbuf hex;
    dynbuf_init(&hex, sizeof(struct digest) * 2);
    digest_add_hex(&hex, d);
    json_member_text(w, key, dynbuf_get(&hex));
    dynbuf_done(&hex);
}

static void write_entry(struct json_writer *w, const struct generation_entry *e)
{
    const struct partition *p = &e->partition;
    json_object_begin(w);
    json_member_text(w, "collection", p->scope.collection);
    json_member_text(w, "doc_type", p->scope.doc_type);
    json_key(w, "labels");
    json_array_begin(w);
    for (size_t i = 0; i < p->scope.n_labels; i++) {
        json_text(w, p->scope.labels[i]);
    }
    json_array_end(w);
    write_digest(w, "content", &p->content);
    write_digest(w, "texts_sha256", &e->files.texts);
    write_digest(w, "index_sha256", &e->files.index);
    json_member_int(w, "documents", (int64_t)p->n_docs);
    json_member_int(w, "chunks", (int64_t)p->n_chunks);
    json_object_end(w);
}

static void write_manifest(struct dynbuf *out, const struct generation_entry *entries, size_t n)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    json_member_int(&w, "format", FORMAT);
    json_key(&w, "segments");
    json_array_begin(&w);
    for (size_t i = 0; i < n; i++) {
        write_entry(&w, &entries[i]);
    }
    json_array_end(&w);
    json_object_end(&w);
    dynbuf_add_byte(out, '\n');
}

/* CURRENT.new left by an interrupted ingest is in nobody's way: we hold the lock. */
static bool point_current_at(const char *store_dir, const char *name, struct err_detail *detail)
{
    char current[STORE_PATH_MAX], fresh[STORE_PATH_MAX], line[GENERATION_NAME_MAX + 1];
    if (!store_path(current, store_dir, "CURRENT") ||
        !store_path(fresh, store_dir, "CURRENT.new")) {
        err_detail_set(detail, "the store's path is too long");
        return false;
    }
    int n = snprintf(line, sizeof(line), "%s\n", name);
    unlink(fresh);
    if (!store_write_new(fresh, (struct slice){line, (size_t)n}, detail)) {
        return false;
    }
    if (rename(fresh, current) != 0) {
        err_detail_set(detail, "%s: cannot rename: %s", fresh, strerror(errno));
        return false;
    }
    return store_sync_parent(current, detail);
}

bool generation_publish(const char *store_dir, const struct generation_entry *entries, size_t n,
                        struct err_detail *detail)
{
    char name[GENERATION_NAME_MAX], path[STORE_PATH_MAX];
    if (!generation_next_name(store_dir, name, detail)) {
        return false;
    }
    struct dynbuf text;
    dynbuf_init(&text, MANIFEST_MAX_BYTES);
    write_manifest(&text, entries, n);
    bool good = generation_file_path(store_dir, name, path);
    if (text.failed || !good) {
        err_detail_set(detail, "%s: the generation file would be too large", store_dir);
        good = false;
    }
    good = good && store_write_new(path, dynbuf_get(&text), detail) &&
           store_sync_parent(path, detail) && point_current_at(store_dir, name, detail);
    dynbuf_done(&text);
    return good;
}
