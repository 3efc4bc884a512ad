/* SPDX-License-Identifier: Apache-2.0 */
/* generation: the list of live segments of a store, published by one atomic rename.
 *
 *   STORE/CURRENT                      the name of the live generation file and a newline
 *   STORE/generations/<n>.json         {"format":3,"segments":[{…}]}, n counts up
 *   STORE/segments/<content hex>.seg   a segment's texts; named by content, so that an unchanged
 *   STORE/segments/<content hex>.idx   partition is never rebuilt; and its index
 *   STORE/lock                         held (flock) by the one writer
 *
 * Blocking: yes. */
#ifndef RETRIEVAL_GENERATION_H
#define RETRIEVAL_GENERATION_H

#include "service/base/arena.h"
#include "service/base/err.h"
#include "service/retrieval/store_files.h"
#include "service/retrieval/view.h"

/* The SHA-256 of each file of a segment. */
struct segment_files {
    struct digest texts, index;
};

struct generation_entry {
    struct partition partition;
    struct segment_files files;
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

/* Where the files of a segment are; `suffix` goes behind both names. False where a path is too
 * long. */
struct segment_paths {
    char texts[STORE_PATH_MAX], index[STORE_PATH_MAX];
};

bool generation_segment_paths(const char *store_dir, const struct digest *content,
                              const char *suffix, struct segment_paths *ret_paths);

#endif
