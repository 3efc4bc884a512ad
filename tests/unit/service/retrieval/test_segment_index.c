/* SPDX-License-Identifier: Apache-2.0 */
/* The index file alone: whatever it says, it is refused by name or read without harm; what is asked
 * of it is what was written. */
#include "service/retrieval/segment_index.h"

#include "corpus.h"
#include "service/retrieval/postings.h"
#include "service/retrieval/segment_write.h"
#include "service/retrieval/store_files.h"

static char *folder;
static char path[4096];
static struct corpus corpus;
static struct generation_entry entry;
static struct segment_index index_of;

static void setup(void)
{
    folder = folder_new();
    corpus_init(&corpus);
    snprintf(path, sizeof(path), "%s/x.idx", folder);
}

static void teardown(void)
{
    segment_index_close(&index_of);
    corpus_done(&corpus);
    folder_free(folder);
}

TestSuite(segment_index, .init = setup, .fini = teardown);

/* Writes the corpus, which has one scope, as one segment's index. */
static void write_corpus(void)
{
    struct err_detail why = {{0}};
    struct doc_input *docs = mem_array(corpus.n, sizeof(*docs));
    qsort(corpus.docs, corpus.n, sizeof(*corpus.docs), corpus_by_scope_and_id);
    uint64_t n_chunks = 0;
    for (size_t i = 0; i < corpus.n; i++) {
        docs[i] = corpus.docs[i].input;
        n_chunks += docs[i].n_chunks;
    }
    const struct segment_input in = {corpus.docs[0].scope, docs, corpus.n};
    entry = (struct generation_entry){
        .partition = {.scope = in.scope, .n_docs = corpus.n, .n_chunks = n_chunks}};
    segment_content_digest(&in, &entry.partition.content);
    unlink(path);
    bool good = segment_write_index(&in, &entry.partition.content, path, &entry.files.index, &why);
    cr_assert(good, "%s", why.text);
    free(docs);
}

static void open_index(void)
{
    struct err_detail why = {{0}};
    segment_index_close(&index_of);
    cr_assert(segment_index_open(&index_of, path, &entry, &why), "%s", why.text);
}

static uint32_t df_of(const char *term)
{
    uint32_t df = 0;
    struct slice bytes;
    const struct segment_term t = {slice_of(term), segment_hash(slice_of(term))};
    cr_assert_eq(segment_index_find(&index_of, &t, &df, &bytes), ERR_OK);
    return df;
}

static void fill(size_t n_docs)
{
    struct random r = {77};
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    for (size_t i = 0; i < n_docs; i++) {
        corpus_add_random(&corpus, &r, scope, "d");
    }
}

Test(segment_index, one_document_without_a_term)
{
    corpus_add_text(&corpus, corpus_scope(&corpus, "c", "note", ""), "only", "", "…");
    write_corpus();
    open_index();
    cr_assert_eq(index_of.header.n_buckets, 1);
    cr_assert_eq(index_of.header.record_bytes, 0);
    cr_assert_eq(df_of("only"), 0);
    cr_assert_eq(df_of(""), 0);
    struct segment_doc d = segment_index_doc(&index_of, 0);
    cr_assert(slice_is(d.doc_id, "only") && d.published == NO_DATE && d.n_chunks == 1);
    cr_assert_eq(segment_index_length(&index_of, 0), 0);
}

/* Each term in its own number of chunks, and none that is not there. */
Test(segment_index, a_hundred_thousand_terms_are_found, .timeout = 120)
{
    enum { TERMS = 100000, CHUNKS = 100 };
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    struct chunk_input *chunks = corpus_add(&corpus, scope, "d", "", CHUNKS);
    char word[32];
    for (uint32_t c = 0; c < CHUNKS; c++) {
        struct dynbuf b;
        dynbuf_init(&b, 1 << 24);
        for (uint32_t i = c; i < TERMS; i += CHUNKS) {
            snprintf(word, sizeof(word), "%u ", i);
            dynbuf_add_text(&b, word);
        }
        dynbuf_add_text(&b, c % 2 ? "odd " : "even ");
        chunks[c].text = arena_copy(&corpus.arena, dynbuf_get(&b));
        dynbuf_done(&b);
    }
    write_corpus();
    open_index();
    cr_assert_eq(index_of.header.n_buckets, (TERMS + 2) / SEGMENT_BUCKET_TERMS + 1);
    for (uint32_t i = 0; i < TERMS; i++) {
        snprintf(word, sizeof(word), "%u", i);
        cr_assert_eq(df_of(word), 1, "%s", word);
        snprintf(word, sizeof(word), "0%u", i);
        cr_assert_eq(df_of(word), 0, "%s", word);
    }
    cr_assert_eq(df_of("odd"), CHUNKS / 2);
    cr_assert_eq(df_of("even"), CHUNKS / 2);
}

