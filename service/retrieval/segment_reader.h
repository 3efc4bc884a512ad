/* SPDX-License-Identifier: Apache-2.0 */
/* segment_reader: one checked and opened segment.
 *
 * What every query needs (dates, lengths, ids) is in memory; texts and postings are read from the
 * file. All files are opened at once, so deleting them later does no harm to a reader.
 * Thread:    any; a slot (one connection) by one thread at a time.     Blocking: yes, but for
 * segment_find_doc and segment_chunk_cmp.      Ownership: reference-counted. Failure: ERR_INTERNAL
 * where the file does not hold what it should. */
#ifndef RETRIEVAL_SEGMENT_READER_H
#define RETRIEVAL_SEGMENT_READER_H

#include "service/base/arena.h"
#include "service/retrieval/generation.h"

struct segment_doc {
    struct slice doc_id;
    int32_t published; /* or NO_DATE */
    uint32_t first_chunk, n_chunks;
};

struct segment_chunk {
    uint64_t text_hash;
    uint32_t doc, position, length;
};

struct segment_slot; /* a connection and its statements */

struct segment_reader {
    struct partition partition; /* as its own meta says */
    struct digest file;
    uint64_t total_length;
    uint32_t n_docs, n_chunks;
    struct segment_doc *docs; /* by doc_id */
    struct segment_chunk *chunks;
    struct arena arena; /* the rest is the reader's */
    struct segment_slot *slots;
    unsigned n_slots;
    unsigned refs; /* atomic */
};

/* Hashes the file, opens it n_slots times and checks it against what the generation says. NULL with
 * a reason that names the file. */
struct segment_reader *segment_reader_open(const char *path, const struct generation_entry *entry,
                                           unsigned n_slots, struct err_detail *detail);
struct segment_reader *segment_reader_ref(struct segment_reader *r);
void segment_reader_unref(struct segment_reader *r);

static inline struct segment_doc segment_doc_at(const struct segment_reader *r, uint32_t doc)
{
    return r->docs[doc];
}

static inline struct segment_chunk segment_chunk_at(const struct segment_reader *r, uint32_t chunk)
{
    return r->chunks[chunk];
}

static inline uint32_t segment_length_at(const struct segment_reader *r, uint32_t chunk)
{
    return r->chunks[chunk].length;
}

/* Of the chunk's document. */
static inline int32_t segment_published_at(const struct segment_reader *r, uint32_t chunk)
{
    return r->docs[r->chunks[chunk].doc].published;
}

/* The postings of a term, copied into `arena`; *ret_df is 0 where no chunk holds it. */
enum err segment_postings(struct segment_reader *r, unsigned slot, struct slice term,
                          struct arena *arena, uint32_t *ret_df, struct slice *ret_bytes);

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
