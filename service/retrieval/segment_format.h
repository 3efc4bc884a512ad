/* SPDX-License-Identifier: Apache-2.0 */
/* segment_format: what the writer and the reader of a segment file agree on.
 *
 *   meta(key, value)      format, analysis_version, content, collection, doc_type, chunk_info …
 *   label(label, name)    the partition's labels, sorted
 *   doc(doc, …)           in the order of doc_id; its chunks are first_chunk .. + n_chunks - 1
 *   chunk(chunk, text)    in the order of (doc_id, position), numbered from 0
 *   term(hash, term, df, postings)
 * A changed format takes another file suffix (generation_segment_path), so that a file is never
 * reused under the wrong one. */
#ifndef RETRIEVAL_SEGMENT_FORMAT_H
#define RETRIEVAL_SEGMENT_FORMAT_H

#include "service/base/slice.h"

#include <stdint.h>

enum {
    SEGMENT_FORMAT = 1,

    /* How much an occurrence counts, by field; the title counts in each chunk of its document. */
    SEGMENT_TITLE_WEIGHT = 2,
    SEGMENT_CONTEXT_WEIGHT = 1,
    SEGMENT_TEXT_WEIGHT = 1,

    SEGMENT_TF_MAX = 65535,                   /* a larger weighted term frequency counts as this */
    SEGMENT_LENGTH_MAX = (1 << 20) - 1,       /* a longer chunk counts as this long */
    SEGMENT_MAX_CHUNKS = 1 << 24,             /* more do not go into one segment */
    SEGMENT_BLOB_MAX_BYTES = 900000000,       /* below SQLite's own 10^9 */
    SEGMENT_CHUNK_INFO_BYTES = 4 + 4 + 4 + 8, /* doc, position, length, text hash */
};

/* The first 8 bytes of SHA-256: keys terms and finds equal texts. Cheap hashes let an author of
 * documents make terms collide; this one does not. */
uint64_t segment_hash(struct slice bytes);

/* Integers in chunk_info, least significant byte first. */
void segment_put(char *at, uint64_t value, size_t n_bytes);
uint64_t segment_get(const char *at, size_t n_bytes);

#endif
