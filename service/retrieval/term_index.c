/* SPDX-License-Identifier: Apache-2.0 */
/* Terms are found by a cheap hash while counting (once an occurrence); the strong one of the file
 * is taken at the end (once a term). Postings wait as varints in one pool: a large partition has
 * more of them than fit into memory as numbers, and more terms than allocations are cheap for. */
#include "service/retrieval/term_index.h"

#include "service/base/mem.h"
#include "service/retrieval/segment_format.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

/* Folded: the low bits choose the slot. */
static uint32_t slot_hash(struct slice term)
{
    uint64_t h = slice_hash(term);
    return (uint32_t)(h ^ h >> 32);
}

static uint32_t *find_slot(const struct term_index *x, struct slice term, uint32_t hash)
{
    size_t at = hash & (x->n_slots - 1);
    for (; x->slots[at]; at = (at + 1) & (x->n_slots - 1)) {
        const struct term_entry *e = &x->entries[x->slots[at] - 1];
        if (e->slot_hash == hash && slice_eq(e->term, term)) {
            break;
        }
    }
    return &x->slots[at];
}

static void grow_slots(struct term_index *x)
{
    free(x->slots);
    x->n_slots = x->n_slots ? 2 * x->n_slots : FIRST_SLOTS;
    x->slots = mem_array(x->n_slots, sizeof(*x->slots));
    for (size_t i = 0; i < x->n; i++) {
        size_t at = x->entries[i].slot_hash & (x->n_slots - 1);
        while (x->slots[at]) {
            at = (at + 1) & (x->n_slots - 1);
        }
        x->slots[at] = (uint32_t)i + 1;
    }
}

static void grow_entries(struct term_index *x)
{
    x->cap = x->cap ? 2 * x->cap : FIRST_SLOTS / 2;
    x->entries = mem_realloc(x->entries, x->cap * sizeof(*x->entries));
}

void term_index_init(struct term_index *x)
{
    *x = (struct term_index){0};
    grow_slots(x);
}

void term_index_done(struct term_index *x)
{
    byte_runs_done(&x->runs);
    free(x->entries);
    free(x->slots);
    free(x->touched);
    arena_done(&x->arena);
    *x = (struct term_index){0};
}

uint32_t term_index_id(struct term_index *x, struct slice term)
{
    if (2 * (x->n + 1) > x->n_slots) {
        grow_slots(x);
    }
    uint32_t hash = slot_hash(term);
    uint32_t *slot = find_slot(x, term, hash);
    if (!*slot) {
        if (x->n == x->cap) {
            grow_entries(x);
        }
        x->entries[x->n++] =
            (struct term_entry){.term = arena_copy(&x->arena, term), .slot_hash = hash};
        *slot = (uint32_t)x->n;
    }
    return *slot - 1;
}

void term_index_count(struct term_index *x, uint32_t id, uint32_t weight)
{
    struct term_entry *entry = &x->entries[id];
    if (entry->tf == 0) {
        if (x->n_touched == x->cap_touched) {
            x->cap_touched = x->cap_touched ? 2 * x->cap_touched : FIRST_SLOTS;
            x->touched = mem_realloc(x->touched, x->cap_touched * sizeof(*x->touched));
        }
        x->touched[x->n_touched++] = id;
    }
    entry->tf = entry->tf > SEGMENT_TF_MAX - weight ? SEGMENT_TF_MAX : entry->tf + weight;
    x->length += weight;
}

/* Distances are below SEGMENT_MAX_CHUNKS, so that a bit is free to say that the frequency is 1. */
static void add_posting(struct term_index *x, struct term_entry *entry, uint32_t chunk)
{
    uint32_t distance = chunk - entry->next_chunk;
    byte_runs_add_varint(&x->runs, &entry->run, distance << 1 | (entry->tf == 1));
    if (entry->tf != 1) {
        byte_runs_add_varint(&x->runs, &entry->run, entry->tf);
    }
    entry->next_chunk = chunk + 1;
    entry->df++;
    entry->tf = 0;
}

uint32_t term_index_end_chunk(struct term_index *x, uint32_t chunk)
{
    for (size_t i = 0; i < x->n_touched; i++) {
        add_posting(x, &x->entries[x->touched[i]], chunk);
    }
    uint64_t length = x->length > SEGMENT_LENGTH_MAX ? SEGMENT_LENGTH_MAX : x->length;
    x->n_touched = 0;
    x->length = 0;
    return (uint32_t)length;
}

void term_index_postings(const struct term_index *x, uint32_t id, struct posting *ret_postings)
{
    const struct term_entry *entry = &x->entries[id];
    struct byte_run_reader r = byte_run_read(&x->runs, &entry->run);
    uint32_t next = 0;
    for (uint32_t i = 0; i < entry->df; i++) {
        uint32_t head = byte_run_next_varint(&r);
        uint32_t chunk = next + (head >> 1);
        ret_postings[i] =
            (struct posting){.chunk = chunk, .tf = head & 1 ? 1 : byte_run_next_varint(&r)};
        next = chunk + 1;
    }
}
