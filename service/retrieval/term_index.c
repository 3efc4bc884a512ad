/* SPDX-License-Identifier: Apache-2.0 */
/* Terms are found by a cheap hash while counting (once an occurrence) and get the strong one of the
 * file format only at the end (once a term). */
#include "service/retrieval/term_index.h"

#include "service/base/mem.h"
#include "service/retrieval/segment_format.h"

#include <stdlib.h>

enum { FIRST_SLOTS = 1024 };

/* FNV-1a, folded: the low bits choose the slot. */
static size_t slot_hash(struct slice term)
{
    uint64_t h = 0xCBF29CE484222325u;
    for (size_t i = 0; i < term.n; i++) {
        h = (h ^ (unsigned char)term.p[i]) * 0x100000001B3u;
    }
    return (size_t)(h ^ h >> 32);
}

static uint32_t *find_slot(const struct term_index *x, struct slice term)
{
    size_t at = slot_hash(term) & (x->n_slots - 1);
    while (x->slots[at] && !slice_eq(x->entries[x->slots[at] - 1].term, term)) {
        at = (at + 1) & (x->n_slots - 1);
    }
    return &x->slots[at];
}

static void grow_slots(struct term_index *x)
{
    free(x->slots);
    x->n_slots = x->n_slots ? 2 * x->n_slots : FIRST_SLOTS;
    x->slots = mem_array(x->n_slots, sizeof(*x->slots));
    for (size_t i = 0; i < x->n; i++) {
        *find_slot(x, x->entries[i].term) = (uint32_t)i + 1;
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
    for (size_t i = 0; i < x->n; i++) {
        postings_writer_done(&x->entries[i].postings);
    }
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
    uint32_t *slot = find_slot(x, term);
    if (!*slot) {
        if (x->n == x->cap) {
            grow_entries(x);
        }
        struct term_entry *entry = &x->entries[x->n++];
        *entry = (struct term_entry){.term = arena_copy(&x->arena, term)};
        postings_writer_init(&entry->postings, SEGMENT_BLOB_MAX_BYTES);
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

uint32_t term_index_end_chunk(struct term_index *x, uint32_t chunk)
{
    for (size_t i = 0; i < x->n_touched; i++) {
        struct term_entry *entry = &x->entries[x->touched[i]];
        postings_add(&entry->postings, chunk, entry->tf);
        entry->tf = 0;
    }
    uint64_t length = x->length > SEGMENT_LENGTH_MAX ? SEGMENT_LENGTH_MAX : x->length;
    x->n_touched = 0;
    x->length = 0;
    return (uint32_t)length;
}

void term_index_hash(struct term_index *x)
{
    for (size_t i = 0; i < x->n; i++) {
        x->entries[i].hash = segment_hash(x->entries[i].term);
    }
}

static int by_hash(const void *a, const void *b)
{
    int64_t ha = (int64_t)((const struct term_entry *)a)->hash;
    int64_t hb = (int64_t)((const struct term_entry *)b)->hash;
    return (ha > hb) - (ha < hb);
}

bool term_index_sort(struct term_index *x, struct err_detail *detail)
{
    if (x->n) {
        qsort(x->entries, x->n, sizeof(*x->entries), by_hash);
    }
    for (size_t i = 0; i < x->n; i++) {
        const struct term_entry *e = &x->entries[i];
        if (e->postings.bytes.failed) {
            err_detail_set(detail, "term \"%.*s\" has too many occurrences for one partition",
                           (int)e->term.n, e->term.p);
            return false;
        }
        if (i > 0 && e->hash == e[-1].hash) {
            err_detail_set(detail, "terms \"%.*s\" and \"%.*s\" have the same 64-bit hash",
                           (int)e[-1].term.n, e[-1].term.p, (int)e->term.n, e->term.p);
            return false;
        }
    }
    return true;
}
