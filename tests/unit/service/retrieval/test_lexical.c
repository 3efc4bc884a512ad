/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine's own tests cannot bring about: two texts with one hash, two terms with one hash,
 * postings that are damaged under a digest that fits. */
#include "service/retrieval/lexical.h"

#include "corpus.h"
#include "service/retrieval/store_files.h"

#include <sqlite3.h>

static char *folder;
static struct corpus corpus;
static char path[4096];
static struct generation_entry entry;
static struct segment_reader *reader;

static void setup(void)
{
    folder = folder_new();
    corpus_init(&corpus);
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    corpus_add_text(&corpus, scope, "1", "", "opal gecko");
    corpus_add_text(&corpus, scope, "2", "", "opal finch");
    struct doc_input docs[] = {corpus.docs[0].input, corpus.docs[1].input};
    const struct segment_input in = {scope, docs, 2};
    entry = (struct generation_entry){.partition = {.scope = scope, .n_docs = 2, .n_chunks = 2}};
    segment_content_digest(&in, &entry.partition.content);
    snprintf(path, sizeof(path), "%s/x.seg", folder);
    cr_assert(segment_write(&in, &entry.partition.content, path, &entry.file, NULL));
}

static void teardown(void)
{
    segment_reader_unref(reader);
    corpus_done(&corpus);
    folder_free(folder);
}

TestSuite(lexical, .init = setup, .fini = teardown);

static bool open_reader(void)
{
    reader = segment_reader_open(path, &entry, 1, NULL);
    return reader != NULL;
}

/* Changes the file and makes the manifest's digest fit. */
static void change(const char *sql)
{
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(path, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_geq(sqlite3_total_changes(db), 1);
    sqlite3_close(db);
    cr_assert(store_digest(path, &entry.file, NULL));
}

static enum err search(atomic_bool *cancelled, struct hits **ret_hits)
{
    struct answer_profile profile;
    answer_profile_init(&profile);
    const struct slice terms[] = {SLICE_LIT("opal")};
    const struct lexical_query q = {
        .segments = &reader,
        .n_segments = 1,
        .terms = terms,
        .n_terms = 1,
        .published_from = NO_DATE,
        .published_to = NO_DATE,
        .profile = &profile,
        .cancelled = cancelled,
    };
    *ret_hits = NULL;
    return lexical_search(&q, ret_hits);
}

Test(lexical, two_texts_with_one_hash_stay_two)
{
    struct hits *h = NULL;
    cr_assert(open_reader());
    reader->chunks[1].text_hash = reader->chunks[0].text_hash;
    cr_assert_eq(search(NULL, &h), ERR_OK);
    cr_assert_eq(h->n, 2);
    cr_assert_eq(h->items[0].n_also, 0);
    hits_free(h);
}

Test(lexical, a_term_that_only_shares_the_hash_is_not_found)
{
    struct hits *h = NULL;
    change("UPDATE term SET term = 'other' WHERE term = 'opal'");
    cr_assert(open_reader());
    cr_assert_eq(search(NULL, &h), ERR_OK);
    cr_assert_eq(h->n, 0);
    hits_free(h);
}

Test(lexical, damaged_rows_are_an_error_not_an_answer)
{
    static const char *const changes[] = {
        "UPDATE term SET postings = x'0001' WHERE term = 'opal'",
        "UPDATE term SET postings = x'0501' WHERE term = 'opal'",
        "UPDATE term SET postings = x'' WHERE term = 'opal'",
        "UPDATE term SET df = 3 WHERE term = 'opal'",
        "UPDATE term SET df = -1 WHERE term = 'opal'",
        "DELETE FROM chunk WHERE chunk = 0",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct hits *h = NULL;
        change(changes[i]);
        cr_assert(open_reader());
        cr_assert_eq(search(NULL, &h), ERR_INTERNAL, "%s", changes[i]);
        cr_assert_null(h);
        segment_reader_unref(reader);
        reader = NULL;
        teardown();
        setup();
    }
}

Test(lexical, a_segment_that_contradicts_itself_is_not_opened)
{
    static const char *const changes[] = {
        "UPDATE meta SET value = 99 WHERE key = 'format'",
        "UPDATE meta SET value = 99 WHERE key = 'analysis_version'",
        "UPDATE meta SET value = -1 WHERE key = 'total_length'",
        "UPDATE meta SET value = 1 WHERE key = 'total_length'",
        "UPDATE meta SET value = x'00' WHERE key = 'chunk_info'",
        "UPDATE meta SET value = zeroblob(40) WHERE key = 'chunk_info'",
        "DELETE FROM meta WHERE key = 'content'",
        "UPDATE doc SET first_chunk = 0 WHERE doc = 1",
        "UPDATE doc SET n_chunks = 2 WHERE doc = 1",
        "UPDATE doc SET n_chunks = 0 WHERE doc = 1",
        "UPDATE doc SET doc_id = '0' WHERE doc = 1",
        "UPDATE doc SET published = 99999999999 WHERE doc = 1",
        "DELETE FROM doc WHERE doc = 1",
        "UPDATE label SET name = 'internal'",
        "INSERT INTO label VALUES(1, 'zoo')",
        "DELETE FROM label",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct err_detail why = {{0}};
        change(changes[i]);
        cr_assert_null(segment_reader_open(path, &entry, 1, &why), "%s", changes[i]);
        cr_assert(strstr(why.text, "x.seg"), "%s: %s", changes[i], why.text);
        teardown();
        setup();
    }
}

Test(lexical, a_cancelled_search_ends_without_hits)
{
    struct hits *h = NULL;
    atomic_bool cancelled = true;
    cr_assert(open_reader());
    cr_assert_eq(search(&cancelled, &h), ERR_DEADLINE);
    cr_assert_null(h);
    atomic_store(&cancelled, false);
    cr_assert_eq(search(&cancelled, &h), ERR_OK);
    cr_assert_eq(h->n, 2);
    hits_free(h);
}
