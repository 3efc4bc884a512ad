/* SPDX-License-Identifier: Apache-2.0 */
/* Files are read in the order of their names and documents sorted afterwards by what they are, not
 * by where they were found, so that neither the machine's folder order nor that of the arguments
 * reaches a digest. */
#include "service/ingest/collect.h"

#include "service/base/mem.h"
#include "service/ingest/reader.h"
#include "service/ingest/root.h"
#include "service/ingest/source.h"

#include <stdlib.h>

struct reading {
    struct collect *c;
    struct root *roots;
    size_t n_roots;
    struct manifest named; /* --manifest */
    const char *named_shown;
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

/* The manifest of --manifest */

static bool read_named(struct reading *r, struct err_detail *detail)
{
    const char *path = r->c->options->manifest;
    if (!path) {
        return true;
    }
    const char *slash = strrchr(path, '/');
    r->named_shown = slash ? slash + 1 : path;
    char *resolved = realpath(path, NULL);
    bool ok =
        root_read_manifest(r->c, resolved ? resolved : path, r->named_shown, &r->named, detail);
    free(resolved);
    return ok;
}

static void on_unmatched(void *arg, const struct manifest_entry *entry)
{
    const struct reading *r = arg;
    root_report_unmatched(r->c, r->named_shown ? r->named_shown : ROOT_MANIFEST_NAME, entry);
}

/* Roots */

static void settle_manifests(struct reading *r)
{
    for (size_t i = 0; i < r->n_roots; i++) {
        root_mark(&r->roots[i]);
    }
    for (size_t i = 0; i < r->n_roots; i++) {
        manifest_settle(&r->roots[i].own, on_unmatched, r);
    }
    manifest_settle(&r->named, on_unmatched, r);
}

static void take_file(struct reading *r, const struct root *root, const struct walk_file *file)
{
    const struct manifest_entry *entry;
    char reason[FIELD_REASON_BYTES];
    switch (root_judge(root, file, &entry, reason)) {
    case ROOT_PASS: break;
    case ROOT_SKIP: collect_skip(r->c, file->relative.p, 0, reason); break;
    case ROOT_TAKE: source_read(&(struct source){r->c, &r->options, file, entry}); break;
    }
}

static void read_roots(struct reading *r)
{
    uint64_t done = 0, total = 0;
    for (size_t i = 0; i < r->n_roots; i++) {
        total += r->roots[i].walk.n;
    }
    for (size_t i = 0; i < r->n_roots; i++) {
        const struct root *root = &r->roots[i];
        for (size_t j = 0; j < root->walk.n; j++) {
            progress(r->c, done++, total);
            take_file(r, root, &root->walk.files[j]);
        }
    }
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
    struct reading r = {.c = c, .n_roots = options->n_paths};
    reader_start();
    r.roots = mem_array(r.n_roots, sizeof(*r.roots));
    r.options = fields_of_options(options, &c->arena);
    bool ok = read_named(&r, detail);
    for (size_t i = 0; ok && i < r.n_roots; i++) {
        ok = root_open(&r.roots[i], c, options->paths[i], options->manifest ? &r.named : NULL,
                       detail);
    }
    if (ok) {
        settle_manifests(&r);
        read_roots(&r);
        ok = collect_sort(c, detail);
        count(c);
    }
    for (size_t i = 0; i < r.n_roots; i++) {
        root_done(&r.roots[i]);
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
