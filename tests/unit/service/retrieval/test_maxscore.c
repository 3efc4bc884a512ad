/* SPDX-License-Identifier: Apache-2.0 */
/* What is passed over must not have mattered: the pruned search against the definition, on corpora
 * of many shapes. A search ends with the first depth texts, so small depths prune even small
 * corpora. KB_LONG=1 runs a hundred times as many rounds. */
#include "service/retrieval/embedded.h"

#include "bm25_oracle.h"

static char *store;
static struct corpus corpus;
static struct answer_profile profile;
static struct oracle_words words;
static struct backend *backend;

static void setup(void)
{
    store = folder_new();
    corpus_init(&corpus);
    answer_profile_init(&profile);
}

static void close_store(void)
{
    if (backend) {
        backend->ops->free(backend);
        oracle_words_done(&words);
        backend = NULL;
    }
}

static void teardown(void)
{
    close_store();
    corpus_done(&corpus);
    folder_free(store);
}

TestSuite(maxscore, .init = setup, .fini = teardown);

static int n_rounds(int in_short)
{
    return getenv("KB_LONG") ? 100 * in_short : in_short;
}

/* Publishes the corpus. */
static void open_corpus(void)
{
    close_store();
    store_publish(store, &corpus);
    oracle_read(&words, &corpus);
}

/* The profile belongs to an open store, so it is opened anew where that changed. */
static void open_profile(void)
{
    struct err_detail why = {{0}};
    if (backend) {
        backend->ops->free(backend);
    }
    backend = embedded_open(store, &profile, NULL, &why);
    cr_assert(backend, "%s", why.text);
}

static size_t check(struct filter *f, const struct search_query *q, const char *about)
{
    struct oracle *o = mem_alloc(sizeof(*o));
    struct hits *h = NULL;
    struct view *v = backend->ops->open_view(backend, f);
    o->corpus = &corpus;
    o->words = &words;
    o->filter = f;
    o->query = q;
    o->profile = &profile;
    cr_assert_eq(embedded_search_now(backend, v, q, &h), ERR_OK, "%s", about);
    oracle_expect(o, h, about);
    size_t n = h->n;
    hits_free(h);
    view_unref(v);
    free(o);
    return n;
}

static struct search_query query_for(struct slice text)
{
    return (struct search_query){.text = text, .published_from = NO_DATE, .published_to = NO_DATE};
}

static struct search_query random_query(struct random *r, uint32_t max_words)
{
    struct search_query q = query_for(corpus_sentence(&corpus, r, max_words));
    if (random_below(r, 4) == 0) {
        q.collection = SLICE_LIT("c");
    }
    if (random_below(r, 4) == 0) {
        q.published_from = (int32_t)random_below(r, 100);
    }
    if (random_below(r, 4) == 0) {
        q.published_to = (int32_t)random_below(r, 100);
    }
    return q;
}

static struct filter *random_filter(struct random *r)
{
    switch (random_below(r, 3)) {
    case 0: return filter_owner();
    case 1: return filter_for("\"*\"", "note, faq", "public, internal");
    default: return filter_for("c, d", "\"*\"", "public");
    }
}

static void random_profile(struct random *r)
{
    static const uint32_t depths[] = {1, 2, 3, 10, 20, 50, 200, 1000};
    profile.candidate_depth = depths[random_below(r, 8)];
    profile.bm25_k1_milli = random_below(r, 2) ? 1200 : random_below(r, 10001);
    profile.bm25_b_milli = random_below(r, 2) ? 750 : random_below(r, 1001);
    profile.also_in_max = random_below(r, 3) ? 5 : random_below(r, 5);
}

static void fill_randomly(struct random *r, size_t n)
{
    static const char *const collections[] = {"c", "d"};
    static const char *const doc_types[] = {"note", "faq", "law"};
    static const char *const labels[] = {"public", "internal"};
    for (size_t i = 0; i < n; i++) {
        corpus_add_random(&corpus, r,
                          corpus_scope(&corpus, collections[random_below(r, 2)],
                                       doc_types[random_below(r, 3)], labels[random_below(r, 2)]),
                          "d");
    }
}

