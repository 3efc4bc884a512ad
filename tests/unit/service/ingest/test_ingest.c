/* SPDX-License-Identifier: Apache-2.0 */
/* What a run publishes, replaces and refuses. */
#include "tests/unit/service/ingest/ingest_bench.h"

#include <dirent.h>

Test(ingest, publishes_a_folder_and_then_nothing_more)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "# A\n\ntext\n");
    folder_write(&b.corpus, "sub/b.html", "<title>B</title><p>text");
    folder_write(&b.corpus, "c.txt", "text");
    cr_assert(run(&b, "notes"), "%s", b.detail.text);
    cr_expect_str_eq(b.skips, "");
    cr_expect_eq(b.report.files, 3);
    cr_expect_eq(b.report.documents, 3);
    cr_expect_eq(b.report.chunks, 3);
    cr_expect_eq(b.report.partitions, 1);
    cr_expect_eq(b.report.built, 1);
    cr_expect_eq(b.last_done, b.last_total);
    cr_expect_str_eq(b.report.generation, "1.json");
    expect_live(&b, "notes/note[public] 3/3 ");
    cr_assert(run(&b, "notes"));
    cr_expect_eq(b.report.built, 0);
    cr_expect_eq(b.report.partitions, 1);
    cr_expect_str_eq(b.report.generation, "1.json");
    stop(&b);
}

Test(ingest, the_same_files_elsewhere_and_in_another_order_have_the_same_digests)
{
    struct bench a, b;
    start(&a);
    start(&b);
    static const char *const names[] = {"x/a.md", "x/b.md", "y/c.txt", "d.md"};
    for (size_t i = 0; i < 4; i++) {
        folder_write(&a.corpus, names[i], names[i]);
        folder_write(&b.corpus, names[3 - i], names[3 - i]);
    }
    cr_assert(run(&a, "notes"));
    cr_assert(run(&b, "notes"));
    cr_expect_str_eq(live(&a), live(&b));
    stop(&a);
    stop(&b);
}

Test(ingest, the_order_of_arguments_does_not_matter)
{
    struct bench a, b;
    start(&a);
    start(&b);
    folder_write(&a.corpus, "one/same.md", "first text");
    folder_write(&a.corpus, "two/same.md", "second text");
    folder_write(&a.corpus, "two/other.md", "text");
    const char *forth[] = {folder_at(&a.corpus, "one"), folder_at(&a.corpus, "two")};
    const char *back[] = {forth[1], forth[0]};
    cr_assert(run_with(&a, forth, 2, "notes", NULL));
    cr_assert(run_with(&b, back, 2, "notes", NULL));
    cr_expect_str_eq(live(&a), live(&b));
    cr_expect_str_eq(a.skips, b.skips);
    cr_expect_str_eq(a.skips, "same.md:0: its id is taken in the collection, by same.md\n");
    stop(&a);
    stop(&b);
}

Test(ingest, one_id_for_two_audiences_is_refused)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "z.jsonl",
                 "{\"id\":\"1\",\"text\":\"for all\",\"labels\":[\"public\"]}\n");
    cr_assert(run(&b, "notes"));
    char *before = strdup(live(&b));
    folder_write(&b.corpus, "a.jsonl", "{\"id\":\"1\",\"text\":\"for few\",\"labels\":[\"hr\"]}\n");
    cr_expect_not(run(&b, "notes"));
    cr_expect_str_eq(live(&b), before, "a document for few must not take the place of one for all");
    cr_expect_not_null(strstr(b.detail.text, "a.jsonl:1 and z.jsonl:1: "), "%s", b.detail.text);
    free(before);
    stop(&b);
}

Test(ingest, another_collection_is_left_as_it_is)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "one/a.md", "text of one");
    folder_write(&b.corpus, "two/b.md", "text of two");
    const char *one[] = {folder_at(&b.corpus, "one")}, *two[] = {folder_at(&b.corpus, "two")};
    cr_assert(run_with(&b, one, 1, "one", NULL));
    char before[8192];
    snprintf(before, sizeof(before), "%s", live(&b));
    cr_assert(run_with(&b, two, 1, "two", NULL));
    cr_expect_eq(b.report.partitions, 1);
    expect_live(&b, before);
    expect_live(&b, "two/note[public] 1/1 ");
    cr_expect_str_eq(b.report.generation, "2.json");
    stop(&b);
}

