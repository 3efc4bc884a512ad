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
};

/* Opens what the generation names, n_slots connections each; segments that `previous` (may be NULL)
 * holds already are shared and not hashed again. NULL with a reason. Blocking: yes. */
struct snapshot *snapshot_open(const char *store_dir, const struct generation *g,
                               const struct snapshot *previous, unsigned n_slots,
                               struct err_detail *detail);
struct snapshot *snapshot_ref(struct snapshot *s);
void snapshot_unref(struct snapshot *s);

/* Same partitions with the same content in the same files. */
bool snapshot_is_generation(const struct snapshot *s, const struct generation *g);

#endif
