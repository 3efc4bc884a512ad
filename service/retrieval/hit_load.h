/* SPDX-License-Identifier: Apache-2.0 */
/* hit_load: one chunk of a segment as a hit. Blocking: yes. */
#ifndef RETRIEVAL_HIT_LOAD_H
#define RETRIEVAL_HIT_LOAD_H

#include "service/retrieval/backend.h"
#include "service/retrieval/segment_reader.h"

/* Fills everything but score and also; all of it is in `arena`. scope is one that
 * doc_scope_copy() made there, shared by the segment's hits. */
enum err hit_load(struct segment_reader *r, unsigned slot, uint32_t chunk,
                  const struct doc_scope *scope, struct arena *arena, struct hit *ret_hit);

struct doc_scope doc_scope_copy(const struct doc_scope *scope, struct arena *arena);

#endif
