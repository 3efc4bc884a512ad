/* SPDX-License-Identifier: Apache-2.0 */
/* segment_format: what the writer and the reader of a segment's two files agree on.
 *
 * The texts file (.seg) is an SQLite database:
 *   meta(key, value)              format, content, collection, doc_type, n_docs, n_chunks
 *   label(label, name)            the partition's labels, sorted
 *   doc(doc, title, source_url)   numbered from 0 in the order of doc_id
 *   chunk(chunk, text)            numbered from 0 in the order of (doc_id, position)
 *
 * The index file (.idx) is read where it is mapped: a header and sections, each aligned to 8 bytes,
 * whose places follow from the counts in the header. Integers are least significant byte first.
 *   lengths   4 bytes a chunk
 *   chunks    a chunk: doc 4, position 4, text hash 8
 *   docs      a document, and one row behind the last: where its id begins 8, published 4, its
 *             first chunk 4; both begin and end with the next row
 *   ids       the document ids, one behind the other
 *   directory where the records of each bucket begin, and where those of the last end: 4 each
 *   records   bucket by bucket, the terms of one in the order in which they were first seen. A
 * term: its length 1, its bytes, df and the size of its postings in 1, postings. df takes the
 *             lowest 3 bits; if it is 0 there, the number follows as a varint. If the size is 0, it
 *             follows likewise, and then, instead of the postings, their place in 5
 *   postings  those that are not in the records
 * A term is looked for in one bucket, which its hash chooses; four terms share one on average, so
 * that two or three lines of the processor's cache tell where it is or that it is not.
 * A changed form of either file takes another generation format too, so that a file is never taken
 * over under the wrong one. */
#ifndef RETRIEVAL_SEGMENT_FORMAT_H
#define RETRIEVAL_SEGMENT_FORMAT_H

#include "service/base/slice.h"
#include "service/digest/digest.h"

#include <stdint.h>

enum {
    SEGMENT_FORMAT = 3,

    /* How much an occurrence counts, by field; the title counts in each chunk of its document. */
    SEGMENT_TITLE_WEIGHT = 3,
    SEGMENT_CONTEXT_WEIGHT = 1,
    SEGMENT_TEXT_WEIGHT = 1,

    SEGMENT_TF_MAX = 65535,             /* a larger weighted term frequency counts as this */
    SEGMENT_LENGTH_MAX = (1 << 20) - 1, /* a longer chunk counts as this long */
    SEGMENT_MAX_CHUNKS = 1 << 24,       /* more do not go into one segment */
    SEGMENT_TEXT_MAX_BYTES = 900000000, /* of one text; below SQLite's own 10^9 */

    SEGMENT_HEADER_BYTES = 88,
    SEGMENT_LENGTH_BYTES = 4,
    SEGMENT_CHUNK_BYTES = 16,
    SEGMENT_DOC_BYTES = 16,
    SEGMENT_DIRECTORY_BYTES = 4,
    SEGMENT_BUCKET_TERMS = 4, /* on average */
    SEGMENT_DF_BITS = 3,
    SEGMENT_INLINE_MAX = 31, /* longer postings do not lie in the record */
    SEGMENT_PLACE_BYTES = 5,
    SEGMENT_VARINT_MAX_BYTES = 5,
};

#define SEGMENT_INDEX_MAGIC "kbgate-i"
#define SEGMENT_RECORDS_MAX_BYTES (UINT32_MAX & ~(uint32_t)7)

/* What the header says, and what the places of the sections follow from. */
struct segment_header {
    struct digest content;
    uint64_t total_length;
    uint32_t n_docs, n_chunks;
    uint32_t n_buckets;    /* at least 1 */
    uint32_t record_bytes; /* at most SEGMENT_RECORDS_MAX_BYTES, what the directory can name */
    uint64_t id_bytes;
    uint64_t posting_bytes; /* a multiple of 8 */
};

struct segment_layout {
    uint64_t lengths, chunks, docs, ids, directory, records, postings, size;
};

/* False where a section is larger than it may be. */
bool segment_layout_of(const struct segment_header *h, struct segment_layout *ret_layout);

/* The first 8 bytes of SHA-256: keys terms and finds equal texts. Cheap hashes let an author of
 * documents make terms collide; this one does not. */
uint64_t segment_hash(struct slice bytes);

/* Where a term's record is. `seed` is segment_seed of the content, so that whoever writes a
 * document cannot aim its terms at one bucket before all of the content is known. */
static inline uint32_t segment_bucket_of(uint64_t hash, uint64_t seed, uint32_t n_buckets)
{
    uint64_t mixed = (hash ^ seed) * 0x9E3779B97F4A7C15u;
    return (uint32_t)((mixed >> 32) * n_buckets >> 32);
}

uint64_t segment_seed(const struct digest *content);

/* Byte order is spelt out, so that a segment can be copied between machines; compilers make one
 * load of it. */
static inline uint32_t segment_get_u32(const char *at)
{
    const unsigned char *p = (const unsigned char *)at;
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline uint64_t segment_get_u64(const char *at)
{
    const unsigned char *p = (const unsigned char *)at;
    return (uint64_t)p[0] | (uint64_t)p[1] << 8 | (uint64_t)p[2] << 16 | (uint64_t)p[3] << 24 |
           (uint64_t)p[4] << 32 | (uint64_t)p[5] << 40 | (uint64_t)p[6] << 48 |
           (uint64_t)p[7] << 56;
}

void segment_put(char *at, uint64_t value, size_t n_bytes);

/* 7 bits a byte, the lowest first; a set top bit says that more follow. Read: false where the
 * number has more than max_bytes (at most SEGMENT_VARINT_MAX_BYTES) or does not fit. */
void segment_add_varint(struct dynbuf *out, uint32_t value);
bool segment_read_varint(struct slice *rest, size_t max_bytes, uint32_t *ret_value);

#endif
