/* SPDX-License-Identifier: Apache-2.0 */
/* What is searched and fetched, against the definition. */
#include "bm25_oracle.h"
#include "embedded_bench.h"

TestSuite(embedded, .init = setup, .fini = teardown);

static bool id_is(struct slice id, const char *expected)
{
    return slice_is(id, expected);
}

/* Text of everything a caller could see of the hits. */
static struct dynbuf print(const struct hits *h)
{
    struct dynbuf b;
    dynbuf_init(&b, 1 << 24);
    for (size_t i = 0; i < h->n; i++) {
        const struct hit *hit = &h->items[i];
        const struct slice parts[] = {hit->chunk_id, hit->doc_id,           hit->title,
                                      hit->text,     hit->scope.collection, hit->scope.doc_type};
        for (size_t k = 0; k < 6; k++) {
            dynbuf_add(&b, parts[k]);
            dynbuf_add_byte(&b, '|');
        }
        dynbuf_add(&b, hit->source_url.p ? hit->source_url : SLICE_LIT("-"));
        for (size_t k = 0; k < hit->scope.n_labels; k++) {
            dynbuf_add(&b, hit->scope.labels[k]);
            dynbuf_add_byte(&b, ',');
        }
        for (size_t k = 0; k < hit->n_also; k++) {
            dynbuf_add(&b, hit->also[k].chunk_id);
            dynbuf_add_byte(&b, ';');
        }
        dynbuf_add_int(&b, (int64_t)hit->score);
        dynbuf_add_byte(&b, ' ');
        dynbuf_add_int(&b, hit->published);
        dynbuf_add_byte(&b, ' ');
        dynbuf_add_int(&b, hit->position);
        dynbuf_add_byte(&b, '\n');
    }
    return b;
}

static bool same_hits(const struct hits *a, const struct hits *b)
{
    struct dynbuf x = print(a), y = print(b);
    bool same = slice_eq(dynbuf_get(&x), dynbuf_get(&y));
    dynbuf_done(&x);
    dynbuf_done(&y);
    return same;
}

/* The engine against the definition */

static void expect_oracle(struct backend *b, struct view *v, const struct search_query *q,
                          const char *about, size_t *n_hits)
{
    struct oracle *o = mem_alloc(sizeof(*o));
    o->corpus = &corpus;
    o->filter = v->filter;
    o->query = q;
    o->profile = &profile;
    struct hits *h = search(b, v, q);
    oracle_expect(o, h, about);
    *n_hits += h->n;
    hits_free(h);
    free(o);
}

static void fill_randomly(struct random *r, size_t n)
{
    static const char *const collections[] = {"c", "c-x", "c.y", "zoo"};
    static const char *const doc_types[] = {"note", "faq", "law"};
    static const char *const labels[] = {"public", "internal", "hr,internal", ""};
    for (size_t i = 0; i < n; i++) {
        struct doc_scope scope =
            corpus_scope(&corpus, collections[random_below(r, 4)], doc_types[random_below(r, 3)],
                         labels[random_below(r, 4)]);
        corpus_add_random(&corpus, r, scope, "d");
    }
}

static struct filter *random_filter(struct random *r)
{
    switch (random_below(r, 4)) {
    case 0: return filter_owner();
    case 1: return filter_for("c, zoo", "\"*\"", "public, internal");
    case 2: return filter_for("\"*\"", "note, faq", "\"*\"");
    default: return filter_for("c-x, c.y", "law", "internal, hr");
    }
}

static struct search_query random_query(struct random *r)
{
    struct search_query q = query_for("");
    q.text = corpus_sentence(&corpus, r, 5);
    if (random_below(r, 3) == 0) {
        q.collection = SLICE_LIT("c-x");
    }
    if (random_below(r, 3) == 0) {
        q.doc_type = SLICE_LIT("note");
    }
    if (random_below(r, 3) == 0) {
        q.published_from = (int32_t)random_below(r, 100);
    }
    if (random_below(r, 3) == 0) {
        q.published_to = (int32_t)random_below(r, 100);
    }
    return q;
}

