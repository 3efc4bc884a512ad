/* SPDX-License-Identifier: Apache-2.0 */
/* segment_index: the mapped index file of a segment (its form: segment_format.h).
 *
 * Sums, ranges and orders are checked once, when it is opened, so that a query may index the tables
 * without asking; a term's record is checked where it is read. Nothing is copied or allocated.
 * Thread: any. Blocking: where pages are not in memory yet. The mapping outlives the file's name.
 * Failure: false with a reason that names the file; ERR_INTERNAL for a damaged record. */
#ifndef RETRIEVAL_SEGMENT_INDEX_H
#define RETRIEVAL_SEGMENT_INDEX_H

#include "service/retrieval/generation.h"
#include "service/retrieval/segment_format.h"

struct segment_index {
    struct segment_header header;
    uint64_t seed;
    const char *map; /* NULL: not open */
    size_t size;
    const char *lengths, *chunks, *docs, *ids, *directory;
    struct slice records, postings;
};

struct segment_doc {
    struct slice doc_id; /* valid while the index is open */
    int32_t published;   /* or NO_DATE */
    uint32_t first_chunk, n_chunks;
};

struct segment_chunk {
    uint64_t text_hash;
    uint32_t doc, position, length;
};

/* A term with its hash, which is taken once for all segments. */
struct segment_term {
    struct slice text;
    uint64_t hash;
};

/* Maps the file and checks that it is the one that entry describes. */
bool segment_index_open(struct segment_index *x, const char *path,
                        const struct generation_entry *entry, struct err_detail *detail);
void segment_index_close(struct segment_index *x);

/* The term's postings, valid while the index is open; *ret_df is 0 where no chunk holds it. */
enum err segment_index_find(const struct segment_index *x, const struct segment_term *term,
                            uint32_t *ret_df, struct slice *ret_bytes);

/* Where the directory names the term's bucket. */
static inline const char *segment_index_directory(const struct segment_index *x,
                                                  const struct segment_term *term)
{
    size_t bucket = segment_bucket_of(term->hash, x->seed, x->header.n_buckets);
    return x->directory + bucket * SEGMENT_DIRECTORY_BYTES;
}

/* The records of the bucket in which the term is, if anywhere. */
static inline struct slice segment_index_bucket(const struct segment_index *x,
                                                const struct segment_term *term)
{
    const char *at = segment_index_directory(x, term);
    uint32_t begin = segment_get_u32(at), end = segment_get_u32(at + SEGMENT_DIRECTORY_BYTES);
    return (struct slice){x->records.p + begin, end - begin};
}

static inline uint32_t segment_index_length(const struct segment_index *x, uint32_t chunk)
{
    return segment_get_u32(x->lengths + (size_t)chunk * SEGMENT_LENGTH_BYTES);
}

static inline struct segment_chunk segment_index_chunk(const struct segment_index *x,
                                                       uint32_t chunk)
{
    const char *row = x->chunks + (size_t)chunk * SEGMENT_CHUNK_BYTES;
    return (struct segment_chunk){
        .text_hash = segment_get_u64(row + 8),
        .doc = segment_get_u32(row),
        .position = segment_get_u32(row + 4),
        .length = segment_index_length(x, chunk),
    };
}

/* Of the chunk's document. */
static inline int32_t segment_index_published(const struct segment_index *x, uint32_t chunk)
{
    size_t doc = segment_get_u32(x->chunks + (size_t)chunk * SEGMENT_CHUNK_BYTES);
    return (int32_t)segment_get_u32(x->docs + doc * SEGMENT_DOC_BYTES + 8);
}

static inline struct segment_doc segment_index_doc(const struct segment_index *x, uint32_t doc)
{
    const char *row = x->docs + (size_t)doc * SEGMENT_DOC_BYTES;
    const char *next = row + SEGMENT_DOC_BYTES;
    uint64_t begin = segment_get_u64(row), end = segment_get_u64(next);
    uint32_t first = segment_get_u32(row + 12);
    return (struct segment_doc){
        .doc_id = {x->ids + begin, (size_t)(end - begin)},
        .published = (int32_t)segment_get_u32(row + 8),
        .first_chunk = first,
        .n_chunks = segment_get_u32(next + 12) - first,
    };
}

#endif
