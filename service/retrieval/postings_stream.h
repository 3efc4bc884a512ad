/* SPDX-License-Identifier: Apache-2.0 */
/* postings_stream: the chunks that hold one term, as bytes: (distance to the chunk before, tf)
 * pairs of little-endian base-128 numbers.
 *
 * Only this module knows the form. Pure. Failure: the cursor checks every byte it reads; damaged
 * postings end it with `bad` set. */
#ifndef RETRIEVAL_POSTINGS_STREAM_H
#define RETRIEVAL_POSTINGS_STREAM_H

#include "service/base/dynbuf.h"

struct postings_writer {
    struct dynbuf bytes;
    uint32_t df;
    uint32_t next_chunk; /* chunks come in ascending order */
};

void postings_writer_init(struct postings_writer *w, size_t max_bytes);
void postings_writer_done(struct postings_writer *w);

/* chunk above the one before; tf 1 .. SEGMENT_TF_MAX. */
void postings_add(struct postings_writer *w, uint32_t chunk, uint32_t tf);

struct postings_reader {
    struct slice rest;
    uint32_t left;     /* postings not read yet */
    uint32_t n_chunks; /* of the segment */
    uint32_t next_chunk;
    uint32_t chunk, tf; /* the current posting */
    bool bad;
};

void postings_reader_open(struct postings_reader *c, struct slice bytes, uint32_t df,
                          uint32_t n_chunks);

/* Moves to the next posting; false at the end or where `bad` is set. */
bool postings_reader_next(struct postings_reader *c);

#endif
