/* SPDX-License-Identifier: Apache-2.0 */
/* The owner's view of a store, as `kbgate search --store` has it. Without --as-served the engine is
 * measured alone: its candidates as they are ranked, nothing abstained, capped or cut. */
#include "service/cli/eval_engine.h"

#include "service/base/mem.h"
#include "service/cli/owner_answer.h"
#include "service/retrieval/embedded.h"
#include "service/retrieval/text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

enum { QUERY_MAX_BYTES = 64 * 1024, ANSWER_MAX_BYTES = 8 * 1024 * 1024 };

struct store_engine {
    struct eval_engine base;
    const struct eval_source *source;
    struct answer_profile profile;
    struct backend *backend;
    struct filter *owner;
    struct view *view;
};

/* NULL: the profile has no member of this name. */
static uint32_t *profile_member(struct answer_profile *p, struct slice key, uint32_t *ret_low,
                                uint32_t *ret_high)
{
#define X(member, standard, low, high, what)                                                       \
    if (slice_is(key, #member)) {                                                                  \
        *ret_low = (low);                                                                          \
        *ret_high = (high);                                                                        \
        return &p->member;                                                                         \
    }
    ANSWER_PROFILE_TABLE(X)
#undef X
    return NULL;
}

static bool set_member(struct answer_profile *p, const char *setting, struct err_detail *detail)
{
    const char *equals = strchr(setting, '=');
    uint32_t low = 0, high = 0;
    uint32_t *member =
        equals ? profile_member(p, (struct slice){setting, (size_t)(equals - setting)}, &low, &high)
               : NULL;
    if (!member) {
        err_detail_set(detail, "--profile %s: write KEY=N with a key of the answer profile",
                       setting);
        return false;
    }
    char *end;
    errno = 0;
    unsigned long value = strtoul(equals + 1, &end, 10);
    if (errno || end == equals + 1 || *end || equals[1] == '-' || value < low || value > high) {
        err_detail_set(detail, "--profile %s: a whole number from %u to %u is needed", setting, low,
                       high);
        return false;
    }
    *member = (uint32_t)value;
    return true;
}

static bool set_profile(const struct eval_source *source, struct answer_profile *ret_profile,
                        struct err_detail *detail)
{
    answer_profile_init(ret_profile);
    if (!source->as_served) {
        ret_profile->candidate_depth = EVAL_DEPTH;
        ret_profile->chunks_per_document = 0;
    }
    for (size_t i = 0; i < source->profile.n; i++) {
        if (!set_member(ret_profile, source->profile.items[i], detail)) {
            return false;
        }
    }
    return true;
}

bool eval_source_check(const struct eval_source *source, struct err_detail *detail)
{
    struct answer_profile profile;
    return set_profile(source, &profile, detail);
}

static void rank_candidates(const struct hits *hits, struct ranking *ranking)
{
    for (size_t i = 0; i < hits->n; i++) {
        ranking_add(ranking, hits->items[i].doc_id);
        for (size_t j = 0; j < hits->items[i].n_also; j++) {
            ranking_add(ranking, chunk_id_doc(hits->items[i].also[j].chunk_id));
        }
    }
}

static bool rank_served(struct store_engine *s, struct hits *hits, struct ranking *ranking,
                        enum eval_outcome *ret_outcome, struct err_detail *detail)
{
    struct dynbuf answer;
    dynbuf_init(&answer, ANSWER_MAX_BYTES);
    owner_answer(&answer, hits, EVAL_SERVED_TOP_K, &s->profile, s->view->index_version);
    bool good = eval_take_results(&s->base, dynbuf_get(&answer), ranking, ret_outcome, detail);
    dynbuf_done(&answer);
    return good;
}

static bool search(struct store_engine *s, struct slice query, struct ranking *ranking,
                   enum eval_outcome *ret_outcome, struct err_detail *detail)
{
    const struct search_query q = {.text = query,
                                   .collection = slice_of(s->source->collection),
                                   .published_from = NO_DATE,
                                   .published_to = NO_DATE};
    struct hits *hits = NULL;
    enum err e = embedded_search_now(s->backend, s->view, &q, &hits);
    if (e != ERR_OK) {
        err_detail_set(detail, "the search failed: %s", err_name(e));
        return false;
    }
    bool good = true;
    if (s->source->as_served) {
        good = rank_served(s, hits, ranking, ret_outcome, detail);
    } else {
        rank_candidates(hits, ranking);
        *ret_outcome = ranking->docs.n ? EVAL_ANSWERED : EVAL_EMPTY;
    }
    hits_free(hits);
    return good;
}

static bool ask(struct eval_engine *e, struct slice query, struct ranking *ranking,
                enum eval_outcome *ret_outcome, struct err_detail *detail)
{
    struct store_engine *s = (struct store_engine *)e;
    struct dynbuf canonical;
    dynbuf_init(&canonical, QUERY_MAX_BYTES);
    *ret_outcome = EVAL_REFUSED;
    bool good = text_canonical_query(query, &canonical) != TEXT_QUERY_OK ||
                search(s, dynbuf_get(&canonical), ranking, ret_outcome, detail);
    dynbuf_done(&canonical);
    return good;
}

static bool holds_in(struct store_engine *s, struct slice collection, struct slice doc_id)
{
    const struct fetch_query q = {
        .collection = collection, .doc_id = doc_id, .one_chunk = true, .position = 0};
    struct hits *hits = NULL;
    if (embedded_fetch_now(s->backend, s->view, &q, &hits) != ERR_OK) {
        return false;
    }
    bool found = hits->n > 0;
    hits_free(hits);
    return found;
}

static bool holds(struct eval_engine *e, struct slice doc_id)
{
    struct store_engine *s = (struct store_engine *)e;
    if (s->source->collection) {
        return holds_in(s, slice_of(s->source->collection), doc_id);
    }
    struct arena arena;
    arena_init(&arena);
    size_t n;
    const struct slice *collections = view_collections(s->view, &arena, &n);
    bool found = false;
    for (size_t i = 0; i < n && !found; i++) {
        found = holds_in(s, collections[i], doc_id);
    }
    arena_done(&arena);
    return found;
}

static int64_t count_documents(const struct view *view, const char *collection)
{
    uint64_t n = 0;
    for (size_t i = 0; i < view->n_partitions; i++) {
        const struct partition *p = &view->partitions[i];
        n += !collection || slice_is(p->scope.collection, collection) ? p->n_docs : 0;
    }
    return (int64_t)n;
}

static void free_store(struct eval_engine *e)
{
    struct store_engine *s = (struct store_engine *)e;
    view_unref(s->view);
    if (s->owner) {
        filter_unref(s->owner);
    }
    if (s->backend) {
        s->backend->ops->free(s->backend);
    }
    free(s);
}

static const struct eval_engine_ops OPS = {ask, holds, free_store};

static bool open_store(struct store_engine *s, struct err_detail *detail)
{
    if (!set_profile(s->source, &s->profile, detail)) {
        return false;
    }
    s->backend = embedded_open(s->source->store, &s->profile, NULL, detail);
    if (!s->backend) {
        return false;
    }
    s->owner = filter_owner();
    s->view = s->backend->ops->open_view(s->backend, s->owner);
    (void)snprintf(s->base.index_version, sizeof(s->base.index_version), "%s",
                   s->view->index_version);
    s->base.n_documents = count_documents(s->view, s->source->collection);
    if (s->source->collection && s->base.n_documents == 0) {
        err_detail_set(detail, "--collection %s: the store has no such collection",
                       s->source->collection);
        return false;
    }
    return true;
}

struct eval_engine *eval_store_open(const struct eval_source *source, struct err_detail *detail)
{
    struct store_engine *s = mem_alloc(sizeof(*s));
    s->base.ops = &OPS;
    s->source = source;
    if (!open_store(s, detail)) {
        free_store(&s->base);
        return NULL;
    }
    return &s->base;
}
