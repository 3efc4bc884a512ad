/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/store_files.h"

#include "corpus.h"

static char *folder;
static char path[STORE_PATH_MAX];

static void setup(void)
{
    folder = folder_new();
    cr_assert(store_path(path, folder, "file"));
}

static void teardown(void)
{
    folder_free(folder);
}

TestSuite(store_files, .init = setup, .fini = teardown);

static bool holds(const char *expected)
{
    struct dynbuf b;
    dynbuf_init(&b, 100);
    bool same = store_read(path, &b, NULL) && slice_is(dynbuf_get(&b), expected);
    dynbuf_done(&b);
    return same;
}

Test(store_files, a_file_is_never_overwritten)
{
    struct err_detail why = {{0}};
    cr_assert(store_write_new(path, SLICE_LIT("first"), NULL));
    cr_assert(!store_write_new(path, SLICE_LIT("2nd"), &why));
    cr_assert(strstr(why.text, path), "%s", why.text);
    cr_assert(holds("first"));
}

Test(store_files, reading_has_a_ceiling)
{
    static const size_t ceilings[] = {4, 5, 6};
    cr_assert(store_write_new(path, SLICE_LIT("12345"), NULL));
    for (size_t i = 0; i < 3; i++) {
        struct dynbuf b;
        struct err_detail why = {{0}};
        dynbuf_init(&b, ceilings[i]);
        cr_assert_eq(store_read(path, &b, &why), ceilings[i] >= 5);
        cr_assert_eq(strstr(why.text, "too large") != NULL, ceilings[i] < 5);
        dynbuf_done(&b);
    }
}

Test(store_files, digest_is_that_of_the_bytes)
{
    struct digest found, expected;
    cr_assert(store_write_new(path, SLICE_LIT("12345"), NULL));
    cr_assert(store_digest(path, &found, NULL));
    digest_of(SLICE_LIT("12345"), &expected);
    cr_assert(digest_eq(&found, &expected));
}

Test(store_files, errors_name_the_file)
{
    struct err_detail why = {{0}};
    struct digest d;
    cr_assert(!store_digest(path, &d, &why));
    cr_assert(strstr(why.text, path), "%s", why.text);
    cr_assert(!store_sync(path, &why));
    cr_assert(!store_make_dir("", &why));
}

/* dir, slash, name and NUL have to fit. */
Test(store_files, paths_have_a_limit)
{
    char name[STORE_PATH_MAX], out[STORE_PATH_MAX];
    memset(name, 'x', sizeof(name));
    static const struct {
        size_t name_bytes;
        bool fits;
    } cases[] = {
        {STORE_PATH_MAX - 4, true}, {STORE_PATH_MAX - 3, true}, {STORE_PATH_MAX - 2, false}};
    for (size_t i = 0; i < 3; i++) {
        name[cases[i].name_bytes] = 0;
        cr_assert_eq(store_path(out, "d", name), cases[i].fits, "case %zu", i);
        name[cases[i].name_bytes] = 'x';
    }
}
