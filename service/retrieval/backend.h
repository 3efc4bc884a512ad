/* SPDX-License-Identifier: Apache-2.0 */
/* backend: an engine behind one interface: what may be seen, search a leg, fetch by id.
 *
 * The filter is enforced by the view (only permitted partitions are in it), by the engine (it reads
 * the view's partitions and no others) and once more by the recheck step on every hit. Thread: the
 * calling loop's.      Blocking: never; engines that block use the worker pool. Ownership: queries
 * are borrowed until the call returns; *ret_hits is the caller's (hits_free) and is set before op's
 * on_done, on ERR_OK only. Failure:   ERR_OK, ERR_BUSY (queue full), ERR_BACKEND_DOWN,
 * ERR_INTERNAL. */
#ifndef RETRIEVAL_BACKEND_H
#define RETRIEVAL_BACKEND_H

#include "service/base/arena.h"
#include "service/base/op.h"
#include "service/loop/loop.h"
#include "service/retrieval/view.h"

#define NO_DATE INT32_MIN /* a document without a published date */

enum { HIT_MATCHED_WORDS = 4 }; /* 64 bits each: one for each of TEXT_QUERY_MAX_TERMS */

/* What to search: the canonical request, less top_k, which no engine ever learns. */
struct search_query {
    struct slice text;                    /* canonical query */
    struct slice collection, doc_type;    /* narrowing; SLICE_NONE: all of the view */
    int32_t published_from, published_to; /* days since 1970-01-01, inclusive; NO_DATE: open. With
                                             either bound an undated document never matches */
};

/* Another chunk with the same text. */
struct hit_place {
    struct slice chunk_id;
    struct doc_scope scope;
};

struct hit {
    struct doc_scope scope;                 /* as stored beside the hit, for the recheck */
    struct slice chunk_id;                  /* <collection>/<doc_id>/<position> */
    struct slice doc_id, title, source_url; /* source_url: SLICE_NONE if the document has none */
    struct slice text;
    int32_t published;                   /* days since 1970-01-01, or NO_DATE */
    uint32_t position;                   /* of the chunk in its document, from 0 */
    uint64_t score;                      /* the engine's, never shown */
    uint64_t matched[HIT_MATCHED_WORDS]; /* bit t: the hit holds hits->terms[t] in a field */
    const struct hit_place *also;        /* by chunk_id, at most profile.also_in_max */
    size_t n_also;
};

struct hits {
    struct arena arena; /* holds everything below */
    struct hit *items;  /* best first: score, then chunk_id bytewise */
    size_t n;
    const struct slice *terms; /* search: the analysed query, as text_query_terms gives it */
    size_t n_terms;
    bool more; /* fetch: the document has further chunks */
};

void hits_free(struct hits *h);

static inline bool hit_matches(const struct hit *hit, size_t term)
{
    return hit->matched[term / 64] >> term % 64 & 1;
}

/* A whole document, or one chunk of it. */
struct fetch_query {
    struct slice collection, doc_id;
    bool one_chunk;
    uint32_t position; /* if one_chunk */
};

enum { FETCH_MAX_CHUNKS = 10000 };

struct backend {
    const struct backend_ops *ops;
};

struct backend_ops {
    /* What the filter permits of the newest version. Never NULL and never waits. */
    struct view *(*open_view)(struct backend *b, struct filter *f);

    /* The best `profile.candidate_depth` distinct texts. No hit is ERR_OK with n == 0. */
    void (*search)(struct backend *b, struct loop *l, struct view *v, const struct search_query *q,
                   struct hits **ret_hits, struct op *op);

    /* Chunks in order of position; n == 0 where there is none (or none that the view permits). */
    void (*fetch)(struct backend *b, struct loop *l, struct view *v, const struct fetch_query *q,
                  struct hits **ret_hits, struct op *op);

    void (*free)(struct backend *b);
};

#endif
