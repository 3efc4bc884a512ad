/* SPDX-License-Identifier: Apache-2.0 */
/* segment_reader: one checked and opened segment.
 *
 * What a query scores is read from the mapped index file, texts from an SQLite file. Both are
 * opened at once, so deleting them later does no harm to a reader.
 *
 * Thread:    any; a slot (one connection) by one thread at a time.
 * Blocking:  yes, but for what reads the index alone.
 * Ownership: reference-counted.
 * Failure:   ERR_INTERNAL where a file does not hold what it should. */
#ifndef RETRIEVAL_SEGMENT_READER_H
#define RETRIEVAL_SEGMENT_READER_H

#include "service/base/arena.h"
#include "service/retrieval/generation.h"
#include "service/retrieval/segment_index.h"

struct segment_slot; /* a connection and its statements */

struct segment_reader {
    struct partition partition; /* as its own meta says */
    struct segment_files files;
    uint64_t total_length;
    uint32_t n_docs, n_chunks;
    struct segment_index index;
    struct arena arena; /* the rest is the reader's */
    struct segment_slot *slots;
    unsigned n_slots;
    unsigned refs; /* atomic */
};

/* Hashes the files, opens them (the texts n_slots times) and checks them against what the
 * generation says. NULL with a reason that names the file. */
struct segment_reader *segment_reader_open(const struct segment_paths *paths,
                                           const struct generation_entry *entry, unsigned n_slots,
                                           struct err_detail *detail);
struct segment_reader *segment_reader_ref(struct segment_reader *r);
void segment_reader_unref(struct segment_reader *r);

static inline struct segment_doc segment_doc_at(const struct segment_reader *r, uint32_t doc)
{
    return segment_index_doc(&r->index, doc);
}

static inline struct segment_chunk segment_chunk_at(const struct segment_reader *r, uint32_t chunk)
{
    return segment_index_chunk(&r->index, chunk);
}

static inline uint32_t segment_length_at(const struct segment_reader *r, uint32_t chunk)
{
    return segment_index_length(&r->index, chunk);
}

/* The length will be asked for soon. */
static inline void segment_length_soon(const struct segment_reader *r, uint32_t chunk)
{
    __builtin_prefetch(r->index.lengths + (size_t)chunk * SEGMENT_LENGTH_BYTES);
}

/* Of the chunk's document. */
static inline int32_t segment_published_at(const struct segment_reader *r, uint32_t chunk)
{
    return segment_index_published(&r->index, chunk);
}

struct segment_term segment_term_of(struct slice text);

/* The term will be looked up soon. A look-up waits for memory twice, for the second time where the
 * first has told it: call one for every term and later the other. */
static inline void segment_directory_soon(const struct segment_reader *r,
                                          const struct segment_term *term)
{
    __builtin_prefetch(segment_index_directory(&r->index, term));
}

static inline void segment_record_soon(const struct segment_reader *r,
                                       const struct segment_term *term)
{
    __builtin_prefetch(segment_index_bucket(&r->index, term).p);
}

/* The postings of a term, valid as long as the reader; *ret_df is 0 where no chunk holds it. */
static inline enum err segment_postings(const struct segment_reader *r,
                                        const struct segment_term *term, uint32_t *ret_df,
                                        struct slice *ret_bytes)
{
    return segment_index_find(&r->index, term, ret_df, ret_bytes);
}

/* A chunk's text, valid until the slot's next call. */
enum err segment_text(struct segment_reader *r, unsigned slot, uint32_t chunk,
                      struct slice *ret_text);

struct hit_texts {
    struct slice title, source_url, text; /* source_url: SLICE_NONE if the document has none */
};

/* What a hit shows of a chunk (there is one with that number) and its document, valid until the
 * slot's next call. */
enum err segment_hit_texts(struct segment_reader *r, unsigned slot, uint32_t chunk,
                           struct hit_texts *ret_texts);

bool segment_find_doc(const struct segment_reader *r, struct slice doc_id, uint32_t *ret_doc);

/* <collection>/<doc_id>/<position> in `arena`. */
struct slice segment_chunk_id(const struct segment_reader *r, uint32_t chunk, struct arena *arena);

/* Compares two chunk ids bytewise (position 10 before 9) without writing them down. */
int segment_chunk_cmp(const struct segment_reader *a, uint32_t chunk_a,
                      const struct segment_reader *b, uint32_t chunk_b);

#endif