Test(embedded, agrees_with_the_definition, .timeout = 240)
{
    static const uint32_t depths[] = {20, 50, 21};
    size_t n_hits = 0;
    for (uint64_t seed = 1; seed <= 3; seed++) {
        struct random r = {seed * 7919};
        profile.candidate_depth = depths[seed - 1];
        profile.bm25_b_milli = seed == 2 ? 0 : 750;
        profile.also_in_max = seed == 3 ? 0 : 5;
        fill_randomly(&r, 150);
        store_publish(store, &corpus);
        struct backend *b = open_store();
        for (int i = 0; i < 25; i++) {
            char about[64];
            snprintf(about, sizeof(about), "seed %lu, query %d", (unsigned long)seed, i);
            struct search_query q = random_query(&r);
            struct view *v = view_of(b, random_filter(&r));
            expect_oracle(b, v, &q, about, &n_hits);
            view_unref(v);
        }
        b->ops->free(b);
    }
    cr_assert_gt(n_hits, 500, "the queries find something");
}

/* A hidden document does not exist */

Test(embedded, hidden_partitions_change_nothing)
{
    struct random r = {4242};
    fill_randomly(&r, 100);
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct view *before = view_of(b, filter_for("c, c-x, c.y, zoo", "\"*\"", "public, internal"));

    for (size_t i = 0; i < 100; i++) {
        static const char *const hidden[][3] = {
            {"secret", "note", "public"},   {"c", "note", "hr"}, {"a", "faq", "internal"},
            {"c", "note", "public,secret"}, {"zoo", "aaa", ""},
        };
        const char *const *h = hidden[i % 5];
        corpus_add_random(&corpus, &r, corpus_scope(&corpus, h[0], h[1], h[2]), "hidden");
        corpus_add_text(&corpus, corpus_scope(&corpus, h[0], h[1], h[2]),
                        corpus.docs[corpus.n - 1].input.doc_id.n % 2 ? "rare" : "words",
                        "kilo kilo kilo", "stork stork kilo bison");
        corpus.docs[corpus.n - 1].input.doc_id =
            arena_copy(&corpus.arena, corpus_sentence(&corpus, &r, 12));
    }
    store_publish(store, &corpus);
    bool switched = false;
    cr_assert(embedded_refresh(b, &switched, NULL));
    cr_assert(switched);
    struct view *after = view_of(b, filter_for("c, c-x, c.y, zoo", "\"*\"", "public, internal"));

    cr_assert_str_eq(before->index_version, after->index_version);
    cr_assert_eq(before->n_partitions, after->n_partitions);
    for (int i = 0; i < 40; i++) {
        struct search_query q = random_query(&r);
        struct hits *x = search(b, before, &q), *y = search(b, after, &q);
        cr_assert(same_hits(x, y), "query %.*s", (int)q.text.n, q.text.p);
        hits_free(x);
        hits_free(y);
    }
    struct view *owner = view_of(b, filter_owner());
    cr_assert_gt(owner->n_partitions, after->n_partitions, "the hidden ones are there");
    view_unref(owner);

    /* and a visible document is noticed */
    corpus_add_text(&corpus, corpus_scope(&corpus, "c", "note", "public"), "new", "", "kilo");
    store_publish(store, &corpus);
    cr_assert(embedded_refresh(b, NULL, NULL));
    struct view *seen = view_of(b, filter_for("c, c-x, c.y, zoo", "\"*\"", "public, internal"));
    cr_assert_str_neq(before->index_version, seen->index_version);
    view_unref(seen);
    view_unref(before);
    view_unref(after);
    b->ops->free(b);
}

Test(embedded, a_view_without_partitions_finds_nothing)
{
    corpus_add_text(&corpus, corpus_scope(&corpus, "c", "note", "public"), "d", "", "opal");
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct view *v = view_of(b, filter_for("other", "\"*\"", "\"*\""));
    struct search_query q = query_for("opal");
    struct hits *h = search(b, v, &q);
    cr_assert_eq(v->n_partitions, 0);
    cr_assert_eq(h->n, 0);
    hits_free(h);
    view_unref(v);
    b->ops->free(b);
}

