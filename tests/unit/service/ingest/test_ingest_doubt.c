/* SPDX-License-Identifier: Apache-2.0 */
/* Doubt about who may read a text leaves it out. */
#include "tests/unit/service/ingest/ingest_bench.h"

Test(ingest_doubt, doubt_about_the_manifest_leaves_documents_out)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "named.md", "text");
    folder_write(&b.corpus, "twice.md", "text");
    folder_write(&b.corpus, "meant.md", "text");
    folder_write(&b.corpus, "manifest.jsonl",
                 "{\"path\":\"named.md\"}\n{\"path\":\"twice.md\",\"labels\":[\"hr\"]}\n"
                 "{\"path\":\"meant.md\",\"labels\":\"hr\"}\n{\"path\":\"twice.md\"}\n"
                 "{\"path\":\"gone.md\"}\n");
    cr_assert(run(&b, "notes"));
    cr_expect_eq(b.report.documents, 1);
    cr_expect_eq(b.report.skipped, 4);
    expect_live(&b, "notes/note[public] 1/1 ");
    cr_expect_not_null(strstr(b.skips, "manifest.jsonl:3: labels: "));
    cr_expect_not_null(strstr(b.skips, "manifest.jsonl:5: no document at the path gone.md\n"));
    cr_expect_not_null(
        strstr(b.skips, "twice.md:0: the manifest names it twice, in lines 2 and 4"));
    cr_expect_not_null(strstr(b.skips, "meant.md:0: line 3 of the manifest, which names it, is "));
    stop(&b);
}

/* A manifest with this line, beside a.md, b.md and d/b.md: which documents go in with the labels of
 * the command line? */
static uint64_t documents_with(const char *line, char *ret_skips)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "text");
    folder_write(&b.corpus, "b.md", "text");
    folder_write(&b.corpus, "d/b.md", "text");
    folder_write(&b.corpus, "named.md", "text");
    char manifest[512];
    snprintf(manifest, sizeof(manifest), "{\"path\":\"named.md\",\"collection\":\"c\"}\n%s\n",
             line);
    folder_write(&b.corpus, "manifest.jsonl", manifest);
    cr_assert(run(&b, "notes"));
    expect_live(&b, "c/note[public] 1/1 ");
    cr_expect_null(strstr(live(&b), "[hr] 2/"));
    snprintf(ret_skips, sizeof(b.skips), "%s", b.skips);
    uint64_t n = b.report.documents - 1;
    stop(&b);
    return n;
}

Test(ingest_doubt, a_line_that_may_mean_a_file_keeps_it_out)
{
    static const struct {
        const char *line;
        uint64_t documents; /* of a.md, b.md and d/b.md */
        const char *skips[2];
    } cases[] = {
        {"{\"path\":\"a.md\",\"lables\":[\"hr\"]}",
         2,
         {"manifest.jsonl:2: lables: no field", "a.md:0: line 2 of the manifest, which names it"}},
        {"{\"path\":\"a.md\",\"published\":\"soon\"}",
         2,
         {"manifest.jsonl:2: published: ", "a.md:0: line 2 of the manifest"}},
        {"{\"path\":\"a.md\",\"id\":\"\\u200b\"}", 2, {"manifest.jsonl:2: id: ", "a.md:0: line 2"}},
        {"{\"path\":\"A.md\",\"labels\":[\"hr\"]}",
         0,
         {"manifest.jsonl:2: no document at the path A.md",
          "a.md:0: the manifest does not name it, "
          "but line 2 of the manifest names no"}},
        {"{\"path\":\"/a.md\",\"labels\":[\"hr\"]}",
         0,
         {"manifest.jsonl:2: no document", "d/b.md:0:"}},
        {"{\"path\":\"d/\",\"labels\":[\"hr\"]}", 0, {"manifest.jsonl:2: no document", "b.md:0:"}},
        {"{\"path\":\"e.md\",\"lables\":[\"hr\"]}", 0, {"manifest.jsonl:2: lables: ", "b.md:0:"}},
        {"{\"paht\":\"a.md\",\"labels\":[\"hr\"]}", 0, {"manifest.jsonl:2: path: ", "b.md:0:"}},
        {"{\"path\":\"d//b.md\",\"labels\":[\"hr\"]}", 3, {"", ""}},
        {"{\"path\":\"./a.md\",\"labels\":[\"hr\"]}", 3, {"", ""}},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char skips[4096];
        uint64_t n = documents_with(cases[i].line, skips);
        cr_expect_eq(n, cases[i].documents, "%s: %llu\n%s", cases[i].line, (unsigned long long)n,
                     skips);
        for (size_t j = 0; j < 2; j++) {
            cr_expect_not_null(strstr(skips, cases[i].skips[j]), "%s: %s is not in\n%s",
                               cases[i].line, cases[i].skips[j], skips);
        }
        cr_expect(cases[i].skips[0][0] || skips[0] == 0, "%s", skips);
    }
}

Test(ingest_doubt, a_line_that_names_what_is_left_out_anyway_is_no_doubt)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "text");
    folder_write(&b.corpus, "picture.png", "x");
    folder_write(&b.corpus, "manifest.jsonl", "{\"path\":\"picture.png\",\"labels\":[\"hr\"]}\n");
    cr_assert(run(&b, "notes"));
    cr_expect_str_eq(b.skips, "picture.png:0: unsupported type\n");
    expect_live(&b, "notes/note[public] 1/1 ");
    stop(&b);
}

