/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/segment.h"

#include "corpus.h"
#include "service/retrieval/postings.h"
#include "service/retrieval/segment_format.h"
#include "service/retrieval/segment_reader.h"
#include "service/retrieval/segment_write.h"
#include "service/retrieval/store_files.h"

#include <fcntl.h>
#include <sys/stat.h>

static char *folder;
static struct corpus corpus;
static struct segment_paths paths;
static char *const files[] = {paths.texts, paths.index};

static void name_files(const char *name)
{
    snprintf(paths.texts, sizeof(paths.texts), "%s/%s.seg", folder, name);
    snprintf(paths.index, sizeof(paths.index), "%s/%s.idx", folder, name);
}

static void setup(void)
{
    folder = folder_new();
    corpus_init(&corpus);
    name_files("x");
}

static void teardown(void)
{
    corpus_done(&corpus);
    folder_free(folder);
}

TestSuite(segment, .init = setup, .fini = teardown);

static const struct chunk_input CHUNKS_A[] = {
    {0, {"gecko finch gecko", 17}, {NULL, 0}},
    {1, {"opal", 4}, {"about finch", 11}},
    {10, {"", 0}, {NULL, 0}},
};
static const struct chunk_input CHUNKS_B[] = {{7, {"opal", 4}, {NULL, 0}}};
static const struct slice LABELS[] = {{"hr", 2}, {"internal", 8}};

struct sample {
    struct doc_input docs[2];
    struct segment_input in;
};

static void sample_init(struct sample *s)
{
    *s = (struct sample){
        .docs = {{.doc_id = SLICE_LIT("a.md"),
                  .title = SLICE_LIT("Lynx"),
                  .source_url = SLICE_LIT("https://kb.example/a"),
                  .published = 20000,
                  .chunks = CHUNKS_A,
                  .n_chunks = 3},
                 {.doc_id = SLICE_LIT("b/c.md"),
                  .title = SLICE_NONE,
                  .source_url = SLICE_NONE,
                  .published = NO_DATE,
                  .chunks = CHUNKS_B,
                  .n_chunks = 1}},
    };
    s->in = (struct segment_input){{SLICE_LIT("kb"), SLICE_LIT("note"), LABELS, 2}, s->docs, 2};
}

static void sample_write(const struct sample *s, struct generation_entry *ret_entry)
{
    struct err_detail why = {{0}};
    *ret_entry = (struct generation_entry){.partition = {s->in.scope, {{0}}, 2, 4}};
    segment_content_digest(&s->in, &ret_entry->partition.content);
    bool good =
        segment_write(&s->in, &ret_entry->partition.content, &paths, &ret_entry->files, &why);
    cr_assert(good, "%s", why.text);
}

/* The chunks that hold a term and how often: "chunk:tf …". */
static const char *postings_of(const struct segment_reader *r, const char *term)
{
    static char text[256];
    uint32_t df = 0;
    struct slice bytes;
    struct postings_cursor c;
    const struct segment_term t = segment_term_of(slice_of(term));
    size_t n = 0;
    text[0] = 0;
    cr_assert_eq(segment_postings(r, &t, &df, &bytes), ERR_OK);
    if (df) {
        postings_open(&c, bytes, df, r->n_chunks);
        while (postings_next(&c)) {
            n += (size_t)snprintf(text + n, sizeof(text) - n, "%u:%u ", c.chunk, postings_tf(&c));
        }
        cr_assert(!c.bad);
    }
    return text;
}

