/* SPDX-License-Identifier: Apache-2.0 */
/* A segment's files are built beside their places and renamed into them: a file under a final name
 * is always whole. Nothing is live before CURRENT is switched, so whatever an interrupted run
 * leaves is swept up by the next one. */
#include "service/ingest/publish.h"

#include "service/base/mem.h"
#include "service/ingest/crew.h"
#include "service/retrieval/generation.h"
#include "service/retrieval/store_files.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { GENERATIONS_KEPT = 1 }; /* before the live one, for a rollback */

/* One partition of the run: documents begin .. end - 1. */
struct part {
    size_t begin, end;
    struct generation_entry *entry;
    bool built;
};

struct publishing {
    const struct collect *c;
    struct ingest_report *report;
    struct generation live;
    struct generation_entry *entries; /* of the next generation */
    size_t n;
    struct part *parts;
    struct doc_input *docs; /* as segment_input wants them, in the order of c->docs */
};

static void progress(const struct publishing *p, uint64_t done)
{
    const struct ingest_options *o = p->c->options;
    if (o->on_progress) {
        o->on_progress(o->arg, "build", done, p->report->partitions);
    }
}

/* Partitions */

static const struct doc_scope *scope_at(const struct publishing *p, size_t i)
{
    return &p->c->docs[i].head.scope;
}

static size_t partition_end(const struct publishing *p, size_t begin)
{
    size_t end = begin + 1;
    while (end < p->c->n && doc_scope_cmp(scope_at(p, begin), scope_at(p, end)) == 0) {
        end++;
    }
    return end;
}

static void fill_docs(struct publishing *p)
{
    for (size_t i = 0; i < p->c->n; i++) {
        const struct document *d = &p->c->docs[i];
        p->docs[i] = (struct doc_input){.doc_id = d->head.doc_id,
                                        .title = d->head.title,
                                        .source_url = d->head.source_url,
                                        .published = d->head.published,
                                        .chunks = d->chunks,
                                        .n_chunks = d->n_chunks};
    }
    for (size_t i = 0; i < p->c->n; i = partition_end(p, i)) {
        p->report->partitions++;
    }
}

