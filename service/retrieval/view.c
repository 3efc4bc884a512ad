/* SPDX-License-Identifier: Apache-2.0 */
/* index_version is made from permitted partitions alone, so that what a caller may not see cannot
 * change it. */
#include "service/retrieval/view.h"

#include "service/base/arena.h"
#include "service/base/encode.h"

#include <stdlib.h>

static int by_bytes(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

/* Sorts names and drops repeated ones; returns how many are left. */
static size_t sort_distinct(struct slice *names, size_t n)
{
    size_t kept = 0;
    if (n) {
        qsort(names, n, sizeof(*names), by_bytes);
    }
    for (size_t i = 0; i < n; i++) {
        if (kept == 0 || !slice_eq(names[kept - 1], names[i])) {
            names[kept++] = names[i];
        }
    }
    return kept;
}

const struct slice *view_collections(const struct view *v, struct arena *arena, size_t *ret_n)
{
    struct slice *names = arena_alloc(arena, v->n_partitions * sizeof(*names));
    for (size_t i = 0; i < v->n_partitions; i++) {
        names[i] = v->partitions[i].scope.collection;
    }
    *ret_n = sort_distinct(names, v->n_partitions);
    return names;
}

const struct slice *view_doc_types(const struct view *v, struct arena *arena, size_t *ret_n)
{
    struct slice *names = arena_alloc(arena, v->n_partitions * sizeof(*names));
    for (size_t i = 0; i < v->n_partitions; i++) {
        names[i] = v->partitions[i].scope.doc_type;
    }
    *ret_n = sort_distinct(names, v->n_partitions);
    return names;
}

static void add_partition(struct hasher *h, const struct partition *p)
{
    hasher_part(h, p->scope.collection);
    hasher_part(h, p->scope.doc_type);
    hasher_part_u64(h, p->scope.n_labels);
    for (size_t i = 0; i < p->scope.n_labels; i++) {
        hasher_part(h, p->scope.labels[i]);
    }
    hasher_part(h, digest_slice(&p->content));
}

void index_version_write(const struct partition *partitions, size_t n,
                         const struct answer_profile *profile,
                         char ret_version[INDEX_VERSION_CHARS + 1])
{
    struct digest d;
    struct hasher h;
    answer_profile_digest(profile, &d);
    hasher_init(&h);
    hasher_part(&h, SLICE_LIT("kbgate-index-version/1"));
    hasher_part(&h, digest_slice(&d));
    hasher_part_u64(&h, n);
    for (size_t i = 0; i < n; i++) {
        add_partition(&h, &partitions[i]);
    }
    hasher_done(&h, &d);

    struct dynbuf text;
    dynbuf_init(&text, sizeof(d) * 2);
    dynbuf_add_text(&text, "kb1-");
    encode_base32(&text, digest_slice(&d));
    memcpy(ret_version, text.p, INDEX_VERSION_CHARS);
    ret_version[INDEX_VERSION_CHARS] = 0;
    dynbuf_done(&text);
}
