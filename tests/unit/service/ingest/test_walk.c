/* SPDX-License-Identifier: Apache-2.0 */
#include "service/ingest/walk.h"
#include "tests/unit/service/ingest/folder.h"

struct walked {
    struct arena arena;
    struct walk walk;
    char skips[2048], files[2048];
};

static void on_skip(void *arg, const char *relative, const char *reason)
{
    struct walked *w = arg;
    size_t n = strlen(w->skips);
    snprintf(w->skips + n, sizeof(w->skips) - n, "%s: %s\n", relative, reason);
}

static bool walk(struct walked *w, const char *root)
{
    struct err_detail detail = {0};
    *w = (struct walked){0};
    w->walk = (struct walk){.arena = &w->arena, .on_skip = on_skip, .arg = w};
    bool ok = walk_root(&w->walk, root, &detail);
    for (size_t i = 0; i < w->walk.n; i++) {
        size_t n = strlen(w->files);
        snprintf(w->files + n, sizeof(w->files) - n, "%s ", w->walk.files[i].relative.p);
    }
    cr_expect(ok || strlen(detail.text) > 0);
    return ok;
}

static void stop(struct walked *w)
{
    walk_done(&w->walk);
    arena_done(&w->arena);
}

Test(walk, lists_files_in_bytewise_order_without_hidden_ones)
{
    struct folder f;
    struct walked w;
    folder_new(&f);
    folder_write(&f, "b.md", "x");
    folder_write(&f, "a/z.txt", "x");
    folder_write(&f, "a-b.html", "x");
    folder_write(&f, "a/B.jsonl", "x");
    folder_write(&f, ".hidden.md", "x");
    folder_write(&f, ".git/x.md", "x");
    folder_write(&f, "picture.png", "x");
    cr_assert(walk(&w, f.path));
    cr_expect_str_eq(w.files, "a-b.html a/B.jsonl a/z.txt b.md ");
    cr_expect_str_eq(w.skips, "picture.png: unsupported type\n");
    cr_expect(w.walk.is_folder);
    stop(&w);
    folder_done(&f);
}

Test(walk, a_file_is_named_by_its_base_name)
{
    struct folder f;
    struct walked w;
    folder_new(&f);
    folder_write(&f, "a/b.md", "x");
    cr_assert(walk(&w, folder_at(&f, "a/b.md")));
    cr_expect_str_eq(w.files, "b.md ");
    cr_expect_not(w.walk.is_folder);
    stop(&w);
    folder_done(&f);
}

Test(walk, a_missing_root_is_an_error)
{
    struct walked w;
    cr_expect_not(walk(&w, "/nonexistent/folder"));
    stop(&w);
}

Test(walk, links_never_lead_out_or_in_circles)
{
    struct folder f, outside;
    struct walked w;
    folder_new(&f);
    folder_new(&outside);
    folder_write(&outside, "secret.md", "x");
    folder_write(&f, "docs/..data/real.md", "x"); /* as a mounted volume lays it out */
    cr_assert_eq(symlink("..data/real.md", folder_at(&f, "docs/real.md")), 0);
    cr_assert_eq(symlink(folder_at(&outside, "secret.md"), folder_at(&f, "out.md")), 0);
    cr_assert_eq(symlink(outside.path, folder_at(&f, "outside")), 0);
    cr_assert_eq(symlink("..", folder_at(&f, "docs/up")), 0);
    cr_assert_eq(symlink(".", folder_at(&f, "loop")), 0);
    cr_assert_eq(symlink("nowhere.md", folder_at(&f, "dangling.md")), 0);
    cr_assert(walk(&w, f.path));
    cr_expect_str_eq(w.files, "docs/real.md ");
    cr_expect_not_null(strstr(w.skips, "out.md: a symbolic link that leaves the folder\n"));
    cr_expect_not_null(strstr(w.skips, "outside: a symbolic link that leaves the folder\n"));
    cr_expect_not_null(strstr(w.skips, "loop: a symbolic link to something other than a file\n"));
    cr_expect_not_null(strstr(w.skips, "docs/up: "));
    cr_expect_not_null(strstr(w.skips, "dangling.md: "));
    stop(&w);
    folder_done(&outside);
    folder_done(&f);
}

Test(walk, a_sibling_with_the_same_prefix_is_outside)
{
    struct folder f;
    struct walked w;
    folder_new(&f);
    folder_write(&f, "root/a.md", "x");
    folder_write(&f, "root-b/b.md", "x");
    cr_assert_eq(symlink("../root-b/b.md", folder_at(&f, "root/b.md")), 0);
    cr_assert(walk(&w, folder_at(&f, "root")));
    cr_expect_str_eq(w.files, "a.md ");
    stop(&w);
    folder_done(&f);
}

Test(walk, odd_names_and_kinds_are_reported)
{
    struct folder f;
    struct walked w;
    folder_new(&f);
    folder_write(&f, "bad\xFF.md", "x");
    cr_assert_eq(mkfifo(folder_at(&f, "pipe.md"), 0600), 0);
    cr_assert(walk(&w, f.path));
    cr_expect_eq(w.walk.n, 0);
    cr_expect_str_eq(w.skips, "bad\xFF.md: its name is not valid UTF-8\n"
                              "pipe.md: not a regular file\n");
    stop(&w);
    folder_done(&f);
}
