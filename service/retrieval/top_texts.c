/* SPDX-License-Identifier: Apache-2.0 */
/* A heap that knows where each text stands, so that a text that comes again with a better score
 * moves instead of counting twice. What was pushed out needs no memory: the threshold never falls,
 * so it only comes back with a better score. */
#include "service/retrieval/top_texts.h"

#include "service/base/mem.h"

#include <stdlib.h>

void top_texts_init(struct top_texts *t, uint32_t depth)
{
    *t = (struct top_texts){.depth = depth, .n_slots = 2};
    while (t->n_slots < 2 * (size_t)depth) {
        t->n_slots *= 2;
    }
    t->heap = mem_array(depth, sizeof(*t->heap));
    t->slots = mem_array(t->n_slots, sizeof(*t->slots));
}

void top_texts_done(struct top_texts *t)
{
    free(t->heap);
    free(t->slots);
    *t = (struct top_texts){0};
}

/* The text's slot, or the free one where it belongs. */
static size_t find_slot(const struct top_texts *t, uint64_t hash)
{
    size_t at = hash & (t->n_slots - 1);
    while (t->slots[at] && t->heap[t->slots[at] - 1].hash != hash) {
        at = (at + 1) & (t->n_slots - 1);
    }
    return at;
}

static void place(struct top_texts *t, size_t at, struct top_text text)
{
    t->heap[at] = text;
    t->slots[text.slot] = (uint32_t)at + 1;
}

/* Moves back those behind the hole that would no longer be found. */
static void free_slot(struct top_texts *t, size_t hole)
{
    const size_t mask = t->n_slots - 1;
    for (size_t at = (hole + 1) & mask; t->slots[at]; at = (at + 1) & mask) {
        struct top_text *text = &t->heap[t->slots[at] - 1];
        size_t distance = (at - text->hash) & mask;
        if (distance >= ((at - hole) & mask)) {
            t->slots[hole] = t->slots[at];
            text->slot = (uint32_t)hole;
            hole = at;
        }
    }
    t->slots[hole] = 0;
}

static void sift_down(struct top_texts *t, size_t at)
{
    struct top_text text = t->heap[at];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child + 1 < t->n && t->heap[child + 1].score < t->heap[child].score) {
            child++;
        }
        if (child >= t->n || t->heap[child].score >= text.score) {
            break;
        }
        place(t, at, t->heap[child]);
        at = child;
    }
    place(t, at, text);
}

static void sift_up(struct top_texts *t, size_t at)
{
    struct top_text text = t->heap[at];
    while (at > 0 && t->heap[(at - 1) / 2].score > text.score) {
        place(t, at, t->heap[(at - 1) / 2]);
        at = (at - 1) / 2;
    }
    place(t, at, text);
}

static void insert(struct top_texts *t, uint64_t hash, uint64_t score)
{
    if (t->n < t->depth) {
        t->heap[t->n] = (struct top_text){score, hash, (uint32_t)find_slot(t, hash)};
        sift_up(t, t->n++);
    } else if (score > t->heap[0].score) {
        free_slot(t, t->heap[0].slot);
        t->heap[0] = (struct top_text){score, hash, (uint32_t)find_slot(t, hash)};
        sift_down(t, 0);
    }
}

void top_texts_add(struct top_texts *t, uint64_t hash, uint64_t score)
{
    uint32_t known = t->slots[find_slot(t, hash)];
    if (!known) {
        insert(t, hash, score);
    } else if (score > t->heap[known - 1].score) {
        t->heap[known - 1].score = score;
        sift_down(t, known - 1);
    }
    t->threshold = t->n == t->depth ? t->heap[0].score : 0;
}
