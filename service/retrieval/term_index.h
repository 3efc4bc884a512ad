/* SPDX-License-Identifier: Apache-2.0 */
/* term_index: the inverted index of a segment while it is being built.
 *
 * Count a chunk's terms with term_index_count, end the chunk, and at last sort. */
#ifndef RETRIEVAL_TERM_INDEX_H
#define RETRIEVAL_TERM_INDEX_H

#include "service/base/arena.h"
#include "service/base/err.h"
#include "service/retrieval/postings.h"

struct term_entry {
    struct slice term;
    uint64_t hash; /* segment_hash, since term_index_sort */
    struct postings_writer postings;
    uint32_t tf; /* in the chunk being counted */
};

struct term_index {
    struct arena arena; /* the terms */
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

/* Writes the counts of `chunk` (ascending) to the postings and returns its length: the sum of its
 * weighted term frequencies, at most SEGMENT_LENGTH_MAX. */
uint32_t term_index_end_chunk(struct term_index *x, uint32_t chunk);

/* Gives every term its hash. */
void term_index_hash(struct term_index *x);

/* Sorts by hash as a signed number, the order in which SQLite stores row ids. False where two
 * terms share a hash, or a list passed SEGMENT_BLOB_MAX_BYTES. */
bool term_index_sort(struct term_index *x, struct err_detail *detail);

#endif