/* How documents are spread over partitions is nobody's business */

Test(embedded, other_partitions_same_answer)
{
    struct random r = {99};
    static const char *const doc_types[] = {"t0", "t1", "t2", "t3", "t4", "t5", "t6"};
    struct search_query queries[20];
    struct hits *first[20];
    for (size_t i = 0; i < 120; i++) {
        corpus_add_random(&corpus, &r, corpus_scope(&corpus, "c", "t0", "public"), "d");
    }
    for (size_t spread = 1; spread <= 7; spread += 3) {
        for (size_t i = 0; i < corpus.n; i++) {
            corpus.docs[i].scope.doc_type = slice_of(doc_types[random_below(&r, 7) % spread]);
        }
        store_publish(store, &corpus);
        struct backend *b = open_store();
        struct view *v = view_of(b, filter_owner());
        cr_assert_eq(v->n_partitions, spread);
        for (size_t i = 0; i < 20; i++) {
            if (spread == 1) {
                queries[i] = query_for("");
                queries[i].text = corpus_sentence(&corpus, &r, 4);
                first[i] = search(b, v, &queries[i]);
                continue;
            }
            struct hits *h = search(b, v, &queries[i]);
            cr_assert_eq(h->n, first[i]->n);
            for (size_t k = 0; k < h->n; k++) {
                cr_assert(slice_eq(h->items[k].chunk_id, first[i]->items[k].chunk_id));
                cr_assert_eq(h->items[k].score, first[i]->items[k].score);
                cr_assert_eq(h->items[k].n_also, first[i]->items[k].n_also);
            }
            hits_free(h);
        }
        view_unref(v);
        b->ops->free(b);
    }
    for (size_t i = 0; i < 20; i++) {
        hits_free(first[i]);
    }
}

/* Statistics follow collection and doc_type, but not dates */

static uint64_t score_of(struct backend *b, struct view *v, const struct search_query *q,
                         const char *chunk_id)
{
    uint64_t score = 0;
    struct hits *h = search(b, v, q);
    for (size_t i = 0; i < h->n; i++) {
        score = id_is(h->items[i].chunk_id, chunk_id) ? h->items[i].score : score;
    }
    hits_free(h);
    return score;
}

Test(embedded, statistics_follow_the_named_partitions)
{
    struct doc_scope a = corpus_scope(&corpus, "a", "note", "public");
    struct doc_scope b_scope = corpus_scope(&corpus, "b", "note", "public");
    corpus_add_text(&corpus, a, "1", "", "opal finch");
    corpus_add_text(&corpus, a, "2", "", "lynx finch");
    corpus_add_text(&corpus, b_scope, "3", "", "opal lynx");
    corpus_add_text(&corpus, b_scope, "4", "", "opal heron");
    corpus.docs[0].input.published = 10;
    corpus.docs[1].input.published = 20;
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct view *v = view_of(b, filter_owner());
    struct search_query q = query_for("opal");
    uint64_t all = score_of(b, v, &q, "a/1/0");
    q.collection = SLICE_LIT("a");
    uint64_t narrowed = score_of(b, v, &q, "a/1/0");
    cr_assert_gt(narrowed, all, "rarer in a alone");
    q.published_from = 10;
    q.published_to = 10;
    cr_assert_eq(score_of(b, v, &q, "a/1/0"), narrowed, "dates change no statistics");
    q.collection = SLICE_NONE;
    cr_assert_eq(score_of(b, v, &q, "a/1/0"), all);
    view_unref(v);
    b->ops->free(b);
}