Test(segment, what_is_written_is_read)
{
    struct sample s;
    struct generation_entry entry;
    struct err_detail why = {{0}};
    sample_init(&s);
    sample_write(&s, &entry);
    struct segment_reader *r = segment_reader_open(&paths, &entry, 1, &why);
    cr_assert(r, "%s", why.text);

    cr_assert_eq(doc_scope_cmp(&r->partition.scope, &s.in.scope), 0);
    cr_assert_eq(r->n_docs, 2);
    cr_assert_eq(r->n_chunks, 4);
    cr_assert(slice_is(segment_doc_at(r, 1).doc_id, "b/c.md"));
    cr_assert_eq(segment_doc_at(r, 0).published, 20000);
    cr_assert_eq(segment_doc_at(r, 1).published, NO_DATE);
    cr_assert_eq(segment_doc_at(r, 1).first_chunk, 3);
    cr_assert_eq(segment_chunk_at(r, 2).position, 10);
    cr_assert_eq(segment_chunk_at(r, 3).doc, 1);
    cr_assert_eq(segment_chunk_at(r, 1).text_hash, segment_chunk_at(r, 3).text_hash, "equal texts");
    cr_assert_neq(segment_chunk_at(r, 0).text_hash, segment_chunk_at(r, 1).text_hash);

    struct slice text;
    struct hit_texts texts;
    cr_assert_eq(segment_hit_texts(r, 0, 0, &texts), ERR_OK);
    cr_assert(slice_is(texts.title, "Lynx") && slice_is(texts.source_url, "https://kb.example/a"));
    cr_assert(slice_is(texts.text, "gecko finch gecko"));
    cr_assert_eq(segment_hit_texts(r, 0, 3, &texts), ERR_OK);
    cr_assert(texts.title.p && texts.title.n == 0, "an absent title is an empty one");
    cr_assert_null(texts.source_url.p, "an absent URL stays absent");
    cr_assert_eq(segment_hit_texts(r, 0, 2, &texts), ERR_OK);
    cr_assert(texts.text.p && texts.text.n == 0);
    cr_assert_eq(segment_text(r, 0, 0, &text), ERR_OK);
    cr_assert(slice_is(text, "gecko finch gecko"));
    cr_assert_eq(segment_text(r, 0, 2, &text), ERR_OK);
    cr_assert(text.p && text.n == 0);
    cr_assert_eq(segment_text(r, 0, 4, &text), ERR_INTERNAL);
    segment_reader_unref(r);
}

/* gecko gecko finch + title lynx three times: length 6; the title counts in each chunk of its
 * document.
 */
Test(segment, fields_have_their_weights)
{
    struct sample s;
    struct generation_entry entry;
    sample_init(&s);
    sample_write(&s, &entry);
    struct segment_reader *r = segment_reader_open(&paths, &entry, 1, NULL);
    cr_assert_eq(segment_chunk_at(r, 0).length, 3 + SEGMENT_TITLE_WEIGHT);
    cr_assert_eq(segment_chunk_at(r, 2).length, SEGMENT_TITLE_WEIGHT);
    cr_assert_eq(segment_chunk_at(r, 3).length, 1);
    cr_assert_str_eq(postings_of(r, "gecko"), "0:2 ");
    cr_assert_str_eq(postings_of(r, "lynx"), "0:3 1:3 2:3 ");
    cr_assert_str_eq(postings_of(r, "finch"), "0:1 1:1 ", "the context is indexed");
    cr_assert_str_eq(postings_of(r, "tapir"), "");
    segment_reader_unref(r);
}

Test(segment, chunk_ids_compare_as_whole_texts)
{
    struct random random = {17};
    static const char *const collections[] = {"c", "c-x", "c.y", "d"};
    static const char *const ids[] = {"a", "a/1", "a-b", "a/10/x", "b", "a.c", "a/2"};
    struct segment_reader *readers[4] = {0};
    struct arena arena = {0};
    for (size_t i = 0; i < 4; i++) {
        struct doc_scope scope = corpus_scope(&corpus, collections[i], "t", "");
        size_t first = corpus.n;
        for (size_t j = 0; j < 7; j++) {
            corpus_add(&corpus, scope, ids[j], "", 12);
        }
        qsort(corpus.docs + first, 7, sizeof(*corpus.docs), corpus_by_scope_and_id);
        struct doc_input docs[7];
        for (size_t j = 0; j < 7; j++) {
            docs[j] = corpus.docs[first + j].input;
        }
        struct segment_input in = {scope, docs, 7};
        struct generation_entry entry = {.partition = {scope, {{0}}, 7, 84}};
        char name[8];
        snprintf(name, sizeof(name), "%zu", i);
        name_files(name);
        cr_assert(segment_write(&in, &entry.partition.content, &paths, &entry.files, NULL));
        readers[i] = segment_reader_open(&paths, &entry, 1, NULL);
        cr_assert(readers[i]);
    }
    for (int round = 0; round < 20000; round++) {
        struct segment_reader *a = readers[random_below(&random, 4)];
        struct segment_reader *b = readers[random_below(&random, 4)];
        uint32_t x = random_below(&random, 84), y = random_below(&random, 84);
        struct slice id_x = segment_chunk_id(a, x, &arena), id_y = segment_chunk_id(b, y, &arena);
        int expected = slice_cmp(id_x, id_y), found = segment_chunk_cmp(a, x, b, y);
        cr_assert_eq((found > 0) - (found < 0), (expected > 0) - (expected < 0), "%.*s %.*s",
                     (int)id_x.n, id_x.p, (int)id_y.n, id_y.p);
    }
    for (size_t i = 0; i < 4; i++) {
        segment_reader_unref(readers[i]);
    }
    arena_done(&arena);
}