Test(ingest, a_collection_is_replaced_as_a_whole)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "---\nlabels: [hr]\n---\ntext");
    folder_write(&b.corpus, "b.md", "text");
    cr_assert(run(&b, "notes"));
    expect_live(&b, "notes/note[hr] 1/1 ");
    cr_assert_eq(unlink(folder_at(&b.corpus, "a.md")), 0);
    cr_assert(run(&b, "notes"));
    cr_expect_eq(b.report.built, 0);
    cr_expect_str_eq(b.report.generation, "2.json");
    cr_expect_null(strstr(live(&b), "[hr]"));
    expect_live(&b, "notes/note[public] 1/1 ");
    stop(&b);
}

Test(ingest, manifest_outranks_front_matter_outranks_options)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "---\ncollection: front\nlabels: [hr]\n---\ntext");
    folder_write(&b.corpus, "b.md", "---\ncollection: front\nlabels: [hr]\n---\ntext");
    folder_write(&b.corpus, "c.md", "text");
    folder_write(&b.corpus, "manifest.jsonl",
                 "{\"path\":\"a.md\",\"collection\":\"manifest\",\"labels\":[\"legal\",\"a\"]}\n");
    cr_assert(run(&b, "options"));
    cr_expect_str_eq(b.skips, "");
    expect_live(&b, "front/note[hr] 1/1 ");
    expect_live(&b, "manifest/note[a,legal] 1/1 ");
    expect_live(&b, "options/note[public] 1/1 ");
    cr_expect_eq(b.report.documents, 3);
    stop(&b);
}

Test(ingest, a_manifest_can_be_named_and_lie_elsewhere)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "docs/a.md", "text");
    folder_write(&b.corpus, "docs/manifest.jsonl",
                 "{\"path\":\"a.md\",\"collection\":\"own\",\"doc_type\":\"t\",\"labels\":[]}\n");
    folder_write(&b.corpus, "other.jsonl",
                 "{\"path\":\"a.md\",\"collection\":\"other\",\"doc_type\":\"t\",\"labels\":[]}\n");
    const char *paths[] = {folder_at(&b.corpus, "docs")};
    cr_assert(run_with(&b, paths, 1, NULL, folder_at(&b.corpus, "other.jsonl")));
    cr_expect_str_eq(b.skips, "");
    expect_live(&b, "other/t[] 1/1 ");
    cr_expect_null(strstr(live(&b), "own/"));
    cr_expect_not(run_with(&b, paths, 1, NULL, folder_at(&b.corpus, "missing.jsonl")));
    stop(&b);
}

Test(ingest, a_document_without_a_place_is_left_out_with_the_fix)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "text");
    folder_write(&b.corpus, "b.md", "---\ncollection: c\ndoc_type: t\n---\ntext");
    cr_assert(run(&b, NULL));
    cr_expect_not_null(strstr(b.skips, "a.md:0: collection: not given; "));
    cr_expect_not_null(strstr(b.skips, "--collection"));
    expect_live(&b, "c/t[] 1/1 ");
    stop(&b);
}

/* A store that has n partitions of another collection. */
static void fill_store(const struct bench *b, size_t n)
{
    struct generation_entry *entries = calloc(n, sizeof(*entries));
    char(*types)[24] = calloc(n, sizeof(*types));
    struct err_detail detail;
    int lock = generation_lock(b->store.path, &detail);
    cr_assert(entries && types && lock >= 0);
    for (size_t i = 0; i < n; i++) {
        snprintf(types[i], sizeof(types[i]), "t%04zu", i);
        struct partition *p = &entries[i].partition;
        p->scope.collection = SLICE_LIT("other");
        p->scope.doc_type = slice_of(types[i]);
        p->n_docs = p->n_chunks = 1;
    }
    cr_assert(generation_publish(b->store.path, entries, n, &detail), "%s", detail.text);
    close(lock);
    free(entries);
    free(types);
}

/* How a run ends that adds two partitions to a store that has n of another collection. */
static bool run_beside(size_t n, char *ret_warnings)
{
    struct bench b;
    start(&b);
    fill_store(&b, n);
    folder_write(&b.corpus, "a.md", "text");
    folder_write(&b.corpus, "b.md", "---\nlabels: [hr]\n---\ntext");
    bool ok = run(&b, "notes");
    cr_expect(ok || strstr(b.detail.text, "partitions"), "%s", b.detail.text);
    cr_expect_eq(b.report.built, ok ? 2 : 0);
    cr_expect_eq(strstr(live(&b), "notes/") != NULL, ok);
    snprintf(ret_warnings, sizeof(b.warnings), "%s", b.warnings);
    stop(&b);
    return ok;
}

