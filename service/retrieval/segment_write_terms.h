/* SPDX-License-Identifier: Apache-2.0 */
/* segment_write_terms: the sections of an index file that look-ups of terms read (their form:
 * segment_format.h).
 *
 * Pure. Failure: a section that grows past its ceiling has `failed` set. */
#ifndef RETRIEVAL_SEGMENT_WRITE_TERMS_H
#define RETRIEVAL_SEGMENT_WRITE_TERMS_H

#include "service/base/dynbuf.h"
#include "service/retrieval/term_index.h"

/* The caller makes them, empty and with their ceilings, and releases them. */
struct term_sections {
    struct dynbuf directory, records, postings;
};

uint32_t segment_buckets_for(size_t n_terms);

/* seed: segment_seed of the content; lengths: of the n_chunks chunks, by number. */
void segment_write_terms(const struct term_index *terms, uint64_t seed, const uint32_t *lengths,
                         uint32_t n_chunks, struct term_sections *out);

#endif