Test(embedded, dates_are_inclusive_and_exclude_the_undated)
{
    static const struct {
        int32_t from, to;
        bool first, second, undated;
    } cases[] = {
        {NO_DATE, NO_DATE, true, true, true}, {10, 20, true, true, false},
        {10, NO_DATE, true, true, false},     {11, NO_DATE, false, true, false},
        {NO_DATE, 20, true, true, false},     {NO_DATE, 19, true, false, false},
        {21, NO_DATE, false, false, false},   {NO_DATE, 9, false, false, false},
        {15, 5, false, false, false},
    };
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    corpus_add_text(&corpus, scope, "1", "", "opal one");
    corpus_add_text(&corpus, scope, "2", "", "opal two");
    corpus_add_text(&corpus, scope, "3", "", "opal three");
    corpus.docs[0].input.published = 10;
    corpus.docs[1].input.published = 20;
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct view *v = view_of(b, filter_owner());
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        struct search_query q = query_for("opal");
        q.published_from = cases[i].from;
        q.published_to = cases[i].to;
        cr_assert_eq(score_of(b, v, &q, "c/1/0") > 0, cases[i].first, "case %zu", i);
        cr_assert_eq(score_of(b, v, &q, "c/2/0") > 0, cases[i].second, "case %zu", i);
        cr_assert_eq(score_of(b, v, &q, "c/3/0") > 0, cases[i].undated, "case %zu", i);
    }
    view_unref(v);
    b->ops->free(b);
}

/* Equal texts */

Test(embedded, equal_texts_count_once_and_list_their_places)
{
    struct doc_scope seen = corpus_scope(&corpus, "c", "note", "public");
    struct doc_scope hidden = corpus_scope(&corpus, "c", "note", "hr");
    for (int i = 0; i < 30; i++) {
        char id[32];
        snprintf(id, sizeof(id), "copy%02d", i);
        corpus_add_text(&corpus, i % 3 ? seen : hidden, id, "", "opal opal");
    }
    corpus_add_text(&corpus, seen, "titled", "opal", "opal opal");
    corpus_add_text(&corpus, seen, "other", "", "opal and a gecko");
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct view *v = view_of(b, filter_for("c", "note", "public"));
    struct search_query q = query_for("opal");
    struct hits *h = search(b, v, &q);
    cr_assert_eq(h->n, 2);
    cr_assert(id_is(h->items[0].chunk_id, "c/titled/0"), "the best of them");
    static const char *const places[] = {"c/copy01/0", "c/copy02/0", "c/copy04/0", "c/copy05/0",
                                         "c/copy07/0"};
    cr_assert_eq(h->items[0].n_also, 5);
    for (size_t i = 0; i < 5; i++) {
        cr_assert(id_is(h->items[0].also[i].chunk_id, places[i]));
        cr_assert_eq(doc_scope_cmp(&h->items[0].also[i].scope, &seen), 0);
    }
    cr_assert(id_is(h->items[1].chunk_id, "c/other/0"));
    cr_assert_eq(h->items[1].n_also, 0);
    hits_free(h);
    view_unref(v);
    b->ops->free(b);
}

Test(embedded, depth_counts_distinct_texts)
{
    char id[32], text[64];
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    for (int i = 0; i < 60; i++) {
        snprintf(id, sizeof(id), "d%02d", i);
        snprintf(text, sizeof(text), "opal x%d", i / 2);
        corpus_add_text(&corpus, scope, id, "", text);
    }
    store_publish(store, &corpus);
    static const uint32_t depths[] = {20, 29, 30, 31};
    for (size_t i = 0; i < 4; i++) {
        profile.candidate_depth = depths[i];
        struct backend *b = open_store();
        struct view *v = view_of(b, filter_owner());
        struct search_query q = query_for("opal");
        struct hits *h = search(b, v, &q);
        cr_assert_eq(h->n, depths[i] < 30 ? depths[i] : 30);
        for (size_t k = 0; k < h->n; k++) {
            snprintf(id, sizeof(id), "c/d%02zu/0", 2 * k);
            cr_assert(id_is(h->items[k].chunk_id, id), "ties by chunk id");
            cr_assert_eq(h->items[k].n_also, 1);
        }
        hits_free(h);
        view_unref(v);
        b->ops->free(b);
    }
}

/* Fetch */

static struct hits *fetch(struct backend *b, struct view *v, const char *collection,
                          const char *doc_id, int64_t position)
{
    struct hits *h = NULL;
    const struct fetch_query q = {slice_of(collection), slice_of(doc_id), position >= 0,
                                  position >= 0 ? (uint32_t)position : 0};
    cr_assert_eq(embedded_fetch_now(b, v, &q, &h), ERR_OK);
    cr_assert(h);
    return h;
}