Test(maxscore, random_corpora_scopes_queries_and_profiles, .timeout = 300)
{
    size_t n_hits = 0;
    for (int round = 0; round < n_rounds(16); round++) {
        struct random r = {(uint64_t)round * 2654435761u + 17};
        corpus_done(&corpus);
        corpus_init(&corpus);
        fill_randomly(&r, 5 + random_below(&r, 120));
        open_corpus();
        for (int i = 0; i < 12; i++) {
            char about[64];
            snprintf(about, sizeof(about), "round %d, query %d", round, i);
            random_profile(&r);
            open_profile();
            struct search_query q = random_query(&r, 8);
            struct filter *f = random_filter(&r);
            n_hits += check(f, &q, about);
            filter_unref(f);
        }
    }
    cr_assert_gt(n_hits, 1000);
}

/* Lists of dozens of blocks in a few segments: frequent words nearly everywhere, rare ones in a few
 * chunks, so that the weak lists are asked for single chunks only. */
static void fill_with_long_lists(struct random *r)
{
    static const char *const doc_types[] = {"note", "note", "note", "faq"};
    struct doc_scope scopes[4];
    for (size_t i = 0; i < 4; i++) {
        scopes[i] = corpus_scope(&corpus, "c", doc_types[i], i < 2 ? "public" : "internal");
    }
    for (size_t i = 0; i < 1200; i++) {
        char id[32];
        snprintf(id, sizeof(id), "%zu", i);
        struct chunk_input *chunks = corpus_add(&corpus, scopes[random_below(r, 4)], id, "", 4);
        corpus.docs[corpus.n - 1].input.published = (int32_t)random_below(r, 100);
        for (size_t c = 0; c < 4; c++) {
            chunks[c].text = corpus_sentence(&corpus, r, 40);
            if (random_below(r, 400) == 0) {
                chunks[c].context = SLICE_LIT("axolotl");
            }
        }
    }
}

Test(maxscore, long_lists, .timeout = 300)
{
    struct random r = {31337};
    fill_with_long_lists(&r);
    open_corpus();
    for (int round = 0; round < n_rounds(40); round++) {
        char about[64];
        snprintf(about, sizeof(about), "round %d", round);
        random_profile(&r);
        open_profile();
        struct search_query q = random_query(&r, 6);
        if (round % 3 == 0) {
            q = query_for(SLICE_LIT("kilo delta bravo tango lima axolotl"));
        }
        struct filter *f = random_filter(&r);
        check(f, &q, about);
        filter_unref(f);
    }
}

/* All chunks score the same, so chunk ids decide alone; texts differ, or some are equal. */
Test(maxscore, equal_scores_everywhere, .timeout = 300)
{
    static const uint32_t depths[] = {1, 7, 20, 50, 1000};
    for (size_t i = 0; i < 900; i++) {
        char id[32], text[64];
        struct doc_scope scope =
            corpus_scope(&corpus, i % 2 ? "c" : "c-d", "note", i % 3 ? "public" : "internal");
        snprintf(id, sizeof(id), "%zu", i * 7919 % 1000);
        snprintf(text, sizeof(text), "opal finch w%zu", i % 5 ? i : i % 20);
        corpus_add_text(&corpus, scope, id, "", text);
    }
    open_corpus();
    for (size_t i = 0; i < 5; i++) {
        profile.candidate_depth = depths[i];
        open_profile();
        struct search_query one = query_for(SLICE_LIT("opal"));
        struct search_query two = query_for(SLICE_LIT("opal finch nothing"));
        struct filter *f = filter_owner();
        cr_assert_eq(check(f, &one, "one term"), depths[i] < 724 ? depths[i] : 724);
        check(f, &two, "two terms");
        filter_unref(f);
    }
}

/* One text in 10,000 documents: neither 10,000 reads nor a comparison of all with all. */
Test(maxscore, ten_thousand_equal_documents, .timeout = 120)
{
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    for (size_t i = 0; i < 2500; i++) {
        char id[32];
        snprintf(id, sizeof(id), "%zu", i);
        struct chunk_input *chunks = corpus_add(&corpus, scope, id, i % 9 ? "" : "opal", 4);
        for (size_t c = 0; c < 4; c++) {
            chunks[c].text = SLICE_LIT("opal finch");
        }
    }
    corpus_add_text(&corpus, scope, "other", "", "finch");
    open_corpus();
    open_profile();
    struct search_query q = query_for(SLICE_LIT("opal finch"));
    struct filter *f = filter_owner();
    cr_assert_eq(check(f, &q, "equal documents"), 2);
    filter_unref(f);
}

