/* SPDX-License-Identifier: Apache-2.0 */
/* view: the part of one published version that one filter permits, frozen for a request.
 *
 * Whatever a request reads, it reads through its view: a switch to a newer version in between
 * changes nothing for it. Thread: any; immutable and reference-counted. */
#ifndef RETRIEVAL_VIEW_H
#define RETRIEVAL_VIEW_H

#include "scope/filter.h"
#include "service/retrieval/profile.h"

/* (collection, doc_type, label set) with its one content version. */
struct partition {
    struct doc_scope scope;
    struct digest content; /* content digest: same content, same digest, on any machine */
    uint64_t n_docs, n_chunks;
};

enum { INDEX_VERSION_CHARS = 4 + 26 };

struct view {
    const struct partition *partitions; /* the permitted ones, sorted by doc_scope_cmp */
    size_t n_partitions;
    char index_version[INDEX_VERSION_CHARS + 1]; /* "kb1-" and 26 lower-case base32 characters */
    struct filter *filter;                       /* the one it was opened with */
    const struct view_ops *ops;                  /* the backend's */
};

struct view_ops {
    struct view *(*ref)(struct view *v);
    void (*unref)(struct view *v);
};

static inline struct view *view_ref(struct view *v)
{
    return v->ops->ref(v);
}

static inline void view_unref(struct view *v)
{
    if (v) {
        v->ops->unref(v);
    }
}

/* The distinct collections (or doc_types) of a view, sorted; the array is in `arena`, the names are
 * the view's. */
struct arena;
const struct slice *view_collections(const struct view *v, struct arena *arena, size_t *ret_n);
const struct slice *view_doc_types(const struct view *v, struct arena *arena, size_t *ret_n);

/* "kb1-" and base32 of the first 130 bits of SHA-256 over the sorted (partition, content digest)
 * pairs and the answer profile's digest. Partitions must be sorted by doc_scope_cmp. */
void index_version_write(const struct partition *partitions, size_t n,
                         const struct answer_profile *profile,
                         char ret_version[INDEX_VERSION_CHARS + 1]);

#endif
