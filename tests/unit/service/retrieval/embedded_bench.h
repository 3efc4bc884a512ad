/* SPDX-License-Identifier: Apache-2.0 */
/* embedded_bench: a store made of a corpus, and an engine on it. */
#ifndef TEST_EMBEDDED_BENCH_H
#define TEST_EMBEDDED_BENCH_H

#include "service/retrieval/embedded.h"

#include "corpus.h"

static char *store;
static struct corpus corpus;
static struct answer_profile profile;

static void setup(void)
{
    store = folder_new();
    corpus_init(&corpus);
    answer_profile_init(&profile);
}

static void teardown(void)
{
    corpus_done(&corpus);
    folder_free(store);
}

static inline struct backend *open_store(void)
{
    struct err_detail why = {{0}};
    struct backend *b = embedded_open(store, &profile, NULL, &why);
    cr_assert(b, "%s", why.text);
    return b;
}

static inline struct view *view_of(struct backend *b, struct filter *f)
{
    struct view *v = b->ops->open_view(b, f);
    filter_unref(f);
    return v;
}

static inline struct search_query query_for(const char *text)
{
    return (struct search_query){
        .text = slice_of(text), .published_from = NO_DATE, .published_to = NO_DATE};
}

static inline struct hits *search(struct backend *b, struct view *v, const struct search_query *q)
{
    struct hits *h = NULL;
    cr_assert_eq(embedded_search_now(b, v, q, &h), ERR_OK);
    cr_assert(h);
    return h;
}

#endif
