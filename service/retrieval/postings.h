/* SPDX-License-Identifier: Apache-2.0 */
/* postings: the chunks that hold one term, as bytes that can be skipped through.
 *
 * Blocks of 128 postings, and the last one shorter; of each block the writer also says how high its
 * postings can score, as pairs of tf and length, because a score itself depends on the weights and
 * the average length of the caller's own scope. Only this module knows the form.
 *
 * Pure. Failure: the cursor checks what it reads; damaged postings end it with `bad` set. */
#ifndef RETRIEVAL_POSTINGS_H
#define RETRIEVAL_POSTINGS_H

#include "service/base/dynbuf.h"

enum {
    POSTINGS_BLOCK = 128,
    POSTINGS_CHUNK_BITS = 24, /* SEGMENT_MAX_CHUNKS */
    POSTINGS_TF_BITS = 16,
    POSTINGS_PADDING = 8, /* read past a packed value, never used */
};

struct posting {
    uint32_t chunk, tf; /* tf 1 .. SEGMENT_TF_MAX */
};

/* Adds the list of n >= 1 postings, chunks ascending. lengths: of the segment's chunks, by number.
 */
void postings_encode(struct dynbuf *out, const struct posting *p, uint32_t n,
                     const uint32_t *lengths);

/* No posting that it speaks of scores higher than the better of two: tf[0] in a chunk of length[0],
 * and tf[1] in one of length[1]. tf[1] is 0 where one pair says it all. */
struct postings_bound {
    uint32_t tf[2], length[2];
};

struct postings_cursor {
    uint32_t chunk; /* of the current posting */
    bool bad;

    struct slice bytes;    /* the list */
    size_t data;           /* where its blocks begin */
    uint32_t df, n_chunks; /* n_chunks: of the segment */
    uint32_t n_blocks;
    uint32_t block; /* the one at hand; n_blocks: the end */

    /* The decoded block: */
    uint32_t decoded; /* its number + 1; 0: none yet */
    uint32_t n, at;   /* how many postings, and which is the current one */
    uint32_t tf_bits;
    uint32_t chunks[POSTINGS_BLOCK];
    unsigned char tfs[POSTINGS_BLOCK * POSTINGS_TF_BITS / 8 + POSTINGS_PADDING]; /* packed */
};

/* Stands before the first posting. The bytes are borrowed for as long as the cursor is used. */
void postings_open(struct postings_cursor *c, struct slice bytes, uint32_t df, uint32_t n_chunks);

/* Of the current posting. */
uint32_t postings_tf(const struct postings_cursor *c);

/* The first posting of the next block that is not decoded; use postings_next. */
bool postings_next_block(struct postings_cursor *c);

/* Moves to the next posting; false at the end or where `bad` is set. Not after postings_seek_block
 * alone. */
static inline bool postings_next(struct postings_cursor *c)
{
    if (c->decoded == c->block + 1 && c->at + 1 < c->n) {
        c->chunk = c->chunks[++c->at];
        return true;
    }
    return postings_next_block(c);
}

/* Moves to the first posting at or behind `chunk`, never back. */
bool postings_seek(struct postings_cursor *c, uint32_t chunk);

/* Moves to the block that holds the first posting at or behind `chunk` without decoding it: there
 * is no current posting until postings_seek with that chunk or a later one. False where the list
 * has no such block. */
bool postings_seek_block(struct postings_cursor *c, uint32_t chunk);

/* Of the block at hand (not at the end), and of the whole list. */
struct postings_bound postings_block_bound(const struct postings_cursor *c);
struct postings_bound postings_list_bound(const struct postings_cursor *c);

#endif
