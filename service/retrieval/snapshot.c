/* SPDX-License-Identifier: Apache-2.0 */
/* Everything is opened before anybody sees the snapshot: what ingest deletes afterwards is still
 * there for those who hold it. */
#include "service/retrieval/snapshot.h"

#include "service/base/mem.h"
#include "service/retrieval/store_files.h"

#include <stdio.h>
#include <stdlib.h>

static bool is_entry(const struct segment_reader *r, const struct generation_entry *e)
{
    return digest_eq(&r->files.texts, &e->files.texts) &&
           digest_eq(&r->files.index, &e->files.index) &&
           digest_eq(&r->partition.content, &e->partition.content) &&
           doc_scope_cmp(&r->partition.scope, &e->partition.scope) == 0 &&
           r->partition.n_docs == e->partition.n_docs &&
           r->partition.n_chunks == e->partition.n_chunks;
}

static struct segment_reader *find_open(const struct snapshot *s, const struct generation_entry *e)
{
    size_t low = 0, high = s ? s->n : 0;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct segment_reader *r = s->segments[middle];
        int order = doc_scope_cmp(&r->partition.scope, &e->partition.scope);
        if (order == 0) {
            return is_entry(r, e) ? r : NULL;
        }
        if (order < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return NULL;
}

static struct segment_reader *open_segment(const char *store_dir, const struct generation_entry *e,
                                           const struct snapshot *previous, unsigned n_slots,
                                           struct err_detail *detail)
{
    struct segment_paths paths;
    struct segment_reader *open = find_open(previous, e);
    if (open) {
        return segment_reader_ref(open);
    }
    if (!generation_segment_paths(store_dir, &e->partition.content, "", &paths)) {
        err_detail_set(detail, "the store's path is too long");
        return NULL;
    }
    return segment_reader_open(&paths, e, n_slots, detail);
}

struct snapshot *snapshot_open(const char *store_dir, const struct generation *g,
                               const struct snapshot *previous, unsigned n_slots,
                               struct err_detail *detail)
{
    struct snapshot *s = mem_alloc(sizeof(*s));
    s->refs = 1;
    s->segments = mem_array(g->n, sizeof(struct segment_reader *));
    snprintf(s->generation, sizeof(s->generation), "%s", g->name);
    for (size_t i = 0; i < g->n; i++) {
        struct segment_reader *r =
            open_segment(store_dir, &g->entries[i], previous, n_slots, detail);
        if (!r) {
            snapshot_unref(s);
            return NULL;
        }
        s->segments[s->n++] = r;
        s->n_docs += r->n_docs;
        s->n_chunks += r->n_chunks;
    }
    return s;
}

struct snapshot *snapshot_ref(struct snapshot *s)
{
    __atomic_add_fetch(&s->refs, 1, __ATOMIC_RELAXED);
    return s;
}

void snapshot_unref(struct snapshot *s)
{
    if (!s || __atomic_sub_fetch(&s->refs, 1, __ATOMIC_ACQ_REL) > 0) {
        return;
    }
    for (size_t i = 0; i < s->n; i++) {
        segment_reader_unref(s->segments[i]);
    }
    free(s->segments);
    free(s);
}

void snapshot_retire(struct snapshot **list, struct snapshot *s)
{
    if (s) {
        s->next_retired = *list;
        *list = s;
    }
}

/* A count of 1 is the list's own and cannot grow: only a holder can make another. */
void snapshot_sweep(struct snapshot **list, bool all)
{
    while (*list) {
        struct snapshot *s = *list;
        if (all || __atomic_load_n(&s->refs, __ATOMIC_ACQUIRE) == 1) {
            *list = s->next_retired;
            snapshot_unref(s);
        } else {
            list = &s->next_retired;
        }
    }
}

bool snapshot_is_generation(const struct snapshot *s, const struct generation *g)
{
    bool same = strcmp(s->generation, g->name) == 0 && s->n == g->n;
    for (size_t i = 0; same && i < g->n; i++) {
        same = is_entry(s->segments[i], &g->entries[i]);
    }
    return same;
}
