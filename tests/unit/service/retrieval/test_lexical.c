/* SPDX-License-Identifier: Apache-2.0 */
/* What the engine's own tests cannot bring about: two texts with one hash, two terms with one hash,
 * postings that are damaged under a digest that fits. */
#include "service/retrieval/lexical.h"

#include "service/retrieval/text.h"

#include "corpus.h"
#include "service/retrieval/store_files.h"

#include <sqlite3.h>

static char *folder;
static struct corpus corpus;
static struct segment_paths paths;
static struct generation_entry entry;
static struct segment_reader *reader;

static void write_corpus(void)
{
    struct doc_input docs[2];
    struct doc_scope scope = corpus.docs[0].scope;
    entry = (struct generation_entry){.partition = {.scope = scope, .n_docs = corpus.n}};
    for (size_t i = 0; i < corpus.n; i++) {
        docs[i] = corpus.docs[i].input;
        entry.partition.n_chunks += docs[i].n_chunks;
    }
    const struct segment_input in = {scope, docs, corpus.n};
    segment_content_digest(&in, &entry.partition.content);
    snprintf(paths.texts, sizeof(paths.texts), "%s/x.seg", folder);
    snprintf(paths.index, sizeof(paths.index), "%s/x.idx", folder);
    cr_assert(segment_write(&in, &entry.partition.content, &paths, &entry.files, NULL));
}

static void setup(void)
{
    folder = folder_new();
    corpus_init(&corpus);
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    corpus_add_text(&corpus, scope, "1", "", "opal gecko");
    corpus_add_text(&corpus, scope, "2", "", "opal finch");
    write_corpus();
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
    reader = segment_reader_open(&paths, &entry, 1, NULL);
    return reader != NULL;
}

/* Changes the texts file and makes the manifest's digest fit. */
static void change(const char *sql)
{
    sqlite3 *db = NULL;
    cr_assert_eq(sqlite3_open(paths.texts, &db), SQLITE_OK);
    cr_assert_eq(sqlite3_exec(db, sql, NULL, NULL, NULL), SQLITE_OK, "%s", sqlite3_errmsg(db));
    cr_assert_geq(sqlite3_total_changes(db), 1);
    sqlite3_close(db);
    cr_assert(store_digest(paths.texts, &entry.files.texts, NULL));
}

/* The index file in memory, for changing. */
struct index_file {
    struct dynbuf bytes;
    struct segment_layout at;
};

static void index_read(struct index_file *f)
{
    struct segment_index x;
    dynbuf_init(&f->bytes, 1 << 20);
    cr_assert(segment_index_open(&x, paths.index, &entry, NULL));
    cr_assert(segment_layout_of(&x.header, &f->at));
    segment_index_close(&x);
    cr_assert(store_read(paths.index, &f->bytes, NULL));
}

/* Writes it back and makes the manifest's digest fit. */
static void index_write(struct index_file *f)
{
    struct slice bytes = dynbuf_get(&f->bytes);
    cr_assert_eq(unlink(paths.index), 0);
    cr_assert(store_write_parts(paths.index, &bytes, 1, &entry.files.index, NULL));
    dynbuf_done(&f->bytes);
}

/* Where the term's record begins. */
static char *record_of(struct index_file *f, const char *term)
{
    char *p = f->bytes.p + f->at.records, *end = f->bytes.p + f->at.postings;
    size_t n = strlen(term);
    for (; p + 1 + n < end; p++) {
        if ((size_t)p[0] == n && memcmp(p + 1, term, n) == 0) {
            return p;
        }
    }
    cr_assert_fail("no record of %s", term);
    return NULL;
}

static enum err search_for(const struct slice *terms, size_t n_terms, atomic_bool *cancelled,
                           struct hits **ret_hits)
{
    struct answer_profile profile;
    uint32_t weights[TEXT_QUERY_MAX_TERMS];
    cr_assert_leq(n_terms, TEXT_QUERY_MAX_TERMS);
    answer_profile_init(&profile);
    for (size_t i = 0; i < n_terms; i++) {
        weights[i] = TEXT_WEIGHT_ONE;
    }
    const struct lexical_query q = {
        .segments = &reader,
        .n_segments = 1,
        .terms = terms,
        .term_weights = weights,
        .n_terms = n_terms,
        .published_from = NO_DATE,
        .published_to = NO_DATE,
        .profile = &profile,
        .cancelled = cancelled,
    };
    *ret_hits = NULL;
    return lexical_search(&q, ret_hits);
}

static enum err search(atomic_bool *cancelled, struct hits **ret_hits)
{
    const struct slice terms[] = {SLICE_LIT("opal")};
    return search_for(terms, 1, cancelled, ret_hits);
}

Test(lexical, two_texts_with_one_hash_stay_two)
{
    struct hits *h = NULL;
    struct index_file f;
    index_read(&f);
    char *hash = f.bytes.p + f.at.chunks + 8;
    memcpy(hash + SEGMENT_CHUNK_BYTES, hash, 8);
    index_write(&f);
    cr_assert(open_reader());
    cr_assert_eq(segment_chunk_at(reader, 0).text_hash, segment_chunk_at(reader, 1).text_hash);
    cr_assert_eq(search(NULL, &h), ERR_OK);
    cr_assert_eq(h->n, 2);
    cr_assert_eq(h->items[0].n_also, 0);
    hits_free(h);
}

