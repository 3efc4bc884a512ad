/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate as a request meets it: canonical query, the view that the caller's filter permits with its
 * index_version, text analysis, search to the profile's candidate depth, all those candidates
 * loaded; ten are copied out. The second form goes on as the service does: fusion and the answer's
 * JSON with ten fenced passages. */
#include "tests/bench/engines/engine_kbgate.h"

#include "scope/policy.h"
#include "service/base/mem.h"
#include "service/retrieval/shape.h"
#include "service/retrieval/text.h"
#include "tests/bench/engines/engine.h"

#include <stdlib.h>

enum { CANONICAL_MAX_BYTES = 8192, POLICY_MAX_BYTES = 64 * 1024, ANSWER_MAX_BYTES = 1024 * 1024 };

static const struct slice TOKEN_SCOPES[N_SCOPES] = {
    [SCOPE_TENTH] = {"kb:tenth", 8}, [SCOPE_ALL] = {"kb:all", 6}};

static void compile_filters(struct kbgate *k, uint32_t n_partitions)
{
    struct err_detail detail = {""};
    struct dynbuf yaml;
    dynbuf_init(&yaml, POLICY_MAX_BYTES);
    corpus_policy(n_partitions, &yaml);
    struct policy *policy = policy_parse(dynbuf_get(&yaml), "policy.yaml", &detail);
    engine_require(policy != NULL, "kbgate", detail.text);
    for (int i = 0; i < N_SCOPES; i++) {
        const struct claims claims = {.tenant = SLICE_LIT("bench"),
                                      .sub = SLICE_LIT("ann"),
                                      .client_id = SLICE_LIT("agent"),
                                      .jti = SLICE_LIT("j1"),
                                      .scopes = &TOKEN_SCOPES[i],
                                      .n_scopes = 1};
        k->filters[i] = policy_compile(policy, &claims);
        engine_require(!filter_is_none(k->filters[i]), "kbgate", "the policy lets nobody in");
    }
    policy_unref(policy);
    dynbuf_done(&yaml);
}

struct kbgate *kbgate_open(const char *store, uint32_t n_partitions, struct worker_pool *pool)
{
    struct err_detail detail = {""};
    struct kbgate *k = mem_alloc(sizeof(*k));
    answer_profile_init(&k->profile);
    k->backend = embedded_open(store, &k->profile, pool, &detail);
    engine_require(k->backend != NULL, "kbgate", detail.text);
    compile_filters(k, n_partitions);
    dynbuf_init(&k->canonical, CANONICAL_MAX_BYTES);
    dynbuf_init(&k->answer, ANSWER_MAX_BYTES);
    return k;
}

void kbgate_close(struct kbgate *k)
{
    for (int i = 0; i < N_SCOPES; i++) {
        filter_unref(k->filters[i]);
    }
    k->backend->ops->free(k->backend);
    dynbuf_done(&k->canonical);
    dynbuf_done(&k->answer);
    free(k);
}

struct search_query kbgate_query(struct kbgate *k, const char *question)
{
    dynbuf_cut(&k->canonical, 0);
    engine_require(text_canonical_query(slice_of(question), &k->canonical) == TEXT_QUERY_OK,
                   "kbgate", "a question is refused");
    return (struct search_query){
        .text = dynbuf_get(&k->canonical), .published_from = NO_DATE, .published_to = NO_DATE};
}

struct view *kbgate_search(struct kbgate *k, int scope, const char *question,
                           struct hits **ret_hits)
{
    struct search_query q = kbgate_query(k, question);
    struct view *view = k->backend->ops->open_view(k->backend, k->filters[scope]);
    enum err e = embedded_search_now(k->backend, view, &q, ret_hits);
    engine_require(e == ERR_OK, "kbgate", err_name(e));
    return view;
}

static void copy_out(const struct hits *hits, struct passages *ret_passages)
{
    ret_passages->n = ret_passages->n_bytes = 0;
    for (size_t i = 0; i < hits->n && i < PASSAGES; i++) {
        const struct hit *hit = &hits->items[i];
        passages_add(ret_passages, corpus_number(hit->doc_id), hit->title.p, hit->title.n,
                     hit->text.p, hit->text.n);
    }
}

static void *open_engine(const struct engine_place *place)
{
    return kbgate_open(place->store, place->n_partitions, NULL);
}

static void close_engine(void *self)
{
    kbgate_close(self);
}

static void search(void *self, int scope, const char *question, struct passages *ret_passages)
{
    struct hits *hits = NULL;
    struct view *view = kbgate_search(self, scope, question, &hits);
    copy_out(hits, ret_passages);
    hits_free(hits);
    view_unref(view);
}

static void write_answer(struct kbgate *k, const struct hits *hits, const struct view *view)
{
    struct arena arena;
    size_t n;
    const struct leg legs[] = {{hits, k->profile.lexical_weight}};
    arena_init(&arena);
    const struct ranked *ranked = fuse_legs(legs, 1, &k->profile, &arena, &n);
    const struct shape_options options = {.rendering = RENDER_MCP,
                                          .top_k = PASSAGES,
                                          .profile = &k->profile,
                                          .fence_key =
                                              SLICE_LIT("a fence key of 32 bytes in all.."),
                                          .index_version = view->index_version};
    dynbuf_cut(&k->answer, 0);
    shape_answer(&k->answer, ranked, n, &options);
    arena_done(&arena);
}

static void answer(void *self, int scope, const char *question, struct passages *ret_passages)
{
    struct kbgate *k = self;
    struct hits *hits = NULL;
    struct view *view = kbgate_search(k, scope, question, &hits);
    copy_out(hits, ret_passages);
    write_answer(k, hits, view);
    hits_free(hits);
    view_unref(view);
}

const struct engine ENGINE_KBGATE = {"kbgate", open_engine, search, close_engine};
const struct engine ENGINE_KBGATE_ANSWER = {"kbgate_answer", open_engine, answer, close_engine};
