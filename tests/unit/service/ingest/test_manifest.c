/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/manifest.h"
#include "tests/unit/service/ingest/folder.h"

static void on_broken(void *arg, uint64_t line, const char *reason)
{
    char *text = arg;
    size_t n = strlen(text);
    cr_expect_gt(strlen(reason), 0);
    snprintf(text + n, 128 - n, "%llu ", (unsigned long long)line);
}

Test(manifest, finds_entries_by_path)
{
    struct folder f;
    struct arena arena = {0};
    struct manifest m;
    char reason[FIELD_REASON_BYTES], broken[128] = "";
    folder_new(&f);
    folder_write(
        &f, "m.jsonl",
        "{\"path\":\"b.md\",\"collection\":\"two\"}\n"
        "{\"path\":\"./a/.//cafe\\u0301.md\",\"collection\":\"one\",\"labels\":[\"hr\"]}\n");
    cr_assert(manifest_read(folder_at(&f, "m.jsonl"), &arena, on_broken, broken, &m, reason));
    cr_expect_str_eq(broken, "");
    cr_expect_eq(m.n, 2);
    cr_expect_eq(m.broken_line, 0);
    const struct manifest_entry *e = manifest_find(&m, SLICE_LIT("a/caf\xC3\xA9.md"));
    cr_assert_not_null(e);
    cr_expect_eq(e->line, 2);
    cr_expect(slice_is(e->fields.collection, "one"));
    cr_expect_eq(e->fields.n_labels, 1);
    cr_expect_not_null(manifest_find(&m, SLICE_LIT("b.md")));
    cr_expect_null(manifest_find(&m, SLICE_LIT("a")));
    cr_expect_null(manifest_find(&m, SLICE_LIT("c.md")));
    manifest_done(&m);
    arena_done(&arena);
    folder_done(&f);
}

Test(manifest, broken_lines_are_reported_and_remembered)
{
    struct folder f;
    struct arena arena = {0};
    struct manifest m;
    char reason[FIELD_REASON_BYTES], broken[128] = "";
    folder_new(&f);
    folder_write(&f, "m.jsonl",
                 "{\"path\":\"a.md\"}\n{\"path\":\"b.md\",\"labels\":\"hr\"}\n{}\n{\"path\":\"\"}\n"
                 "{\"path\":7}\nnonsense\n{\"path\":\"c.md\"}\n");
    cr_assert(manifest_read(folder_at(&f, "m.jsonl"), &arena, on_broken, broken, &m, reason));
    cr_expect_str_eq(broken, "2 3 4 5 6 ");
    cr_expect_eq(m.broken_line, 3, "line 2 says which file it means");
    cr_expect_eq(m.n, 3);
    cr_assert_not_null(manifest_find(&m, SLICE_LIT("b.md")));
    cr_expect_not_null(manifest_find(&m, SLICE_LIT("b.md"))->broken);
    cr_expect_null(manifest_find(&m, SLICE_LIT("c.md"))->broken);
    manifest_done(&m);
    arena_done(&arena);
    folder_done(&f);
}

Test(manifest, a_path_named_twice_is_marked)
{
    struct folder f;
    struct arena arena = {0};
    struct manifest m;
    char reason[FIELD_REASON_BYTES], broken[128] = "";
    folder_new(&f);
    folder_write(&f, "m.jsonl",
                 "{\"path\":\"a.md\",\"labels\":[\"hr\"]}\n{\"path\":\"b.md\"}\n"
                 "{\"path\":\"./a.md\",\"labels\":[\"public\"]}\n");
    cr_assert(manifest_read(folder_at(&f, "m.jsonl"), &arena, on_broken, broken, &m, reason));
    cr_expect_eq(m.n, 2);
    cr_expect_eq(manifest_find(&m, SLICE_LIT("a.md"))->again, 3);
    cr_expect_eq(manifest_find(&m, SLICE_LIT("b.md"))->again, 0);
    manifest_done(&m);
    arena_done(&arena);
    folder_done(&f);
}

Test(manifest, an_unreadable_one_is_an_error)
{
    struct arena arena = {0};
    struct manifest m;
    char reason[FIELD_REASON_BYTES] = "", broken[128] = "";
    cr_expect_not(manifest_read("/nonexistent/m.jsonl", &arena, on_broken, broken, &m, reason));
    cr_expect_gt(strlen(reason), 0);
    manifest_done(&m);
    arena_done(&arena);
}