/* So few terms are in one bucket. One that shares even the whole hash is told apart by its bytes.
 */
Test(segment_index, terms_that_share_bucket_or_hash_stay_apart)
{
    struct doc_scope scope = corpus_scope(&corpus, "c", "note", "public");
    corpus_add_text(&corpus, scope, "1", "", "stork");
    corpus_add_text(&corpus, scope, "2", "", "stock");
    corpus_add_text(&corpus, scope, "3", "", "stock");
    write_corpus();
    open_index();
    cr_assert_eq(index_of.header.n_buckets, 1);
    cr_assert_eq(df_of("stork"), 1);
    cr_assert_eq(df_of("stock"), 2);
    cr_assert_eq(df_of("stoc"), 0);
    cr_assert_eq(df_of("storks"), 0);

    uint32_t df = 7;
    struct slice bytes;
    const struct segment_term forged = {SLICE_LIT("other"), segment_hash(SLICE_LIT("stork"))};
    cr_assert_eq(segment_index_find(&index_of, &forged, &df, &bytes), ERR_OK);
    cr_assert_eq(df, 0);
}

Test(segment_index, documents_are_as_written)
{
    fill(300);
    write_corpus();
    open_index();
    uint32_t chunk = 0;
    for (uint32_t i = 0; i < corpus.n; i++) {
        const struct doc_input *expected = &corpus.docs[i].input;
        struct segment_doc d = segment_index_doc(&index_of, i);
        cr_assert(slice_eq(d.doc_id, expected->doc_id));
        cr_assert_eq(d.published, expected->published);
        cr_assert_eq(d.first_chunk, chunk);
        cr_assert_eq(d.n_chunks, expected->n_chunks);
        for (size_t k = 0; k < expected->n_chunks; k++, chunk++) {
            struct segment_chunk c = segment_index_chunk(&index_of, chunk);
            cr_assert_eq(c.doc, i);
            cr_assert_eq(c.position, expected->chunks[k].position);
            cr_assert_eq(c.text_hash, segment_hash(expected->chunks[k].text));
            cr_assert_eq(segment_index_published(&index_of, chunk), expected->published);
        }
    }
    cr_assert_eq(chunk, index_of.header.n_chunks);
}

Test(segment_index, the_same_input_gives_the_same_bytes)
{
    fill(200);
    write_corpus();
    struct digest first = entry.files.index;
    write_corpus();
    cr_assert(digest_eq(&first, &entry.files.index));
}

/* Damage under a digest that fits */

struct file {
    struct dynbuf bytes;
    struct segment_layout at;
};

static void file_read(struct file *f)
{
    open_index();
    cr_assert(segment_layout_of(&index_of.header, &f->at));
    segment_index_close(&index_of);
    dynbuf_init(&f->bytes, 1 << 24);
    cr_assert(store_read(path, &f->bytes, NULL));
}

static bool opens(struct slice bytes, struct err_detail *why)
{
    FILE *file = fopen(path, "wb");
    cr_assert(file && fwrite(bytes.p, 1, bytes.n, file) == bytes.n);
    cr_assert_eq(fclose(file), 0);
    digest_of(bytes, &entry.files.index);
    segment_index_close(&index_of);
    return segment_index_open(&index_of, path, &entry, why);
}

/* Everything that a search may ask of an index. */
static uint64_t read_all(void)
{
    uint64_t sum = 0;
    for (uint32_t i = 0; i < index_of.header.n_chunks; i++) {
        struct segment_chunk c = segment_index_chunk(&index_of, i);
        struct segment_doc d = segment_index_doc(&index_of, c.doc);
        sum += c.text_hash + d.doc_id.n + (d.doc_id.n ? (unsigned char)d.doc_id.p[0] : 0);
    }
    static const char *const terms[] = {"kilo", "delta", "bravo", "tango", "lima",  "onyx",
                                        "opal", "bison", "stork", "page",  "never", "blank"};
    for (size_t i = 0; i < sizeof(terms) / sizeof(*terms); i++) {
        uint32_t df = 0;
        struct slice bytes;
        struct postings_cursor c;
        const struct segment_term t = {slice_of(terms[i]), segment_hash(slice_of(terms[i]))};
        if (segment_index_find(&index_of, &t, &df, &bytes) == ERR_OK && df) {
            for (postings_open(&c, bytes, df, index_of.header.n_chunks); postings_next(&c);) {
                cr_assert_lt(c.chunk, index_of.header.n_chunks);
                sum += segment_index_length(&index_of, c.chunk) + postings_tf(&c);
            }
        }
    }
    return sum;
}

