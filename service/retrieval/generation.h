/* SPDX-License-Identifier: Apache-2.0 */
/* generation: the list of live segments of a store, published by one atomic rename.
 *
 *   STORE/CURRENT                      the name of the live generation file and a newline
 *   STORE/generations/<n>.json         {"format":1,"segments":[{…}]}, n counts up
 *   STORE/segments/<content hex>.seg   named by content, so an unchanged partition is never rebuilt
 *   STORE/lock                         held (flock) by the one writer
 *
 * Blocking: yes. */
#ifndef RETRIEVAL_GENERATION_H
#define RETRIEVAL_GENERATION_H

#include "service/base/arena.h"
#include "service/base/err.h"
#include "service/retrieval/view.h"

struct generation_entry {
    struct partition partition;
    struct digest file; /* SHA-256 of the segment file */
};

struct generation {
    struct arena arena;
    char name[64];                    /* "" where the store has none yet */
    struct generation_entry *entries; /* sorted by doc_scope_cmp */
    size_t n;
};

/* Reads what CURRENT names; an absent CURRENT is an empty generation with no name. */
bool generation_read(const char *store_dir, struct generation *ret_generation,
                     struct err_detail *detail);
void generation_done(struct generation *g);

/* The store's write lock (a file descriptor to close), creating the folders; -1 with a reason when
 * another writer holds it. */
int generation_lock(const char *store_dir, struct err_detail *detail);

/* Writes the next generation file, fsyncs it and its folder, then points CURRENT at it by rename
 * and fsyncs again. The caller holds the lock; entries sorted. Any failure leaves CURRENT as it
 * was. */
bool generation_publish(const char *store_dir, const struct generation_entry *entries, size_t n,
                        struct err_detail *detail);

/* Removes segment and generation files that neither the live generation nor the `keep` before it
 * name, and leftovers of an interrupted ingest. The caller holds the lock. */
void generation_collect(const char *store_dir, size_t keep);

/* STORE/segments/<content hex>.seg in `ret_path`. */
void generation_segment_path(const char *store_dir, const struct digest *content, char *ret_path,
                             size_t path_size);

#endif
