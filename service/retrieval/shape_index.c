/* SPDX-License-Identifier: Apache-2.0 */
/* Counts of the partitions that the view holds, so of what the caller may see and of nothing else.
 */
#include "service/base/arena.h"
#include "service/retrieval/shape_part.h"

enum dimension { BY_COLLECTION, BY_DOC_TYPE };

static struct slice name_of(const struct partition *p, enum dimension by)
{
    return by == BY_COLLECTION ? p->scope.collection : p->scope.doc_type;
}

static void add_counts(struct json_writer *w, const struct view *v, enum dimension by,
                       struct slice name)
{
    uint64_t docs = 0, chunks = 0;
    for (size_t i = 0; i < v->n_partitions; i++) {
        const struct partition *p = &v->partitions[i];
        if (slice_eq(name_of(p, by), name)) {
            docs += p->n_docs;
            chunks += p->n_chunks;
        }
    }
    json_object_begin(w);
    shape_member_line(w, "name", name);
    json_member_int(w, "documents", (int64_t)docs);
    json_member_int(w, "chunks", (int64_t)chunks);
    json_object_end(w);
}

static void add_list(struct json_writer *w, const char *key, const struct view *v,
                     enum dimension by)
{
    struct arena arena = {0};
    size_t n;
    const struct slice *names =
        by == BY_COLLECTION ? view_collections(v, &arena, &n) : view_doc_types(v, &arena, &n);
    json_key(w, key);
    json_array_begin(w);
    for (size_t i = 0; i < n; i++) {
        add_counts(w, v, by, names[i]);
    }
    json_array_end(w);
    arena_done(&arena);
}

void shape_index(struct dynbuf *out, const struct view *v)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    shape_member_version(&w, v->index_version);
    add_list(&w, "collections", v, BY_COLLECTION);
    add_list(&w, "doc_types", v, BY_DOC_TYPE);
    json_object_end(&w);
}