Test(segment_index, a_flipped_byte_is_refused_by_name_or_does_no_harm, .timeout = 120)
{
    struct file f;
    size_t refused = 0;
    fill(40);
    write_corpus();
    file_read(&f);
    uint64_t whole = (open_index(), read_all());
    for (size_t at = 0; at < f.bytes.n; at++) {
        struct err_detail why = {{0}};
        f.bytes.p[at] ^= (char)(1u << at % 8);
        if (opens(dynbuf_get(&f.bytes), &why)) {
            (void)read_all();
        } else {
            refused++;
            cr_assert(strstr(why.text, "x.idx"), "%s", why.text);
        }
        f.bytes.p[at] ^= (char)(1u << at % 8);
    }
    cr_assert_gt(refused, SEGMENT_HEADER_BYTES);
    cr_assert(opens(dynbuf_get(&f.bytes), NULL));
    cr_assert_eq(read_all(), whole);
    dynbuf_done(&f.bytes);
}

/* Each byte of the header counts, and so does each of the places that a query trusts. */
Test(segment_index, a_header_that_says_anything_else_is_refused)
{
    struct file f;
    fill(40);
    write_corpus();
    file_read(&f);
    for (size_t at = 0; at < SEGMENT_HEADER_BYTES; at++) {
        for (unsigned bit = 0; bit < 8; bit++) {
            struct err_detail why = {{0}};
            f.bytes.p[at] ^= (char)(1u << bit);
            cr_assert(!opens(dynbuf_get(&f.bytes), &why), "byte %zu, bit %u", at, bit);
            cr_assert(strstr(why.text, "x.idx"), "%s", why.text);
            f.bytes.p[at] ^= (char)(1u << bit);
        }
    }
    dynbuf_done(&f.bytes);
}

Test(segment_index, tables_that_contradict_the_header_are_refused)
{
    struct file f;
    fill(40);
    write_corpus();
    file_read(&f);
    const size_t doc = f.at.docs + 3 * SEGMENT_DOC_BYTES, chunk = f.at.chunks;
    const size_t directory = f.at.directory, bucket = directory + 3 * SEGMENT_DIRECTORY_BYTES;
    const size_t end =
        directory + (size_t)segment_get_u32(f.bytes.p + 64) * SEGMENT_DIRECTORY_BYTES;
    const uint32_t record_bytes = segment_get_u32(f.bytes.p + 68);
    const struct {
        const char *what;
        size_t at, n;
        uint64_t value;
    } changes[] = {
        {"a length that the total does not hold", f.at.lengths, 4, 3000},
        {"a length above all", f.at.lengths, 4, SEGMENT_LENGTH_MAX + 1},
        {"a chunk of no document", chunk, 4, 40},
        {"a chunk of the next document", chunk, 4, 1},
        {"an id that begins behind its end", doc, 8, segment_get_u64(f.bytes.p + doc + 16) + 1},
        {"an id without an end", doc, 8, UINT64_MAX},
        {"an id that is not ascending", f.at.ids, 1, 'z'},
        {"the first id does not begin at 0", f.at.docs, 8, 1},
        {"a document without a chunk", doc + 12, 4,
         segment_get_u32(f.bytes.p + doc - SEGMENT_DOC_BYTES + 12)},
        {"chunks that end behind the last", f.at.ids - 4, 4, UINT32_MAX},
        {"chunks of no document at the start", f.at.docs + 12, 4, 1},
        {"records that do not begin at 0", directory, 4, 1},
        {"a bucket that ends before it begins", bucket, 4,
         segment_get_u32(f.bytes.p + bucket + SEGMENT_DIRECTORY_BYTES) + 1},
        {"a bucket that begins before the last one", bucket, 4,
         segment_get_u32(f.bytes.p + bucket - SEGMENT_DIRECTORY_BYTES) - 1},
        {"a bucket behind the records", bucket, 4, UINT32_MAX},
        {"records that end early", end, 4, record_bytes - 1},
        {"records that end late", end, 4, record_bytes + 1},
    };
    for (size_t i = 0; i < sizeof(changes) / sizeof(*changes); i++) {
        struct err_detail why = {{0}};
        char before[8];
        memcpy(before, f.bytes.p + changes[i].at, changes[i].n);
        segment_put(f.bytes.p + changes[i].at, changes[i].value, changes[i].n);
        cr_assert(!opens(dynbuf_get(&f.bytes), &why), "%s", changes[i].what);
        cr_assert(strstr(why.text, "x.idx"), "%s: %s", changes[i].what, why.text);
        memcpy(f.bytes.p + changes[i].at, before, changes[i].n);
    }
    cr_assert(opens(dynbuf_get(&f.bytes), NULL));
    dynbuf_done(&f.bytes);
}

