/* SPDX-License-Identifier: Apache-2.0 */
/* postings_format: what the writer and the cursor of postings agree on. df is stored elsewhere.
 *
 *   df < 8      each posting as numbers to the base 128, least significant digit first:
 *               2 * distance + (tf > 1), and tf - 2 where tf > 1
 *   df <= 128   head, packed
 *   more        bound, entries, packed of each block
 *   entry       last chunk, 4 bytes; offset of its packed part, 4 bytes; head
 *   head        bits of a distance, bits of a tf, bound
 *   bound       tf, length, tf, length: a byte each, tf rounded up and length rounded down
 *   packed      all distances, then from a new byte on each tf - 1, lowest bits first
 * A distance is 0 for the chunk right behind the one before. */
#ifndef RETRIEVAL_POSTINGS_FORMAT_H
#define RETRIEVAL_POSTINGS_FORMAT_H

#include "service/retrieval/postings.h"

enum {
    POSTINGS_SHORT = 8, /* lists below this have neither heads nor bounds */
    POSTINGS_BOUND_BYTES = 4,
    POSTINGS_HEAD_BYTES = 2 + POSTINGS_BOUND_BYTES,
    POSTINGS_ENTRY_BYTES = 4 + 4 + POSTINGS_HEAD_BYTES,
    POSTINGS_CODE_MAX = 255,
};

/* A number as one byte: exact below 32, then 4 bits behind the highest one. */
static inline uint32_t postings_code_value(uint32_t code)
{
    return code < 16 ? code : (16 + (code & 15)) << ((code >> 4) - 1);
}

static inline uint32_t postings_packed_bytes(uint32_t n, uint32_t bits)
{
    return (n * bits + 7) / 8;
}

#endif
