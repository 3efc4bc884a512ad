/* SPDX-License-Identifier: Apache-2.0 */
/* snapshot: one generation with all its segments open.
 *
 * Thread: any; immutable and reference-counted. */
#ifndef RETRIEVAL_SNAPSHOT_H
#define RETRIEVAL_SNAPSHOT_H

#include "service/retrieval/segment_reader.h"

struct snapshot {
    char generation[64];
    struct segment_reader **segments; /* sorted by doc_scope_cmp */
    size_t n;
    uint64_t n_docs, n_chunks;
    unsigned refs; /* atomic */
    struct snapshot *next_retired;
};

/* Opens what the generation names, n_slots connections each; segments that `previous` (may be NULL)
 * holds already are shared and not hashed again. NULL with a reason. Blocking: yes. */
struct snapshot *snapshot_open(const char *store_dir, const struct generation *g,
                               const struct snapshot *previous, unsigned n_slots,
                               struct err_detail *detail);
struct snapshot *snapshot_ref(struct snapshot *s);
void snapshot_unref(struct snapshot *s);

/* Closing a snapshot's files takes longer than a serving loop has, so the last view of an old one
 * must not do it: whoever switches retires the old snapshot, which keeps the caller's reference on
 * the list, and sweeps the list from time to time. all: also those that are still in use (at the
 * end). */
void snapshot_retire(struct snapshot **list, struct snapshot *s);
void snapshot_sweep(struct snapshot **list, bool all);

/* Same partitions with the same content in the same files. */
bool snapshot_is_generation(const struct snapshot *s, const struct generation *g);

#endif