/* Positions ascend in a document. */
Test(segment_index, positions_out_of_order_are_refused)
{
    struct file f;
    corpus_add(&corpus, corpus_scope(&corpus, "c", "note", ""), "d", "", 3);
    write_corpus();
    file_read(&f);
    segment_put(f.bytes.p + f.at.chunks + SEGMENT_CHUNK_BYTES + 4, 2, 4);
    cr_assert(!opens(dynbuf_get(&f.bytes), NULL));
    segment_put(f.bytes.p + f.at.chunks + SEGMENT_CHUNK_BYTES + 4, 1, 4);
    cr_assert(opens(dynbuf_get(&f.bytes), NULL));
    dynbuf_done(&f.bytes);
}

Test(segment_index, a_file_cut_anywhere_is_refused)
{
    struct file f;
    fill(20);
    write_corpus();
    file_read(&f);
    const size_t cuts[] = {f.at.lengths,   f.at.chunks,  f.at.docs,     f.at.ids,
                           f.at.directory, f.at.records, f.at.postings, f.at.size};
    for (size_t i = 0; i < sizeof(cuts) / sizeof(*cuts); i++) {
        for (size_t back = 0; back <= 16; back++) {
            struct err_detail why = {{0}};
            if (cuts[i] - back < f.bytes.n) {
                cr_assert(!opens((struct slice){f.bytes.p, cuts[i] - back}, &why));
                cr_assert(strstr(why.text, "x.idx"), "%s", why.text);
            }
        }
    }
    cr_assert(!opens(SLICE_LIT(""), NULL));
    dynbuf_add(&f.bytes, SLICE_LIT("12345678"));
    cr_assert(!opens(dynbuf_get(&f.bytes), NULL), "and so is a longer one");
    dynbuf_done(&f.bytes);
}

/* The directory of no bucket is as long as that of one. */
Test(segment_index, a_directory_without_a_bucket_is_refused)
{
    struct file f;
    corpus_add_text(&corpus, corpus_scope(&corpus, "c", "note", ""), "only", "", "…");
    write_corpus();
    file_read(&f);
    segment_put(f.bytes.p + 64, 0, 4);
    cr_assert(!opens(dynbuf_get(&f.bytes), NULL));
    segment_put(f.bytes.p + 64, 1, 4);
    cr_assert(opens(dynbuf_get(&f.bytes), NULL));
    dynbuf_done(&f.bytes);
}

/* The one record of the one bucket: 4, opal, df 2 and size 2 in one byte, postings 2. */
Test(segment_index, a_record_that_ends_behind_its_bucket_is_an_error)
{
    enum { SHAPE_AT = 5 };
    static const struct {
        size_t at;
        unsigned char byte;
        enum err expected;
    } cases[] = {
        {SHAPE_AT, 2 << SEGMENT_DF_BITS | 2, ERR_OK},
        {SHAPE_AT, 3 << SEGMENT_DF_BITS | 2, ERR_INTERNAL},
        {SHAPE_AT, SEGMENT_INLINE_MAX << SEGMENT_DF_BITS | 2, ERR_INTERNAL},
        {SHAPE_AT, 2, ERR_INTERNAL}, /* the place is cut */
        {0, 8, ERR_INTERNAL},        /* the term is */
    };
    struct file f;
    corpus_add_text(&corpus, corpus_scope(&corpus, "c", "note", ""), "1", "", "opal");
    corpus_add_text(&corpus, corpus_scope(&corpus, "c", "note", ""), "2", "", "opal");
    write_corpus();
    file_read(&f);
    char *record = f.bytes.p + f.at.records;
    cr_assert_eq(memcmp(record, "\4opal\x12\0", 7), 0);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t df = 0;
        struct slice bytes;
        const struct segment_term t = {SLICE_LIT("opal"), segment_hash(SLICE_LIT("opal"))};
        const char before = record[cases[i].at];
        record[cases[i].at] = (char)cases[i].byte;
        cr_assert(opens(dynbuf_get(&f.bytes), NULL));
        cr_assert_eq(segment_index_find(&index_of, &t, &df, &bytes), cases[i].expected, "%zu", i);
        record[cases[i].at] = before;
    }
    dynbuf_done(&f.bytes);
}

