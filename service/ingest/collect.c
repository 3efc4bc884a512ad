/* SPDX-License-Identifier: Apache-2.0 */
/* Files are read in the order of their names and documents sorted afterwards by what they are, not
 * by where they were found, so that neither the machine's folder order nor that of the arguments
 * reaches a digest. */
#include "service/ingest/collect.h"

#include "service/base/mem.h"
#include "service/ingest/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

static const char MANIFEST_NAME[] = "manifest.jsonl";

/* One PATH argument. */
struct root {
    struct walk walk;
    struct manifest own;       /* its manifest.jsonl */
    struct manifest *manifest; /* in force: its own or the named one; NULL: none */
    struct stat manifest_file;
    bool has_manifest_file;
};

struct reading {
    struct collect *c;
    struct root *roots;
    size_t n_roots;
    struct manifest named; /* --manifest */
    const char *manifest_shown;
    struct fields options; /* what they say of every document */
};

void collect_skip(struct collect *c, const char *path, uint64_t line, const char *reason)
{
    c->report->skipped++;
    if (c->options->on_skip) {
        c->options->on_skip(c->options->arg,
                            &(struct ingest_skip){.path = path, .line = line, .reason = reason});
    }
}

void collect_push(struct collect *c, const struct document *d)
{
    if (c->n == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 64;
        c->docs = mem_realloc(c->docs, c->cap * sizeof(*c->docs));
    }
    c->docs[c->n++] = *d;
}

static void progress(const struct collect *c, uint64_t done, uint64_t total)
{
    if (c->options->on_progress) {
        c->options->on_progress(c->options->arg, "read", done, total);
    }
}

static bool is_manifest(const struct root *root, const struct walk_file *file)
{
    return (root->walk.is_folder && slice_is(file->relative, MANIFEST_NAME)) ||
           (root->has_manifest_file && root->manifest_file.st_dev == file->device &&
            root->manifest_file.st_ino == file->inode);
}

static void take_file(struct reading *r, struct root *root, const struct walk_file *file)
{
    const struct manifest *m = root->manifest;
    struct manifest_entry *entry = m ? manifest_find(m, file->relative) : NULL;
    char reason[FIELD_REASON_BYTES];
    if (is_manifest(root, file)) {
        return;
    }
    if (entry) {
        entry->used = true;
    }
    if (entry && entry->again) {
        snprintf(reason, sizeof(reason), "the manifest names it twice, in lines %llu and %llu",
                 (unsigned long long)entry->line, (unsigned long long)entry->again);
        collect_skip(r->c, file->relative.p, 0, reason);
    } else if (!entry && m && m->broken_line) {
        snprintf(reason, sizeof(reason),
                 "the manifest does not name it, but line %llu of the manifest is broken and may "
                 "have meant it",
                 (unsigned long long)m->broken_line);
        collect_skip(r->c, file->relative.p, 0, reason);
    } else {
        source_read(&(struct source){r->c, &r->options, file, entry});
    }
}

/* Manifests */

static void on_broken(void *arg, uint64_t line, const char *reason)
{
    struct reading *r = arg;
    collect_skip(r->c, r->manifest_shown, line, reason);
}

static void report_unused(struct reading *r, const struct manifest *m)
{
    for (size_t i = 0; i < m->n; i++) {
        if (!m->entries[i].used) {
            char reason[FIELD_REASON_BYTES];
            snprintf(reason, sizeof(reason), "no document at the path %.*s",
                     (int)(m->entries[i].path.n < 160 ? m->entries[i].path.n : 160),
                     m->entries[i].path.p);
            collect_skip(r->c, r->manifest_shown, m->entries[i].line, reason);
        }
    }
}

static bool read_manifest(struct reading *r, const char *path, struct manifest *m,
                          struct err_detail *detail)
{
    char reason[FIELD_REASON_BYTES];
    if (manifest_read(path, &r->c->arena, on_broken, r, m, reason)) {
        return true;
    }
    err_detail_set(detail, "%s: %s", path, reason);
    return false;
}