static struct slice repeat(const char *word, size_t n)
{
    struct dynbuf b;
    dynbuf_init(&b, 1 << 24);
    for (size_t i = 0; i < n; i++) {
        dynbuf_add_text(&b, word);
    }
    cr_assert(!b.failed);
    struct slice text = arena_copy(&corpus.arena, dynbuf_get(&b));
    dynbuf_done(&b);
    return text;
}

Test(maxscore, the_largest_frequencies_and_lengths, .timeout = 120)
{
    static const size_t counts[] = {1, 255, 65534, 65535, 65536, 1048580};
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    struct random r = {8};
    for (size_t i = 0; i < 6; i++) {
        char id[32];
        snprintf(id, sizeof(id), "%zu", i);
        corpus_add(&corpus, scope, id, "", 1)->text = repeat("opal ", counts[i]);
    }
    for (size_t i = 0; i < 300; i++) {
        char id[32];
        snprintf(id, sizeof(id), "short%zu", i);
        corpus_add(&corpus, scope, id, "", 1)->text = corpus_sentence(&corpus, &r, 9);
    }
    open_corpus();
    for (size_t i = 0; i < 4; i++) {
        profile.bm25_b_milli = i % 2 ? 750 : 1000;
        profile.candidate_depth = i < 2 ? 2 : 50;
        open_profile();
        struct search_query q = query_for(SLICE_LIT("opal kilo finch"));
        struct filter *f = filter_owner();
        cr_assert_gt(check(f, &q, "large numbers"), 0);
        filter_unref(f);
    }
}

/* Terms at and around the borders of the mask's words, each of them in other documents. */
Test(maxscore, many_terms, .timeout = 120)
{
    static const size_t counts[] = {1, 63, 64, 65, 128, 129, 255, 256, 300};
    struct random r = {12};
    struct doc_scope scopes[] = {corpus_scope(&corpus, "c", "note", "public"),
                                 corpus_scope(&corpus, "d", "note", "public")};
    for (size_t i = 0; i < 400; i++) {
        struct dynbuf b;
        char id[32], word[32];
        dynbuf_init(&b, 10000);
        for (size_t k = 0; k < 20; k++) {
            snprintf(word, sizeof(word), "w%u ", random_below(&r, 1 + random_below(&r, 320)));
            dynbuf_add_text(&b, word);
        }
        snprintf(id, sizeof(id), "%zu", i);
        corpus_add(&corpus, scopes[i % 2], id, "", 1)->text =
            arena_copy(&corpus.arena, dynbuf_get(&b));
        dynbuf_done(&b);
    }
    open_corpus();
    for (size_t i = 0; i < 9; i++) {
        struct dynbuf b;
        char word[32];
        dynbuf_init(&b, 10000);
        for (size_t t = 0; t < counts[i]; t++) {
            snprintf(word, sizeof(word), "w%zu ", t * 7 % 320);
            dynbuf_add_text(&b, word);
        }
        profile.candidate_depth = i % 2 ? 10 : 50;
        open_profile();
        struct search_query q = query_for(dynbuf_get(&b));
        struct filter *f = filter_owner();
        cr_assert_gt(check(f, &q, "many terms"), 0, "%zu", counts[i]);
        filter_unref(f);
        dynbuf_done(&b);
    }
}

Test(maxscore, terms_that_no_chunk_or_only_one_segment_holds)
{
    struct random r = {5};
    struct filter *f = filter_owner();
    fill_randomly(&r, 60);
    corpus_add_text(&corpus, corpus_scope(&corpus, "solo", "note", "public"), "1", "", "axolotl");
    open_corpus();
    open_profile();
    static const char *const texts[] = {"nothing", "axolotl", "nothing axolotl nobody",
                                        "kilo nobody",
                                        "\xE3\x85\xA4"}; /* a letter without a term */
    static const size_t least[] = {0, 1, 1, 20, 0};
    for (size_t i = 0; i < 5; i++) {
        struct search_query q = query_for(slice_of(texts[i]));
        size_t n = check(f, &q, texts[i]);
        cr_assert(n >= least[i] && (least[i] > 1 || n == least[i]), "%s: %zu", texts[i], n);
    }
    filter_unref(f);
}