Test(segment, positions_are_compared_as_texts)
{
    struct sample s;
    struct generation_entry entry;
    struct arena arena = {0};
    sample_init(&s);
    sample_write(&s, &entry);
    struct segment_reader *r = segment_reader_open(&paths, &entry, 1, NULL);
    cr_assert(slice_is(segment_chunk_id(r, 2, &arena), "kb/a.md/10"));
    cr_assert(slice_is(segment_chunk_id(r, 3, &arena), "kb/b/c.md/7"));
    cr_assert_gt(segment_chunk_cmp(r, 2, r, 1), 0, "10 behind 1");
    cr_assert_eq(segment_chunk_cmp(r, 2, r, 2), 0);
    segment_reader_unref(r);
    arena_done(&arena);
}

Test(segment, content_digest_covers_every_field)
{
    struct sample s;
    struct digest before, after;
    sample_init(&s);
    segment_content_digest(&s.in, &before);
    struct chunk_input chunks[3];
    for (int i = 0; i < 13; i++) {
        sample_init(&s);
        memcpy(chunks, CHUNKS_A, sizeof(chunks));
        s.docs[0].chunks = chunks;
        switch (i) {
        case 0: s.docs[0].doc_id = SLICE_LIT("a.mb"); break;
        case 1: s.docs[0].title = SLICE_LIT("Lynz"); break;
        case 2: s.docs[0].source_url = SLICE_NONE; break;
        case 3: s.docs[1].source_url = SLICE_LIT(""); break;
        case 4: s.docs[0].published = 20001; break;
        case 5: chunks[2].position = 11; break;
        case 6: chunks[0].text = SLICE_LIT("gecko finch geckO"); break;
        case 7: chunks[1].context = SLICE_LIT("about finches"); break;
        case 8: chunks[1].context = SLICE_NONE; break;
        case 9: s.in.scope.collection = SLICE_LIT("kc"); break;
        case 10: s.in.scope.doc_type = SLICE_LIT("faq"); break;
        case 11: s.in.scope.n_labels = 1; break;
        default: s.in.n_docs = 1; break;
        }
        segment_content_digest(&s.in, &after);
        cr_assert(!digest_eq(&before, &after), "case %d", i);
    }
    sample_init(&s);
    segment_content_digest(&s.in, &after);
    cr_assert(digest_eq(&before, &after));
}

/* A byte moved from one field to the next is another content. */
Test(segment, content_digest_keeps_fields_apart)
{
    struct sample s;
    struct digest before, after;
    struct chunk_input one = {0, SLICE_LIT("ab"), SLICE_LIT("c")};
    sample_init(&s);
    s.docs[0].chunks = &one;
    s.docs[0].n_chunks = 1;
    segment_content_digest(&s.in, &before);
    one.text = SLICE_LIT("a");
    one.context = SLICE_LIT("bc");
    segment_content_digest(&s.in, &after);
    cr_assert(!digest_eq(&before, &after));
}

/* Other machines and later builds must find the same for this content, until the analysis version
 * or a field weight changes. */
Test(segment, content_digest_is_the_same_everywhere)
{
    struct sample s;
    struct digest d;
    struct dynbuf hex;
    sample_init(&s);
    segment_content_digest(&s.in, &d);
    dynbuf_init(&hex, 64);
    digest_add_hex(&hex, &d);
    cr_assert(slice_is(dynbuf_get(&hex),
                       "5858a16af0e57bb9002f6087aa7087a8faa9d22f19372d1c6b2570bef14e1069"),
              "%.*s", (int)hex.n, hex.p);
    dynbuf_done(&hex);
}