Test(ingest, partitions_are_limited)
{
    char warnings[2048];
    cr_expect(run_beside(INGEST_PARTITIONS_WARN - 3, warnings));
    cr_expect_str_eq(warnings, "");
    cr_expect(run_beside(INGEST_PARTITIONS_WARN - 2, warnings));
    cr_expect_str_eq(warnings, "");
    cr_expect(run_beside(INGEST_PARTITIONS_WARN - 1, warnings));
    cr_expect_not_null(strstr(warnings, "201 partitions"));
    cr_expect(run_beside(INGEST_PARTITIONS_MAX - 3, warnings));
    cr_expect(run_beside(INGEST_PARTITIONS_MAX - 2, warnings));
    cr_expect_not_null(strstr(warnings, "1000 partitions"));
    cr_expect_not(run_beside(INGEST_PARTITIONS_MAX - 1, warnings));
}

Test(ingest, records_are_chunks_or_documents)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "r.jsonl",
                 "{\"id\":\"1\",\"text\":\"a ready chunk\",\"context\":\"c\",\"page\":3}\n"
                 "{\"id\":\"2\",\"body\":\"# A\\n\\ntext\",\"format\":\"markdown\","
                 "\"labels\":[\"hr\"]}\n"
                 "not json\n"
                 "{\"text\":\"no id\"}\n"
                 "{\"id\":\"1\",\"text\":\"again\"}\n"
                 "{\"id\":\"3\",\"text\":\"t\",\"published\":\"yesterday\"}\n");
    cr_assert(run(&b, "notes"));
    cr_expect_eq(b.report.documents, 2);
    cr_expect_eq(b.report.skipped, 4);
    cr_expect_not_null(strstr(b.skips, "r.jsonl:3: broken JSON"));
    cr_expect_not_null(strstr(b.skips, "r.jsonl:4: id: "));
    cr_expect_not_null(strstr(b.skips, "r.jsonl:5: its id is taken"));
    cr_expect_not_null(strstr(b.skips, "r.jsonl:6: published: "));
    expect_live(&b, "notes/note[hr] 1/1 ");
    expect_live(&b, "notes/note[public] 1/1 ");
    stop(&b);
}

Test(ingest, a_manifest_speaks_for_the_records_of_its_file)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "r.jsonl",
                 "{\"id\":\"1\",\"text\":\"a\",\"collection\":\"record\",\"labels\":[\"public\"]}\n"
                 "{\"id\":\"2\",\"text\":\"b\"}\n");
    folder_write(&b.corpus, "manifest.jsonl",
                 "{\"path\":\"r.jsonl\",\"id\":\"x\",\"title\":\"no\",\"collection\":\"manifest\","
                 "\"labels\":[\"hr\"]}\n");
    cr_assert(run(&b, "options"));
    cr_expect_str_eq(b.skips, "");
    cr_expect_eq(strncmp(live(&b), "manifest/note[hr] 2/2 ", 22), 0);
    stop(&b);
}

static void write_bad_files(const struct bench *b)
{
    folder_write(&b->corpus, "bad/empty.md", "");
    folder_write(&b->corpus, "bad/blank.md", " \n\n");
    folder_write(&b->corpus, "bad/front.md", "---\ntitle: only\n---\n");
    folder_write(&b->corpus, "bad/latin.txt", "caf\xE9");
    folder_write_bytes(&b->corpus, "bad/binary.html", SLICE_LIT("<p>\0</p>"));
    folder_write(&b->corpus, "bad/picture.png", "x");
    folder_write(&b->corpus, "bad/huge.md", "x");
    cr_assert_eq(truncate(folder_at(&b->corpus, "bad/huge.md"), INGEST_FILE_MAX_BYTES + 1), 0);
    cr_assert_eq(symlink("/etc/hostname", folder_at(&b->corpus, "bad/link.md")), 0);
}

Test(ingest, bad_files_are_left_out_with_path_and_reason)
{
    static const char *const expected[] = {
        "bad/binary.html:0: binary",     "bad/blank.md:0: no text",
        "bad/empty.md:0: empty",         "bad/front.md:0: no text",
        "bad/huge.md:0: larger than 64", "bad/latin.txt:0: not valid UTF-8 at byte 4",
        "bad/link.md:0: a symbolic",     "bad/picture.png:0: unsupported",
    };
    struct bench b;
    start(&b);
    write_bad_files(&b);
    folder_write(&b.corpus, "good.md", "text");
    cr_assert(run(&b, "notes"));
    cr_expect_eq(b.report.documents, 1);
    cr_expect_eq(b.report.skipped, 8);
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        cr_expect_not_null(strstr(b.skips, expected[i]), "%s is not in\n%s", expected[i], b.skips);
    }
    cr_expect_null(strstr(b.skips, b.corpus.path), "a report names no machine path");
    stop(&b);
}