static bool reads_whole(const char *line)
{
    struct folder f;
    struct arena arena = {0};
    struct manifest m;
    char reason[FIELD_REASON_BYTES], broken[128] = "";
    folder_new(&f);
    folder_write(&f, "m.jsonl", line);
    cr_assert(manifest_read(folder_at(&f, "m.jsonl"), &arena, on_broken, broken, &m, reason));
    cr_expect_eq(m.n, 1, "%s", line);
    bool whole = m.n && !m.entries[0].broken;
    cr_expect_eq(whole, strlen(broken) == 0);
    manifest_done(&m);
    arena_done(&arena);
    folder_done(&f);
    return whole;
}

Test(manifest, a_field_that_is_unknown_or_against_its_rule_breaks_the_line)
{
    static const char *const broken[] = {
        "{\"path\":\"a.md\",\"lables\":[\"hr\"]}",
        "{\"path\":\"a.md\",\"Labels\":[\"hr\"]}",
        "{\"path\":\"a.md\",\"note\":1}",
        "{\"path\":\"a.md\",\"Path\":\"b.md\"}",
        "{\"path\":\"a.md\",\"date\":\"2024-01-01\"}",
        "{\"path\":\"a.md\",\"labels\":[\"*\"]}",
        "{\"path\":\"a.md\",\"collection\":\"c d\"}",
        "{\"path\":\"a.md\",\"doc_type\":\"\"}",
        "{\"path\":\"a.md\",\"published\":\"soon\"}",
        "{\"path\":\"a.md\",\"id\":\"a\\u202eb\"}",
        "{\"path\":\"a.md\",\"source_url\":\"javascript:alert(1)\"}",
    };
    for (size_t i = 0; i < sizeof(broken) / sizeof(broken[0]); i++) {
        cr_expect_not(reads_whole(broken[i]), "%s", broken[i]);
    }
    cr_expect(reads_whole("{\"path\":\"a.md\",\"id\":\"i\",\"collection\":\"c\",\"doc_type\":\"t\","
                          "\"labels\":[\"hr\"],\"published\":\"2024-01-01\",\"title\":\"T\","
                          "\"source_url\":\"https://e.org/\"}"));
}

Test(manifest, paths_have_one_spelling)
{
    static const struct {
        const char *path, *key;
    } cases[] = {
        {"a.md", "a.md"},
        {"./a.md", "a.md"},
        {"././a.md", "a.md"},
        {"d//b.md", "d/b.md"},
        {"d/./b.md", "d/b.md"},
        {".//d///b.md", "d/b.md"},
        {"/abs.md", "/abs.md"},
        {"//abs.md", "/abs.md"},
        {"d/", "d/"},
        {"A.md", "A.md"},
        {"d/../a.md", "d/../a.md"},
        {".hidden", ".hidden"},
        {".", ""},
        {"cafe\xCC\x81", "caf\xC3\xA9"},
    };
    struct arena arena = {0};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct slice key = manifest_path(&arena, slice_of(cases[i].path));
        cr_expect(slice_is(key, cases[i].key), "%s: %s", cases[i].path, key.p);
    }
    arena_done(&arena);
}

static void on_unmatched(void *arg, const struct manifest_entry *entry)
{
    on_broken(arg, entry->line, "x");
}

static bool admits(const struct manifest *m, const char *path)
{
    char reason[FIELD_REASON_BYTES] = "";
    bool good = manifest_admits(m, manifest_find(m, slice_of(path)), reason);
    cr_expect_eq(good, strlen(reason) == 0, "%s: %s", path, reason);
    return good;
}

Test(manifest, a_line_that_names_nothing_costs_what_no_line_names)
{
    struct folder f;
    struct arena arena = {0};
    struct manifest m;
    char reason[FIELD_REASON_BYTES], broken[128] = "", unmatched[128] = "";
    folder_new(&f);
    folder_write(&f, "m.jsonl",
                 "{\"path\":\"a.md\"}\n{\"path\":\"b.md\",\"lables\":[]}\n{\"path\":\"A.md\"}\n");
    cr_assert(manifest_read(folder_at(&f, "m.jsonl"), &arena, on_broken, broken, &m, reason));
    manifest_mark(&m, SLICE_LIT("a.md"));
    manifest_mark(&m, SLICE_LIT("b.md"));
    manifest_mark(&m, SLICE_LIT("c.md"));
    cr_expect(admits(&m, "c.md"), "not settled yet");
    manifest_settle(&m, on_unmatched, unmatched);
    cr_expect_str_eq(unmatched, "3 ");
    cr_expect_eq(m.unmatched_line, 3);
    cr_expect(admits(&m, "a.md"));
    cr_expect_not(admits(&m, "b.md"));
    cr_expect_not(admits(&m, "c.md"));
    manifest_done(&m);
    arena_done(&arena);
    folder_done(&f);
}
