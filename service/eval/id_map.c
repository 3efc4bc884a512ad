/* SPDX-License-Identifier: Apache-2.0 */
/* Open addressing over FNV-1a. The files are the operator's own, so nobody aims at one slot. */
#include "service/eval/id_map.h"

#include "service/base/mem.h"

#include <stdlib.h>

static uint64_t hash(struct slice id)
{
    uint64_t h = slice_hash(id);
    return h ^ h >> 29;
}

/* The slot that holds the id, or the free one where it belongs. */
static uint32_t *slot_of(const struct id_map *m, struct slice id)
{
    uint32_t at = (uint32_t)hash(id) & (m->n_slots - 1);
    while (m->slots[at] && !slice_eq(m->ids[m->slots[at] - 1], id)) {
        at = (at + 1) & (m->n_slots - 1);
    }
    return &m->slots[at];
}

static void grow(struct id_map *m)
{
    m->cap = m->cap ? 2 * m->cap : 64;
    m->ids = mem_realloc(m->ids, m->cap * sizeof(*m->ids));
    free(m->slots);
    m->n_slots = 2 * m->cap;
    m->slots = mem_array(m->n_slots, sizeof(*m->slots));
    for (uint32_t i = 0; i < m->n; i++) {
        *slot_of(m, m->ids[i]) = i + 1;
    }
}

uint32_t id_map_add(struct id_map *m, struct slice id, bool *ret_new)
{
    if (m->n == m->cap) {
        grow(m);
    }
    uint32_t *slot = slot_of(m, id);
    bool is_new = *slot == 0;
    if (is_new) {
        m->ids[m->n++] = id;
        *slot = m->n;
    }
    if (ret_new) {
        *ret_new = is_new;
    }
    return *slot - 1;
}

uint32_t id_map_find(const struct id_map *m, struct slice id)
{
    return m->n && *slot_of(m, id) ? *slot_of(m, id) - 1 : ID_NONE;
}

void id_map_done(struct id_map *m)
{
    free(m->ids);
    free(m->slots);
    *m = (struct id_map){0};
}