Test(segment, refuses_unsorted_or_empty_documents)
{
    struct sample s;
    struct digest d;
    struct segment_files written;
    struct err_detail why = {{0}};
    static const struct chunk_input twice[] = {{3, {"x", 1}, {NULL, 0}}, {3, {"y", 1}, {NULL, 0}}};
    for (int i = 0; i < 4; i++) {
        sample_init(&s);
        switch (i) {
        case 0: s.docs[1].doc_id = SLICE_LIT("a.md"); break;
        case 1: s.docs[1].doc_id = SLICE_LIT("a"); break;
        case 2: s.docs[1].n_chunks = 0; break;
        default:
            s.docs[1].chunks = twice;
            s.docs[1].n_chunks = 2;
            break;
        }
        segment_content_digest(&s.in, &d);
        cr_assert(!segment_write(&s.in, &d, &paths, &written, &why), "case %d", i);
        cr_assert(strstr(why.text, "document a") || strstr(why.text, "document b/c.md"), "%s",
                  why.text);
        cr_assert_neq(access(paths.texts, F_OK), 0, "no file is left");
        cr_assert_neq(access(paths.index, F_OK), 0, "no file is left");
    }
}

Test(segment, never_writes_over_a_file)
{
    struct sample s;
    struct generation_entry entry;
    struct segment_files written;
    struct err_detail why = {{0}};
    sample_init(&s);
    sample_write(&s, &entry);
    cr_assert(!segment_write(&s.in, &entry.partition.content, &paths, &written, &why));
    cr_assert(strstr(why.text, "x.seg"), "%s", why.text);
    cr_assert(
        !segment_write_index(&s.in, &entry.partition.content, paths.index, &written.index, &why));
    cr_assert(strstr(why.text, "x.idx"), "%s", why.text);
    struct segment_reader *r = segment_reader_open(&paths, &entry, 1, &why);
    cr_assert(r, "%s", why.text);
    segment_reader_unref(r);
}

Test(segment, a_folder_that_is_not_there_is_named)
{
    struct sample s;
    struct digest d = {{0}};
    struct segment_files written;
    struct err_detail why = {{0}};
    sample_init(&s);
    name_files("none/x");
    cr_assert(!segment_write(&s.in, &d, &paths, &written, &why));
    cr_assert(strstr(why.text, "none/x.seg"), "%s", why.text);
}

static void flip(const char *path, off_t at, unsigned char mask)
{
    unsigned char byte = 0;
    int fd = open(path, O_RDWR);
    cr_assert_eq(pread(fd, &byte, 1, at), 1);
    byte ^= mask;
    cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static char *read_file(const char *path, off_t size)
{
    char *bytes = mem_alloc((size_t)size + 1);
    int fd = open(path, O_RDONLY);
    cr_assert_eq(read(fd, bytes, (size_t)size), size);
    close(fd);
    return bytes;
}

static void write_file(const char *path, const char *bytes, off_t size)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    cr_assert_eq(write(fd, bytes, (size_t)size), size);
    close(fd);
}

Test(segment, one_flipped_byte_anywhere_is_noticed)
{
    struct sample s;
    struct generation_entry entry;
    sample_init(&s);
    sample_write(&s, &entry);
    unsigned samples = 0;
    for (size_t i = 0; i < 2; i++) {
        struct stat st;
        cr_assert_eq(stat(files[i], &st), 0);
        for (off_t at = 0; at < st.st_size; at += at < 512 || at > st.st_size - 128 ? 1 : 61) {
            struct err_detail why = {{0}};
            unsigned char mask = (unsigned char)(1u << (samples++ % 8));
            flip(files[i], at, mask);
            cr_assert_null(segment_reader_open(&paths, &entry, 1, &why), "byte %ld", (long)at);
            cr_assert(strstr(why.text, files[i]) && strstr(why.text, "damaged"), "%s", why.text);
            flip(files[i], at, mask);
        }
    }
    cr_assert_gt(samples, 1000);
    struct segment_reader *r = segment_reader_open(&paths, &entry, 1, NULL);
    cr_assert(r, "as it was");
    segment_reader_unref(r);
}

Test(segment, a_longer_or_shorter_file_is_noticed)
{
    struct sample s;
    struct generation_entry entry;
    struct stat st;
    sample_init(&s);
    sample_write(&s, &entry);
    for (size_t i = 0; i < 2; i++) {
        stat(files[i], &st);
        const off_t sizes[] = {st.st_size + 1, st.st_size - 1, st.st_size / 2, 0};
        char *kept = read_file(files[i], st.st_size);
        for (size_t k = 0; k < 4; k++) {
            struct err_detail why = {{0}};
            cr_assert_eq(truncate(files[i], sizes[k]), 0);
            cr_assert_null(segment_reader_open(&paths, &entry, 1, &why));
            cr_assert(strstr(why.text, files[i]), "%s", why.text);
        }
        struct err_detail why = {{0}};
        cr_assert_eq(unlink(files[i]), 0);
        cr_assert_null(segment_reader_open(&paths, &entry, 1, &why), "no file");
        cr_assert(strstr(why.text, files[i]), "%s", why.text);
        write_file(files[i], kept, st.st_size);
        free(kept);
        struct segment_reader *r = segment_reader_open(&paths, &entry, 1, NULL);
        cr_assert(r, "as it was");
        segment_reader_unref(r);
    }
}

