/* SPDX-License-Identifier: Apache-2.0 */
/* The scope comes from the segment's own meta, not from the view: the recheck compares what was
 * stored with the text against the filter once more. */
#include "service/retrieval/hit_load.h"

struct doc_scope doc_scope_copy(const struct doc_scope *scope, struct arena *arena)
{
    struct slice *labels = arena_alloc(arena, scope->n_labels * sizeof(*labels));
    for (size_t i = 0; i < scope->n_labels; i++) {
        labels[i] = arena_copy(arena, scope->labels[i]);
    }
    return (struct doc_scope){
        .collection = arena_copy(arena, scope->collection),
        .doc_type = arena_copy(arena, scope->doc_type),
        .labels = labels,
        .n_labels = scope->n_labels,
    };
}

enum err hit_load(struct segment_reader *r, unsigned slot, uint32_t chunk,
                  const struct doc_scope *scope, struct arena *arena, struct hit *ret_hit)
{
    const struct segment_chunk c = segment_chunk_at(r, chunk);
    const struct segment_doc d = segment_doc_at(r, c.doc);
    struct hit_texts texts;
    enum err e = segment_hit_texts(r, slot, chunk, &texts);
    if (e != ERR_OK) {
        return e;
    }
    *ret_hit = (struct hit){
        .scope = *scope,
        .chunk_id = segment_chunk_id(r, chunk, arena),
        .doc_id = arena_copy(arena, d.doc_id),
        .title = arena_copy(arena, texts.title),
        .source_url = arena_copy(arena, texts.source_url),
        .text = arena_copy(arena, texts.text),
        .published = d.published,
        .position = c.position,
    };
    return ERR_OK;
}