static bool read_named_manifest(struct reading *r, struct err_detail *detail)
{
    const char *path = r->c->options->manifest;
    if (!path) {
        return true;
    }
    const char *slash = strrchr(path, '/');
    r->manifest_shown = slash ? slash + 1 : path;
    char *resolved = realpath(path, NULL);
    bool ok = read_manifest(r, resolved ? resolved : path, &r->named, detail);
    free(resolved);
    return ok;
}

static bool find_manifest(struct reading *r, struct root *root, struct err_detail *detail)
{
    if (r->c->options->manifest) {
        root->manifest = &r->named;
        root->has_manifest_file = stat(r->c->options->manifest, &root->manifest_file) == 0;
        return true;
    }
    for (size_t i = 0; root->walk.is_folder && i < root->walk.n; i++) {
        if (slice_is(root->walk.files[i].relative, MANIFEST_NAME)) {
            root->manifest = &root->own;
            return read_manifest(r, root->walk.files[i].path, &root->own, detail);
        }
    }
    return true;
}

/* Roots */

static void on_walk_skip(void *arg, const char *relative, const char *reason)
{
    collect_skip(arg, relative, 0, reason);
}

static bool open_root(struct reading *r, struct root *root, const char *path,
                      struct err_detail *detail)
{
    root->walk = (struct walk){.arena = &r->c->arena, .on_skip = on_walk_skip, .arg = r->c};
    return walk_root(&root->walk, path, detail) && find_manifest(r, root, detail);
}

static void read_roots(struct reading *r)
{
    uint64_t done = 0, total = 0;
    for (size_t i = 0; i < r->n_roots; i++) {
        total += r->roots[i].walk.n;
    }
    for (size_t i = 0; i < r->n_roots; i++) {
        struct root *root = &r->roots[i];
        for (size_t j = 0; j < root->walk.n; j++) {
            progress(r->c, done++, total);
            take_file(r, root, &root->walk.files[j]);
        }
        report_unused(r, &root->own);
    }
    report_unused(r, &r->named);
    progress(r->c, total, total);
}

static void count(struct collect *c)
{
    c->report->documents = c->n;
    for (size_t i = 0; i < c->n; i++) {
        c->report->chunks += c->docs[i].n_chunks;
    }
}

static struct fields fields_of_options(const struct ingest_options *o, struct arena *arena)
{
    struct slice *labels = arena_alloc(arena, o->n_labels * sizeof(*labels));
    for (size_t i = 0; i < o->n_labels; i++) {
        labels[i] = slice_of(o->labels[i]);
    }
    return (struct fields){.collection = slice_of(o->collection),
                           .doc_type = slice_of(o->doc_type),
                           .labels = labels,
                           .n_labels = o->n_labels,
                           .has_labels = true};
}

bool collect_documents(struct collect *c, const struct ingest_options *options,
                       struct ingest_report *report, struct err_detail *detail)
{
    *c = (struct collect){.options = options, .report = report};
    struct reading r = {.c = c, .n_roots = options->n_paths, .manifest_shown = MANIFEST_NAME};
    r.roots = mem_array(r.n_roots, sizeof(*r.roots));
    r.options = fields_of_options(options, &c->arena);
    bool ok = read_named_manifest(&r, detail);
    for (size_t i = 0; ok && i < r.n_roots; i++) {
        ok = open_root(&r, &r.roots[i], options->paths[i], detail);
    }
    if (ok) {
        read_roots(&r);
        collect_sort(c);
        count(c);
    }
    for (size_t i = 0; i < r.n_roots; i++) {
        walk_done(&r.roots[i].walk);
        manifest_done(&r.roots[i].own);
    }
    manifest_done(&r.named);
    free(r.roots);
    return ok;
}

void collect_done(struct collect *c)
{
    free(c->docs);
    arena_done(&c->arena);
    *c = (struct collect){0};
}