/* Documents are sorted by collection. */
static bool is_replaced(const struct publishing *p, struct slice collection)
{
    size_t low = 0, high = p->c->n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = slice_cmp(scope_at(p, middle)->collection, collection);
        if (order == 0) {
            return true;
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return false;
}

static void carry_over(struct publishing *p)
{
    for (size_t i = 0; i < p->live.n; i++) {
        if (!is_replaced(p, p->live.entries[i].partition.scope.collection)) {
            p->entries[p->n++] = p->live.entries[i];
        }
    }
}

/* Checks before anything is built */

static void warn(const struct publishing *p, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void warn(const struct publishing *p, const char *format, ...)
{
    const struct ingest_options *o = p->c->options;
    struct err_detail text;
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text.text, sizeof(text.text), format, args);
    va_end(args);
    if (o->on_warning) {
        o->on_warning(o->arg, text.text);
    }
}

static bool check_partitions(const struct publishing *p, struct err_detail *detail)
{
    uint64_t n = p->n + p->report->partitions;
    if (n > INGEST_PARTITIONS_MAX) {
        err_detail_set(detail,
                       "the store would have %llu partitions, and %d is the most; a partition is a "
                       "collection, a doc_type and a set of labels: use fewer of them",
                       (unsigned long long)n, INGEST_PARTITIONS_MAX);
        return false;
    }
    if (n > INGEST_PARTITIONS_WARN) {
        warn(p,
             "the store has %llu partitions (each collection, doc_type and set of labels is one); "
             "above %d searches slow down, above %d are refused",
             (unsigned long long)n, INGEST_PARTITIONS_WARN, INGEST_PARTITIONS_MAX);
    }
    return true;
}

static uint64_t count_live(const struct publishing *p, struct slice collection)
{
    uint64_t n = 0;
    for (size_t i = 0; i < p->live.n; i++) {
        const struct partition *live = &p->live.entries[i].partition;
        n += slice_eq(live->scope.collection, collection) ? live->n_docs : 0;
    }
    return n;
}

/* What a broken manifest leaves out, the replaced collection loses. */
static void warn_of_losses(const struct publishing *p)
{
    for (size_t i = 0, end; i < p->c->n; i = end) {
        struct slice collection = scope_at(p, i)->collection;
        uint64_t before = count_live(p, collection);
        for (end = i + 1; end < p->c->n && slice_eq(scope_at(p, end)->collection, collection);) {
            end++;
        }
        if (end - i < before) {
            warn(p,
                 "the manifest has a mistake, and collection %.*s goes from %llu documents to %llu",
                 (int)collection.n, collection.p, (unsigned long long)before,
                 (unsigned long long)(end - i));
        }
    }
}

/* Segments */

static bool is_unharmed(const struct segment_paths *paths, const struct segment_files *files)
{
    struct digest texts, index;
    return store_digest(paths->texts, &texts, NULL) && digest_eq(&texts, &files->texts) &&
           store_digest(paths->index, &index, NULL) && digest_eq(&index, &files->index);
}

/* The live entry with that scope and content, if its files are unharmed. */
static const struct generation_entry *find_live(const struct publishing *p,
                                                const struct doc_scope *scope,
                                                const struct digest *content,
                                                const struct segment_paths *paths)
{
    for (size_t i = 0; i < p->live.n; i++) {
        const struct generation_entry *e = &p->live.entries[i];
        if (digest_eq(&e->partition.content, content) &&
            doc_scope_cmp(&e->partition.scope, scope) == 0) {
            return is_unharmed(paths, &e->files) ? e : NULL;
        }
    }
    return NULL;
}

static bool move(const char *from, const char *to, struct err_detail *detail)
{
    if (rename(from, to) != 0) {
        err_detail_set(detail, "%s: cannot rename: %s", from, strerror(errno));
        return false;
    }
    return true;
}

static bool build(const struct segment_input *in, const struct digest *content,
                  const struct segment_paths *paths, const struct segment_paths *fresh,
                  struct segment_files *ret_files, struct err_detail *detail)
{
    unlink(fresh->texts); /* of an interrupted run */
    unlink(fresh->index);
    if (!segment_write(in, content, fresh, ret_files, detail)) {
        unlink(fresh->texts);
        unlink(fresh->index);
        return false;
    }
    return move(fresh->texts, paths->texts, detail) && move(fresh->index, paths->index, detail) &&
           store_sync_parent(paths->index, detail);
}

static uint64_t count_chunks(const struct segment_input *in)
{
    uint64_t n = 0;
    for (size_t i = 0; i < in->n_docs; i++) {
        n += in->docs[i].n_chunks;
    }
    return n;
}

/* On any thread: what is shared is only read. */
static bool add_partition(const struct publishing *p, struct part *part, struct err_detail *detail)
{
    struct segment_input in = {.scope = *scope_at(p, part->begin),
                               .docs = p->docs + part->begin,
                               .n_docs = part->end - part->begin};
    struct generation_entry *entry = part->entry;
    struct segment_paths paths, fresh;
    *entry = (struct generation_entry){
        .partition = {.scope = in.scope, .n_docs = in.n_docs, .n_chunks = count_chunks(&in)}};
    segment_content_digest(&in, &entry->partition.content);
    const struct digest *content = &entry->partition.content;
    if (!generation_segment_paths(p->c->options->store_dir, content, "", &paths) ||
        !generation_segment_paths(p->c->options->store_dir, content, ".new", &fresh)) {
        err_detail_set(detail, "the store's path is too long");
        return false;
    }
    const struct generation_entry *live = find_live(p, &in.scope, content, &paths);
    if (live) {
        entry->files = live->files;
        return true;
    }
    part->built = true;
    return build(&in, content, &paths, &fresh, &entry->files, detail);
}

static bool run_part(void *arg, size_t task, struct err_detail *detail)
{
    const struct publishing *p = arg;
    return add_partition(p, &p->parts[task], detail);
}

static void on_parts_done(void *arg, size_t n_done)
{
    progress(arg, n_done);
}

static void list_parts(struct publishing *p)
{
    p->parts = mem_array(p->report->partitions, sizeof(*p->parts));
    for (size_t i = 0, n = 0; i < p->c->n; n++) {
        p->parts[n] = (struct part){i, partition_end(p, i), &p->entries[p->n++], false};
        i = p->parts[n].end;
    }
}

static bool add_partitions(struct publishing *p, struct err_detail *detail)
{
    const struct crew_tasks tasks = {
        .n = p->report->partitions, .run = run_part, .on_done = on_parts_done, .arg = p};
    list_parts(p);
    bool good = crew_run(&tasks, crew_size(tasks.n), detail);
    for (size_t i = 0; i < tasks.n; i++) {
        p->report->built += p->parts[i].built;
    }
    return good;
}

/* The generation */

static int compare_entries(const void *a, const void *b)
{
    return doc_scope_cmp(&((const struct generation_entry *)a)->partition.scope,
                         &((const struct generation_entry *)b)->partition.scope);
}

/* With nothing built, every entry is a live one: equal numbers mean equal lists. */
static bool is_changed(const struct publishing *p)
{
    return p->report->built > 0 || p->n != p->live.n;
}

static bool read_name(const char *store_dir, struct ingest_report *report,
                      struct err_detail *detail)
{
    struct generation g;
    if (!generation_read(store_dir, &g, detail)) {
        return false;
    }
    snprintf(report->generation, sizeof(report->generation), "%s", g.name);
    generation_done(&g);
    return true;
}

static bool publish_locked(struct publishing *p, struct err_detail *detail)
{
    const char *store_dir = p->c->options->store_dir;
    if (!generation_read(store_dir, &p->live, detail)) {
        return false;
    }
    p->docs = mem_array(p->c->n, sizeof(*p->docs));
    p->entries = mem_array(p->c->n + p->live.n, sizeof(*p->entries));
    fill_docs(p);
    carry_over(p);
    bool ok = check_partitions(p, detail);
    if (ok && p->c->manifest_doubt) {
        warn_of_losses(p);
    }
    ok = ok && add_partitions(p, detail);
    qsort(p->entries, p->n, sizeof(*p->entries), compare_entries);
    if (ok && is_changed(p)) {
        ok = generation_publish(store_dir, p->entries, p->n, detail);
    }
    ok = ok && read_name(store_dir, p->report, detail);
    if (ok) {
        generation_collect(store_dir, GENERATIONS_KEPT);
    }
    free(p->docs);
    free(p->parts);
    free(p->entries);
    generation_done(&p->live);
    return ok;
}

bool publish_documents(const struct collect *c, struct ingest_report *report,
                       struct err_detail *detail)
{
    struct publishing p = {.c = c, .report = report};
    int lock = generation_lock(c->options->store_dir, detail);
    if (lock < 0) {
        return false;
    }
    bool ok = publish_locked(&p, detail);
    close(lock);
    return ok;
}