Test(ingest_doubt, a_manifest_that_is_not_read_keeps_out_what_it_may_mean)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "docs/a.md", "text");
    folder_write(&b.corpus, "docs/hr/b.md", "text");
    folder_write(&b.corpus, "docs/hr/deep/c.md", "text");
    folder_write(&b.corpus, "docs/hr/named.md", "text");
    folder_write(&b.corpus, "docs/hr/manifest.jsonl", "{\"path\":\"b.md\",\"labels\":[\"hr\"]}\n");
    folder_write(&b.corpus, "docs/manifest.jsonl", "{\"path\":\"hr/named.md\"}\n");
    const char *docs[] = {folder_at(&b.corpus, "docs")};
    cr_assert(run_with(&b, docs, 1, "notes", NULL));
    cr_expect_eq(b.report.documents, 2, "%s", b.skips);
    cr_expect_not_null(strstr(b.skips, "hr/b.md:0: hr/manifest.jsonl may have meant it"));
    cr_expect_not_null(strstr(b.skips, "hr/deep/c.md:0: "));
    cr_expect_not_null(strstr(b.skips, "hr/manifest.jsonl:0: "));
    cr_expect_null(strstr(b.skips, "\na.md"));
    const char *alone[] = {folder_at(&b.corpus, "docs/hr/b.md")};
    cr_expect_not(run_with(&b, alone, 1, "notes", NULL), "its folder has a manifest");
    cr_expect_not_null(strstr(b.skips, "b.md:0: manifest.jsonl may have meant it"));
    cr_expect(run_with(&b, alone, 1, "notes", folder_at(&b.corpus, "docs/hr/manifest.jsonl")));
    expect_live(&b, "notes/note[hr] 1/1 ");
    stop(&b);
}

Test(ingest_doubt, a_manifest_that_cannot_be_read_keeps_out_the_folder)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "text");
    cr_assert_eq(symlink("/etc/hostname", folder_at(&b.corpus, "manifest.jsonl")), 0);
    cr_expect_not(run(&b, "notes"));
    cr_expect_not_null(strstr(b.skips, "a.md:0: manifest.jsonl may have meant it"));
    stop(&b);
}

Test(ingest_doubt, a_head_that_may_say_who_reads_keeps_the_file_out)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "good.md", "---\nauthor: me\n---\ntext");
    folder_write(&b.corpus, "open.md", "---\nlabels: [hr]\n\ntext");
    folder_write(&b.corpus, "four.md", "---\nlabels: [hr]\n----\ntext");
    folder_write(&b.corpus, "late.md", "\n---\nlabels: [hr]\n---\ntext");
    folder_write(&b.corpus, "slip.md", "---\nLabels: [hr]\n---\ntext");
    folder_write(&b.corpus, "text.txt", "---\nlabels: [hr]\n---\ntext");
    folder_write(&b.corpus, "page.html", "---\nlabels: [hr]\n---\n<p>text");
    folder_write(&b.corpus, "jekyll.html", "---\ntitle: T\n---\n<p>text");
    folder_write(
        &b.corpus, "r.jsonl",
        "{\"id\":\"1\",\"format\":\"markdown\",\"body\":\"---\\nlabels: [hr]\\n---\\nx\"}\n"
        "{\"id\":\"2\",\"text\":\"x\",\"lables\":[\"hr\"]}\n");
    cr_assert(run(&b, "notes"));
    expect_live(&b, "notes/note[public] 2/2 ");
    cr_expect_null(strstr(live(&b), "hr"));
    static const char *const expected[] = {
        "open.md:2: labels: would be overlooked",
        "four.md:2: labels: ",
        "late.md:3: labels: ",
        "slip.md:2: Labels: not read; write labels",
        "text.txt:2: labels: ",
        "page.html:2: labels: ",
        "r.jsonl:1: labels: would be overlooked",
        "r.jsonl:2: lables: no field",
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        cr_expect_not_null(strstr(b.skips, expected[i]), "%s is not in\n%s", expected[i], b.skips);
    }
    cr_expect_eq(b.report.skipped, 8, "%s", b.skips);
    stop(&b);
}

Test(ingest_doubt, a_broken_manifest_that_costs_documents_is_warned_of)
{
    struct bench b;
    start(&b);
    folder_write(&b.corpus, "a.md", "text");
    folder_write(&b.corpus, "b.md", "text");
    folder_write(&b.corpus, "c.md", "---\ncollection: other\n---\ntext");
    cr_assert(run(&b, "notes"));
    cr_expect_str_eq(b.warnings, "");
    folder_write(&b.corpus, "manifest.jsonl",
                 "{\"path\":\"a.md\"}\n{\"path\":\"b.md\",\"x\":1}\n{\"path\":\"c.md\"}\n");
    cr_assert(run(&b, "notes"));
    cr_expect_str_eq(
        b.warnings,
        "the manifest has a mistake, and collection notes goes from 2 documents to 1\n");
    cr_assert(run(&b, "notes"));
    cr_expect_str_eq(b.warnings, "", "nothing is lost any more");
    folder_write(&b.corpus, "manifest.jsonl", "{\"path\":\"a.md\"}\n{\"path\":\"b.md\"}\n");
    cr_assert(run(&b, "notes"));
    cr_assert_eq(unlink(folder_at(&b.corpus, "manifest.jsonl")), 0);
    cr_assert_eq(unlink(folder_at(&b.corpus, "b.md")), 0);
    cr_assert(run(&b, "notes"));
    cr_expect_str_eq(b.warnings, "", "to delete a document is no mistake");
    stop(&b);
}
