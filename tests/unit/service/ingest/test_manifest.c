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
    folder_write(&f, "m.jsonl",
                 "{\"path\":\"b.md\",\"collection\":\"two\",\"note\":1}\n"
                 "{\"path\":\"./a/cafe\\u0301.md\",\"collection\":\"one\",\"labels\":[\"hr\"]}\n");
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
    cr_expect_eq(m.broken_line, 2);
    cr_expect_eq(m.n, 2);
    cr_expect_null(manifest_find(&m, SLICE_LIT("b.md")));
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
