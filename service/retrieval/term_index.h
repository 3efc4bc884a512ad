/* SPDX-License-Identifier: Apache-2.0 */
/* term_index: the inverted index of a segment while it is being built.
 *
 * Count a chunk's terms with term_index_count and end the chunk; at last read each term's postings
 * back. Terms are numbered in the order in which they are first seen. */
#ifndef RETRIEVAL_TERM_INDEX_H
#define RETRIEVAL_TERM_INDEX_H

#include "service/base/arena.h"
#include "service/retrieval/byte_runs.h"
#include "service/retrieval/postings.h"

struct term_entry {
    struct slice term;
    struct byte_run run;
    uint32_t slot_hash;
    uint32_t df;
    uint32_t next_chunk; /* above the last one that holds it */
    uint32_t tf;         /* in the chunk being counted */
};

struct term_index {
    struct arena arena; /* the terms */
    struct byte_runs runs;
    struct term_entry *entries;
    size_t n, cap;
    uint32_t *slots; /* open addressing: entry + 1, or 0 */
    size_t n_slots;
    uint32_t *touched; /* entries that occur in the chunk being counted */
    size_t n_touched, cap_touched;
    uint64_t length; /* of the chunk being counted */
};

void term_index_init(struct term_index *x);
void term_index_done(struct term_index *x);

/* The number of a term, new or known. */
uint32_t term_index_id(struct term_index *x, struct slice term);

/* One more occurrence in the chunk being counted. */
void term_index_count(struct term_index *x, uint32_t id, uint32_t weight);

/* Keeps the counts of `chunk` (ascending) and returns its length: the sum of its weighted term
 * frequencies, at most SEGMENT_LENGTH_MAX. */
uint32_t term_index_end_chunk(struct term_index *x, uint32_t chunk);

/* The entries[id].df postings of a term, by chunk. */
void term_index_postings(const struct term_index *x, uint32_t id, struct posting *ret_postings);

#endif