/* The right file under a wrong description: what a damaged manifest would say. */
Test(segment, a_manifest_that_disagrees_is_refused)
{
    struct sample s;
    struct generation_entry entry;
    struct segment_index index;
    sample_init(&s);
    sample_write(&s, &entry);
    for (int i = 0; i < 6; i++) {
        struct generation_entry wrong = entry;
        struct err_detail why = {{0}};
        switch (i) {
        case 0: wrong.partition.scope.collection = SLICE_LIT("kc"); break;
        case 1: wrong.partition.scope.doc_type = SLICE_LIT("faq"); break;
        case 2: wrong.partition.scope.n_labels = 1; break;
        case 3: wrong.partition.content.bytes[31] ^= 1; break;
        case 4: wrong.partition.n_docs++; break;
        default: wrong.partition.n_chunks++; break;
        }
        cr_assert_null(segment_reader_open(&paths, &wrong, 1, &why), "case %d", i);
        cr_assert(strstr(why.text, "x.seg"), "%s", why.text);
        cr_assert(!segment_index_open(&index, paths.index, &wrong, &why) == (i >= 3), "case %d", i);
        segment_index_close(&index);
    }
}

/* A file with the digest that the manifest expects, but no segment. */
Test(segment, another_file_is_no_segment)
{
    struct sample s;
    struct generation_entry entry;
    sample_init(&s);
    sample_write(&s, &entry);
    for (size_t i = 2; i-- > 0;) {
        struct err_detail why = {{0}};
        struct digest *digest = i ? &entry.files.index : &entry.files.texts;
        cr_assert_eq(unlink(files[i]), 0);
        cr_assert(store_write_new(files[i], SLICE_LIT("not what it should be"), NULL));
        cr_assert(store_digest(files[i], digest, NULL));
        cr_assert_null(segment_reader_open(&paths, &entry, 1, &why));
        cr_assert(strstr(why.text, files[i]), "%s", why.text);
    }
}

Test(segment, a_reader_outlives_its_file)
{
    struct sample s;
    struct generation_entry entry;
    struct slice text;
    sample_init(&s);
    sample_write(&s, &entry);
    struct segment_reader *r = segment_reader_open(&paths, &entry, 2, NULL);
    cr_assert(r);
    cr_assert_eq(unlink(paths.texts), 0);
    cr_assert_eq(unlink(paths.index), 0);
    cr_assert_str_eq(postings_of(r, "gecko"), "0:2 ");
    for (unsigned slot = 0; slot < 2; slot++) {
        cr_assert_eq(segment_text(r, slot, 0, &text), ERR_OK);
        cr_assert(slice_is(text, "gecko finch gecko"));
    }
    segment_reader_unref(r);
}

Test(segment, odd_paths_work)
{
    struct sample s;
    struct generation_entry entry;
    struct err_detail why = {{0}};
    sample_init(&s);
    name_files("a b?mode=rw&x#%41");
    sample_write(&s, &entry);
    struct segment_reader *r = segment_reader_open(&paths, &entry, 1, &why);
    cr_assert(r, "%s", why.text);
    segment_reader_unref(r);
}

Test(segment, texts_with_a_nul_survive)
{
    struct sample s;
    struct generation_entry entry;
    struct slice text;
    static const struct chunk_input chunk = {0, {"a\0b", 3}, {NULL, 0}};
    sample_init(&s);
    s.docs[0].chunks = s.docs[1].chunks = &chunk;
    s.docs[0].n_chunks = s.docs[1].n_chunks = 1;
    sample_write(&s, &entry);
    entry.partition.n_chunks = 2;
    struct segment_reader *r = segment_reader_open(&paths, &entry, 1, NULL);
    cr_assert(r);
    cr_assert_eq(segment_text(r, 0, 0, &text), ERR_OK);
    cr_assert(slice_eq(text, chunk.text));
    segment_reader_unref(r);
}
