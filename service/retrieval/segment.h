/* SPDX-License-Identifier: Apache-2.0 */
/* segment: one partition's content version as two immutable files, and what goes into them.
 *
 * Blocking: yes; for ingest. The reader's side is segment_reader.h. */
#ifndef RETRIEVAL_SEGMENT_H
#define RETRIEVAL_SEGMENT_H

#include "scope/filter.h"
#include "service/base/err.h"
#include "service/retrieval/backend.h"
#include "service/retrieval/generation.h"

struct chunk_input {
    uint32_t position;    /* ascending in its document */
    struct slice text;    /* valid UTF-8; shown and indexed */
    struct slice context; /* valid UTF-8; indexed, never shown; SLICE_NONE: none */
};

struct doc_input {
    struct slice doc_id, title; /* valid UTF-8; title may be empty */
    struct slice source_url;    /* SLICE_NONE: none */
    int32_t published;          /* days since 1970-01-01, or NO_DATE */
    const struct chunk_input *chunks;
    size_t n_chunks;
};

struct segment_input {
    struct doc_scope scope;
    const struct doc_input *docs; /* sorted by doc_id bytewise, distinct, each with a chunk */
    size_t n_docs;
};

/* SHA-256 over the chunks in id order: every indexed and returned field, length-prefixed, and the
 * indexing profile (analysis version, field weights). The same on any machine and in any input
 * order (the caller sorts). */
void segment_content_digest(const struct segment_input *in, struct digest *ret_content);

/* Writes the segment's files (which must not exist), fsyncs them and returns the SHA-256 of each.
 * The same input gives the same bytes. False with a reason (disk full …); partial files may be
 * left. Thread: any, each with its own files. */
bool segment_write(const struct segment_input *in, const struct digest *content,
                   const struct segment_paths *paths, struct segment_files *ret_files,
                   struct err_detail *detail);

#endif
