/* SPDX-License-Identifier: Apache-2.0 */
/* top_texts: the best scores of distinct texts so far, and how high a chunk must score to matter.
 *
 * Texts are told apart by their hash alone. Two texts that share one count once, which makes the
 * threshold lower than it could be, never too high. */
#ifndef RETRIEVAL_TOP_TEXTS_H
#define RETRIEVAL_TOP_TEXTS_H

#include <stddef.h>
#include <stdint.h>

struct top_text {
    uint64_t score, hash;
    uint32_t slot; /* where it is found by its hash */
};

struct top_texts {
    uint64_t threshold; /* the lowest of `depth` scores; 0 while there are fewer texts */
    uint32_t depth, n;
    struct top_text *heap; /* the lowest score first */
    uint32_t *slots;       /* open addressing: place in the heap + 1, or 0 */
    size_t n_slots;        /* a power of two, at least twice the depth */
};

void top_texts_init(struct top_texts *t, uint32_t depth); /* depth >= 1 */
void top_texts_done(struct top_texts *t);

/* O(log depth). */
void top_texts_add(struct top_texts *t, uint64_t hash, uint64_t score);

#endif