Test(ingest, strict_refuses_lists_all_and_leaves_the_store)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "good.md", "text");
    cr_assert(run(&b, "notes"));
    char before[8192];
    snprintf(before, sizeof(before), "%s", live(&b));
    folder_write(&b.corpus, "good.md", "changed text");
    write_bad_files(&b);
    b.strict = true;
    cr_expect_not(run(&b, "notes"));
    cr_expect_eq(b.report.skipped, 8);
    cr_expect_str_eq(live(&b), before);
    folder_remove_path(folder_at(&b.corpus, "bad"));
    cr_expect(run(&b, "notes"));
    cr_expect_str_neq(live(&b), before);
    stop(&b);
}

Test(ingest, nothing_to_ingest_is_refused_and_makes_no_store)
{
    struct bench b;
    start(&b);
    cr_assert_eq(rmdir(b.store.path), 0);
    cr_expect_not(run(&b, "notes"));
    folder_write(&b.corpus, "empty.md", "");
    cr_expect_not(run(&b, "notes"));
    const char *missing[] = {folder_at(&b.corpus, "missing")};
    cr_expect_not(run_with(&b, missing, 1, "notes", NULL));
    cr_expect_neq(access(b.store.path, F_OK), 0);
    stop(&b);
}

Test(ingest, a_missing_path_refuses_the_whole_run)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "text");
    const char *paths[] = {b.corpus.path, folder_at(&b.corpus, "missing")};
    cr_expect_not(run_with(&b, paths, 2, "notes", NULL));
    cr_expect_not_null(strstr(b.detail.text, "missing"));
    cr_expect_str_eq(live(&b), "");
    stop(&b);
}

Test(ingest, a_harmed_segment_is_built_again)
{
    struct bench b;
    char before[8192];
    start(&b);
    folder_write(&b.corpus, "a.md", "text");
    cr_assert(run(&b, "notes"));
    snprintf(before, sizeof(before), "%s", live(&b));
    struct generation g;
    struct segment_paths paths;
    cr_assert(generation_read(b.store.path, &g, NULL));
    cr_assert(generation_segment_paths(b.store.path, &g.entries[0].partition.content, "", &paths));
    generation_done(&g);
    for (int i = 0; i < 2; i++) {
        FILE *f = fopen(i ? paths.index : paths.texts, "r+b");
        cr_assert_not_null(f);
        fputc('X', f);
        fclose(f);
        cr_assert(run(&b, "notes"), "%s", b.detail.text);
        cr_expect_eq(b.report.built, 1);
        cr_expect_str_eq(live(&b), before);
        cr_assert(run(&b, "notes"));
        cr_expect_eq(b.report.built, 0);
    }
    stop(&b);
}

Test(ingest, a_second_writer_is_refused)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "text");
    int lock = generation_lock(b.store.path, NULL);
    cr_assert_geq(lock, 0);
    cr_expect_not(run(&b, "notes"));
    cr_expect_not_null(strstr(b.detail.text, "another"));
    close(lock);
    cr_expect(run(&b, "notes"));
    stop(&b);
}

static size_t count_files(const char *folder)
{
    size_t n = 0;
    DIR *dir = opendir(folder);
    cr_assert_not_null(dir);
    struct dirent *e;
    while ((e = readdir(dir)) != NULL) {
        n += e->d_name[0] != '.';
    }
    closedir(dir);
    return n;
}

Test(ingest, one_generation_is_kept_for_a_rollback)
{
    struct bench b;
    start(&b);
    for (int i = 0; i < 4; i++) {
        char text[32];
        snprintf(text, sizeof(text), "text number %d", i);
        folder_write(&b.corpus, "a.md", text);
        cr_assert(run(&b, "notes"));
    }
    cr_expect_str_eq(b.report.generation, "4.json");
    cr_expect_eq(count_files(folder_at(&b.store, "generations")), 2);
    cr_expect_eq(count_files(folder_at(&b.store, "segments")), 4);
    stop(&b);
}
