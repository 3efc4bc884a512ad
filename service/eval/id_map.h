/* SPDX-License-Identifier: Apache-2.0 */
/* id_map: numbers for ids, in the order in which they were first seen.
 *
 * Ids are borrowed as long as the map lives. A zeroed map is empty and ready. */
#ifndef EVAL_ID_MAP_H
#define EVAL_ID_MAP_H

#include "service/base/slice.h"

#include <stdint.h>

#define ID_NONE UINT32_MAX

struct id_map {
    struct slice *ids; /* by number */
    uint32_t n, cap;
    uint32_t *slots; /* number + 1, or 0; a power of two of them, at most half full */
    uint32_t n_slots;
};

/* The id's number; *ret_new (may be NULL) tells whether it was given now. */
uint32_t id_map_add(struct id_map *m, struct slice id, bool *ret_new);

/* The id's number or ID_NONE. */
uint32_t id_map_find(const struct id_map *m, struct slice id);

void id_map_done(struct id_map *m);

#endif
