/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/file.h"
#include "service/ingest/ingest.h"
#include "tests/unit/service/ingest/folder.h"

Test(file, type_goes_by_the_ending)
{
    static const struct {
        const char *name;
        enum file_type type;
    } cases[] = {
        {"a.md", FILE_MARKDOWN}, {"a.MARKDOWN", FILE_MARKDOWN},
        {"a.txt", FILE_TEXT},    {"a.Text", FILE_TEXT},
        {"a.html", FILE_HTML},   {"a.htm", FILE_HTML},
        {"a.jsonl", FILE_JSONL}, {"a.json", FILE_OTHER},
        {"a", FILE_OTHER},       {".md", FILE_OTHER},
        {"md", FILE_OTHER},      {"a.md.gz", FILE_OTHER},
        {"", FILE_OTHER},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_eq(file_type_of(slice_of(cases[i].name)), cases[i].type, "%s", cases[i].name);
    }
}

static void expect_refused(const char *path, const char *reason)
{
    struct dynbuf b;
    char why[FIELD_REASON_BYTES] = "";
    dynbuf_init(&b, INGEST_FILE_MAX_BYTES + 1);
    cr_expect_not(file_read(path, &b, why), "%s", path);
    cr_expect_not_null(strstr(why, reason), "%s: \"%s\"", path, why);
    dynbuf_done(&b);
}

Test(file, unfit_files_are_refused_with_the_reason)
{
    struct folder f;
    folder_new(&f);
    folder_write(&f, "empty.md", "");
    folder_write_bytes(&f, "binary.md", SLICE_LIT("text\0more"));
    folder_write(&f, "real.md", "text");
    cr_assert_eq(symlink("real.md", folder_at(&f, "link.md")), 0);
    cr_assert_eq(mkfifo(folder_at(&f, "pipe.md"), 0600), 0);
    expect_refused(folder_at(&f, "empty.md"), "empty");
    expect_refused(folder_at(&f, "binary.md"), "binary");
    expect_refused(folder_at(&f, "missing.md"), "No such file");
    expect_refused(folder_at(&f, "link.md"), "symbolic links");
    expect_refused(folder_at(&f, "pipe.md"), "not a regular file");
    expect_refused(f.path, "not a regular file");
    folder_done(&f);
}

Test(file, size_is_limited)
{
    struct folder f;
    folder_new(&f);
    folder_write(&f, "huge.md", "x");
    cr_assert_eq(truncate(folder_at(&f, "huge.md"), INGEST_FILE_MAX_BYTES + 1), 0);
    expect_refused(folder_at(&f, "huge.md"), "larger than 64 MiB");
    cr_assert_eq(truncate(folder_at(&f, "huge.md"), INGEST_FILE_MAX_BYTES), 0);
    expect_refused(folder_at(&f, "huge.md"), "binary"); /* at the limit it is looked at */
    folder_done(&f);
}

Test(file, to_text_makes_lines_plain_and_names_the_first_bad_byte)
{
    static const struct {
        const char *bytes, *text; /* text NULL: refused */
        const char *reason;
    } cases[] = {
        {"a\r\nb\rc\n", "a\nb\nc\n", NULL},
        {"\xEF\xBB\xBFtext", "text", NULL},
        {"a\xEF\xBB\xBF", "a\xEF\xBB\xBF", NULL},
        {"caf\xE9", NULL, "byte 4"},
        {"\xC0\xAF", NULL, "byte 1"},
        {"a\xED\xA0\x80", NULL, "byte 2"},
        {"\r\n\xFF", NULL, "byte 3"},
        {"\xF0\x9F\x98", NULL, "byte 1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct dynbuf b;
        char why[FIELD_REASON_BYTES] = "";
        dynbuf_init(&b, 100);
        dynbuf_add_text(&b, cases[i].bytes);
        bool ok = file_to_text(&b, why);
        cr_expect_eq(ok, cases[i].text != NULL, "case %zu", i);
        cr_expect(!ok || slice_is(dynbuf_get(&b), cases[i].text), "case %zu", i);
        cr_expect(ok || strstr(why, cases[i].reason), "case %zu: %s", i, why);
        dynbuf_done(&b);
    }
}