Test(lexical, a_term_that_only_shares_the_hash_is_not_found)
{
    struct hits *h = NULL;
    struct index_file f;
    index_read(&f);
    memcpy(record_of(&f, "opal") + 1, "opax", 4);
    index_write(&f);
    cr_assert(open_reader());
    cr_assert_eq(search(NULL, &h), ERR_OK);
    cr_assert_eq(h->n, 0);
    hits_free(h);
}

/* The record of opal: its length 1 and bytes 4, df 2 and size 2 in one byte, postings 2. */
Test(lexical, damaged_records_are_an_error_not_an_answer)
{
    static const struct {
        size_t at;
        unsigned char byte;
    } changes[] = {
        {0, 255},        {0, 0},           {5, 0},          {5, 2 << 3},
        {5, 2 << 3 | 1}, {5, 2 << 3 | 3},  {5, 2 << 3 | 7}, {5, 2},
        {5, 1 << 3 | 2}, {5, 31 << 3 | 2}, {5, 0xFF},       {7, 10},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct hits *h = NULL;
        struct index_file f;
        index_read(&f);
        record_of(&f, "opal")[changes[i].at] = (char)changes[i].byte;
        index_write(&f);
        cr_assert(open_reader());
        cr_assert_eq(search(NULL, &h), ERR_INTERNAL, "change %zu", i);
        cr_assert_null(h);
        segment_reader_unref(reader);
        reader = NULL;
        teardown();
        setup();
    }
}

Test(lexical, a_text_that_is_gone_is_an_error_not_an_answer)
{
    static const char *const changes[] = {"DELETE FROM chunk WHERE chunk = 0",
                                          "DELETE FROM doc WHERE doc = 1"};
    for (size_t i = 0; i < 2; i++) {
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
        "UPDATE meta SET value = 1 WHERE key = 'n_docs'",
        "UPDATE meta SET value = 3 WHERE key = 'n_chunks'",
        "UPDATE meta SET value = -1 WHERE key = 'n_chunks'",
        "UPDATE meta SET value = 'd' WHERE key = 'collection'",
        "UPDATE meta SET value = zeroblob(32) WHERE key = 'content'",
        "DELETE FROM meta WHERE key = 'content'",
        "UPDATE label SET name = 'internal'",
        "INSERT INTO label VALUES(1, 'zoo')",
        "DELETE FROM label",
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct err_detail why = {{0}};
        change(changes[i]);
        cr_assert_null(segment_reader_open(&paths, &entry, 1, &why), "%s", changes[i]);
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

/* A term that every chunk holds, and one that the first chunks hold: once those are found, the rest
 * of the long list cannot matter. It is spoilt to show that nobody looks at it. */
Test(lexical, what_cannot_matter_is_not_read)
{
    enum { N_CHUNKS = 4000, N_RARE = 60, BLOCK = 20, ENTRY_BYTES = 14, LIST_BOUND_BYTES = 4 };
    const struct slice terms[] = {SLICE_LIT("opal"), SLICE_LIT("axolotl")};
    const struct segment_term opal = segment_term_of(terms[0]);
    teardown();
    folder = folder_new();
    corpus_init(&corpus);
    struct chunk_input *chunks =
        corpus_add(&corpus, corpus_scope(&corpus, "c", "note", "public"), "1", "", N_CHUNKS);
    for (size_t i = 0; i < N_CHUNKS; i++) {
        char text[64];
        snprintf(text, sizeof(text), "%s w%zu", i < N_RARE ? "opal axolotl" : "opal", i);
        chunks[i].text = corpus_text(&corpus, text);
    }
    write_corpus();
    cr_assert(open_reader());
    struct hits *whole = NULL, *spoilt = NULL;
    cr_assert_eq(search_for(terms, 2, NULL, &whole), ERR_OK);

    uint32_t df = 0;
    struct slice list;
    struct index_file f;
    cr_assert_eq(segment_postings(reader, &opal, &df, &list), ERR_OK);
    cr_assert_eq(df, N_CHUNKS);
    size_t at = (size_t)(list.p - reader->index.map) + LIST_BOUND_BYTES + BLOCK * ENTRY_BYTES + 8;
    index_read(&f);
    cr_assert_eq(f.bytes.p[at], 0, "a dense block has distances of no bits");
    f.bytes.p[at] = 99;
    index_write(&f);
    segment_reader_unref(reader);
    cr_assert(open_reader());

    cr_assert_eq(search(NULL, &spoilt), ERR_INTERNAL, "a search that reads all of it fails");
    cr_assert_eq(search_for(terms, 2, NULL, &spoilt), ERR_OK);
    cr_assert_eq(spoilt->n, 50);
    for (size_t i = 0; i < 50; i++) {
        cr_assert(slice_eq(spoilt->items[i].chunk_id, whole->items[i].chunk_id));
        cr_assert_eq(spoilt->items[i].score, whole->items[i].score);
        cr_assert_eq(spoilt->items[i].matched[0], 3);
    }
    hits_free(whole);
    hits_free(spoilt);
}
