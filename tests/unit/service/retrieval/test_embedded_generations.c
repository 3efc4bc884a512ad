/* SPDX-License-Identifier: Apache-2.0 */
/* How an engine takes up what is published, and what it does with harm. */
#include "embedded_bench.h"

TestSuite(embedded_generations, .init = setup, .fini = teardown);

Test(embedded_generations, a_store_without_an_index_says_what_to_do)
{
    struct err_detail why = {{0}};
    cr_assert_null(embedded_open(store, &profile, NULL, &why));
    cr_assert(strstr(why.text, "kbgate ingest --store ") && strstr(why.text, store), "%s",
              why.text);
}

Test(embedded_generations, requests_finish_on_their_generation)
{
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    corpus_add_text(&corpus, scope, "1", "", "opal");
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct view *old = view_of(b, filter_owner());
    bool switched = true;
    cr_assert(embedded_refresh(b, &switched, NULL));
    cr_assert(!switched, "nothing new");

    corpus_add_text(&corpus, scope, "2", "", "opal opal");
    store_publish(store, &corpus);
    generation_collect(store, 0); /* the old file is gone from the folder */
    cr_assert(embedded_refresh(b, &switched, NULL));
    cr_assert(switched);
    struct view *fresh = view_of(b, filter_owner());
    struct search_query q = query_for("opal");
    struct hits *x = search(b, old, &q), *y = search(b, fresh, &q);
    cr_assert_eq(x->n, 1);
    cr_assert_eq(y->n, 2);
    cr_assert_str_neq(old->index_version, fresh->index_version);
    hits_free(x);
    hits_free(y);

    struct embedded_stats stats;
    embedded_stats(b, &stats);
    cr_assert_eq(stats.n_partitions, 1);
    cr_assert_eq(stats.n_docs, 2);
    cr_assert_eq(stats.n_chunks, 2);
    cr_assert_str_eq(stats.generation, "2.json");
    view_unref(old);
    view_unref(fresh);
    b->ops->free(b);
}

static void flip_byte(const char *path, long at)
{
    FILE *f = fopen(path, "r+");
    cr_assert(f);
    cr_assert_eq(fseek(f, at, SEEK_SET), 0);
    int byte = fgetc(f);
    cr_assert_eq(fseek(f, at, SEEK_SET), 0);
    cr_assert_neq(fputc(byte ^ 4, f), EOF);
    cr_assert_eq(fclose(f), 0);
}

Test(embedded_generations, a_damaged_generation_is_named_and_the_old_one_stays)
{
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    corpus_add_text(&corpus, scope, "1", "", "opal");
    store_publish(store, &corpus);
    struct backend *b = open_store();
    corpus_add_text(&corpus, scope, "2", "", "opal opal");
    store_publish(store, &corpus);
    struct generation g;
    cr_assert(generation_read(store, &g, NULL));
    struct segment_paths paths;
    cr_assert(generation_segment_paths(store, &g.entries[0].partition.content, "", &paths));
    flip_byte(paths.index, 100);

    for (int i = 0; i < 3; i++) {
        struct err_detail why = {{0}};
        bool switched = true;
        cr_assert(!embedded_refresh(b, &switched, &why));
        cr_assert(!switched);
        cr_assert(strstr(why.text, ".idx") && strstr(why.text, "damaged"), "%s", why.text);
    }
    struct view *v = view_of(b, filter_owner());
    struct search_query q = query_for("opal");
    struct hits *h = search(b, v, &q);
    cr_assert_eq(h->n, 1, "the old generation is served");
    hits_free(h);
    view_unref(v);

    struct err_detail why = {{0}};
    cr_assert_null(embedded_open(store, &profile, NULL, &why), "and a start is refused");
    cr_assert(strstr(why.text, ".idx"), "%s", why.text);

    corpus_add_text(&corpus, scope, "3", "", "opal opal opal");
    store_publish(store, &corpus);
    bool switched = false;
    cr_assert(embedded_refresh(b, &switched, NULL), "the next publication works at once");
    cr_assert(switched);
    generation_done(&g);
    b->ops->free(b);
}

/* A segment that did not change is not read again: damaging it now goes unnoticed. */
Test(embedded_generations, unchanged_segments_are_shared)
{
    corpus_add_text(&corpus, corpus_scope(&corpus, "a", "note", "public"), "1", "", "opal");
    store_publish(store, &corpus);
    struct backend *b = open_store();
    struct generation g;
    cr_assert(generation_read(store, &g, NULL));
    struct segment_paths paths;
    cr_assert(generation_segment_paths(store, &g.entries[0].partition.content, "", &paths));
    corpus_add_text(&corpus, corpus_scope(&corpus, "b", "note", "public"), "2", "", "opal");
    store_publish(store, &corpus);
    flip_byte(paths.texts, 1000);
    cr_assert_eq(unlink(paths.index), 0);
    struct err_detail why = {{0}};
    cr_assert(embedded_refresh(b, NULL, &why), "%s", why.text);
    struct view *v = view_of(b, filter_owner());
    cr_assert_eq(v->n_partitions, 2);
    view_unref(v);
    generation_done(&g);
    b->ops->free(b);
}

Test(embedded_generations, a_store_made_anew_under_the_same_name_is_noticed)
{
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    corpus_add_text(&corpus, scope, "1", "", "opal");
    store_publish(store, &corpus);
    struct backend *b = open_store();
    char *name = mem_text(slice_of(store));
    folder_free(store);
    store = name;
    corpus_add_text(&corpus, scope, "2", "", "onyx");
    store_publish(store, &corpus);
    bool switched = false;
    cr_assert(embedded_refresh(b, &switched, NULL));
    cr_assert(switched, "1.json again, but other content");
    b->ops->free(b);
}