static size_t count_fetched(struct backend *b, struct view *v, const char *collection,
                            const char *doc_id, int64_t position)
{
    struct hits *h = fetch(b, v, collection, doc_id, position);
    size_t n = h->n;
    cr_assert(!h->more);
    hits_free(h);
    return n;
}

Test(embedded, fetch_gives_documents_and_chunks)
{
    struct doc_scope seen = corpus_scope(&corpus, "c", "note", "public");
    struct chunk_input *chunks = corpus_add(&corpus, seen, "x/y.md", "Title", 12);
    chunks[11].text = SLICE_LIT("last");
    chunks[11].position = 40;
    corpus_add_text(&corpus, corpus_scope(&corpus, "c", "law", "hr"), "z.md", "", "hidden");
    corpus_add_text(&corpus, corpus_scope(&corpus, "d", "note", "public"), "q.md", "", "other");
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct view *v = view_of(b, filter_for("c", "\"*\"", "public"));

    struct hits *h = fetch(b, v, "c", "x/y.md", -1);
    cr_assert_eq(h->n, 12);
    cr_assert(!h->more);
    for (size_t i = 0; i < 12; i++) {
        cr_assert_eq(h->items[i].position, i == 11 ? 40 : i);
    }
    cr_assert(slice_is(h->items[3].title, "Title"));
    hits_free(h);
    h = fetch(b, v, "c", "x/y.md", 40);
    cr_assert_eq(h->n, 1);
    cr_assert(slice_is(h->items[0].text, "last"));
    cr_assert(id_is(h->items[0].chunk_id, "c/x/y.md/40"));
    hits_free(h);

    cr_assert_eq(count_fetched(b, v, "c", "x/y.md", 12), 0, "no such position");
    cr_assert_eq(count_fetched(b, v, "c", "z.md", -1), 0, "hidden by its label");
    cr_assert_eq(count_fetched(b, v, "c", "z.md", 0), 0);
    cr_assert_eq(count_fetched(b, v, "d", "q.md", -1), 0, "hidden by its collection");
    cr_assert_eq(count_fetched(b, v, "c", "q.md", -1), 0, "in another collection");
    cr_assert_eq(count_fetched(b, v, "c", "nothing", -1), 0);
    cr_assert_eq(count_fetched(b, v, "c", "x/y.m", -1), 0);
    view_unref(v);
    v = view_of(b, filter_owner());
    cr_assert_eq(count_fetched(b, v, "c", "z.md", -1), 1, "it is there");
    cr_assert_eq(count_fetched(b, v, "d", "q.md", 0), 1);
    cr_assert_eq(count_fetched(b, v, "c", "q.md", 0), 0, "not under another collection");
    view_unref(v);
    b->ops->free(b);
}

Test(embedded, fetch_is_bounded)
{
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    corpus_add(&corpus, scope, "below", "", FETCH_MAX_CHUNKS - 1);
    corpus_add(&corpus, scope, "at", "", FETCH_MAX_CHUNKS);
    corpus_add(&corpus, scope, "above", "", FETCH_MAX_CHUNKS + 1);
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct view *v = view_of(b, filter_owner());
    static const struct {
        const char *id;
        size_t n;
        bool more;
    } cases[] = {{"below", FETCH_MAX_CHUNKS - 1, false},
                 {"at", FETCH_MAX_CHUNKS, false},
                 {"above", FETCH_MAX_CHUNKS, true}};
    for (size_t i = 0; i < 3; i++) {
        struct hits *h = fetch(b, v, "c", cases[i].id, -1);
        cr_assert_eq(h->n, cases[i].n);
        cr_assert_eq(h->more, cases[i].more);
        hits_free(h);
    }
    cr_assert_eq(count_fetched(b, v, "c", "above", FETCH_MAX_CHUNKS), 1, "still to be had alone");
    view_unref(v);
    b->ops->free(b);
}