/* The record of opal: its length and bytes, no df and no size in one byte, df 2, size, place 5. */
Test(segment_index, postings_outside_of_their_section_are_an_error)
{
    enum { CHUNKS = 300, SIZE_AT = 8, PLACE_AT = 9 };
    struct file f;
    struct chunk_input *chunks =
        corpus_add(&corpus, corpus_scope(&corpus, "c", "note", ""), "d", "", CHUNKS);
    for (size_t i = 0; i < CHUNKS; i++) {
        chunks[i].text = SLICE_LIT("opal");
    }
    write_corpus();
    file_read(&f);
    char *record = f.bytes.p + f.at.records;
    const uint64_t size = (unsigned char)record[SIZE_AT], all = f.at.size - f.at.postings;
    cr_assert_eq(f.at.postings - f.at.records, 16);
    cr_assert_eq(memcmp(record, "\4opal\0\xAC\2", SIZE_AT), 0);
    cr_assert(size > SEGMENT_INLINE_MAX && size < 128 && all - size < 8);
    const struct {
        uint64_t size, place;
        enum err expected;
    } cases[] = {
        {size, 0, ERR_OK},
        {all, 0, ERR_OK},
        {all + 1, 0, ERR_INTERNAL},
        {size, all - size, ERR_OK},
        {size, all - size + 1, ERR_INTERNAL},
        {0, all, ERR_OK},
        {0, all + 1, ERR_INTERNAL},
        {size, (uint64_t)1 << 32, ERR_INTERNAL},
        {size, ((uint64_t)1 << 40) - 1, ERR_INTERNAL},
        {255, 0, ERR_INTERNAL}, /* and the place takes up the size */
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        uint32_t df = 0;
        struct slice bytes;
        const struct segment_term t = {SLICE_LIT("opal"), segment_hash(SLICE_LIT("opal"))};
        segment_put(record + SIZE_AT, cases[i].size, 1);
        segment_put(record + PLACE_AT, cases[i].place, SEGMENT_PLACE_BYTES);
        cr_assert(opens(dynbuf_get(&f.bytes), NULL));
        cr_assert_eq(segment_index_find(&index_of, &t, &df, &bytes), cases[i].expected, "%zu", i);
        cr_assert(cases[i].expected != ERR_OK || (df == CHUNKS && bytes.n == cases[i].size));
        cr_assert(cases[i].expected == ERR_OK || (df == 0 && !bytes.p));
    }
    dynbuf_done(&f.bytes);
}

Test(segment_index, numbers_are_read_back)
{
    static const uint32_t numbers[] = {0, 1, 127, 128, 16383, 16384, 2097152, UINT32_MAX};
    for (size_t i = 0; i < sizeof(numbers) / sizeof(*numbers); i++) {
        struct dynbuf b;
        uint32_t value = 0;
        dynbuf_init(&b, 8);
        segment_add_varint(&b, numbers[i]);
        struct slice rest = dynbuf_get(&b), cut = {rest.p, rest.n - 1};
        cr_assert(segment_read_varint(&rest, SEGMENT_VARINT_MAX_BYTES, &value));
        cr_assert_eq(value, numbers[i]);
        cr_assert_eq(rest.n, 0);
        cr_assert(!segment_read_varint(&cut, SEGMENT_VARINT_MAX_BYTES, &value), "cut short");
        dynbuf_done(&b);
    }
    uint32_t value = 0;
    struct slice large = SLICE_LIT("\xFF\xFF\xFF\xFF\x1F"),
                 endless = SLICE_LIT("\x80\x80\x80\x80\x80\x01");
    cr_assert(!segment_read_varint(&large, SEGMENT_VARINT_MAX_BYTES, &value), "above 32 bits");
    cr_assert(!segment_read_varint(&endless, SEGMENT_VARINT_MAX_BYTES, &value));
}
