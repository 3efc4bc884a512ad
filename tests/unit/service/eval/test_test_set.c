/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/test_set.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[] = "/tmp/kbgate-eval-XXXXXX";

static const char *write_file(const char *name, const char *text)
{
    static char path[256];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *f = fopen(path, "w");
    cr_assert_not_null(f);
    fputs(text, f);
    fclose(f);
    return strdup(path);
}

static void read_into(struct test_set *s, const char *role, const char *path)
{
    struct dynbuf bytes;
    struct err_detail detail = {""};
    cr_assert(test_set_read(s, role, path, &bytes, &detail), "%s", detail.text);
    dynbuf_done(&bytes);
}

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
}

static void remove_folder(void)
{
    char command[128];
    snprintf(command, sizeof(command), "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

TestSuite(test_set, .init = make_folder, .fini = remove_folder);

Test(test_set, checksum_is_of_the_bytes_and_their_roles)
{
    const char *a = write_file("a", "one"), *b = write_file("b", "two"),
               *c = write_file("c", "one");
    struct test_set first = {.n = 0}, renamed = {.n = 0}, swapped = {.n = 0};
    char x[CHECKSUM_CHARS + 1], y[CHECKSUM_CHARS + 1];
    read_into(&first, "queries", a);
    read_into(&first, "qrels", b);
    read_into(&renamed, "queries", c);
    read_into(&renamed, "qrels", b);
    read_into(&swapped, "qrels", a);
    read_into(&swapped, "queries", b);
    test_set_checksum(&first, x);
    test_set_checksum(&renamed, y);
    cr_assert_str_eq(x, y);
    test_set_checksum(&swapped, y);
    cr_assert_str_neq(x, y);
    cr_assert_eq(strlen(x), CHECKSUM_CHARS);
    free((char *)a);
    free((char *)b);
    free((char *)c);
}

Test(test_set, frozen_files_are_known_by_name_and_bytes)
{
    const char *a = write_file("a", "one"), *b = write_file("b", "two");
    struct test_set set = {.n = 0}, other = {.n = 0};
    struct dynbuf out;
    struct err_detail detail = {""};
    read_into(&set, "queries", a);
    dynbuf_init(&out, SIZE_MAX);
    cr_assert(frozen_add(&out, "name", &set, &detail), "%s", detail.text);
    const char *frozen = write_file("frozen", dynbuf_text(&out));
    cr_assert(frozen_check(frozen, &set, &detail), "%s", detail.text);
    read_into(&other, "queries", b);
    cr_assert_not(frozen_check(frozen, &other, &detail));
    cr_assert(strstr(detail.text, "b is no file of this frozen set"), "%s", detail.text);
    free((char *)write_file("a", "One"));
    other.n = 0;
    read_into(&other, "queries", a);
    cr_assert_not(frozen_check(frozen, &other, &detail));
    cr_assert(strstr(detail.text, "differs from the frozen set"), "%s", detail.text);
    free((char *)write_file("frozen", "{}"));
    cr_assert_not(frozen_check(frozen, &set, &detail));
    cr_assert(strstr(detail.text, "no frozen set"), "%s", detail.text);
    dynbuf_done(&out);
    free((char *)a);
    free((char *)b);
    free((char *)frozen);
}

Test(test_set, two_files_of_one_name_are_not_frozen_together)
{
    const char *a = write_file("a", "one");
    struct test_set set = {.n = 0};
    struct dynbuf out;
    struct err_detail detail = {""};
    dynbuf_init(&out, SIZE_MAX);
    read_into(&set, "file", a);
    read_into(&set, "file", a);
    cr_assert_not(frozen_add(&out, "name", &set, &detail));
    cr_assert_eq(out.n, 0);
    free((char *)a);
}

Test(test_set, is_bounded_and_takes_no_empty_file)
{
    const char *a = write_file("a", "one"), *empty = write_file("b", "");
    struct test_set set = {.n = 0};
    struct dynbuf bytes;
    struct err_detail detail = {""};
    for (int i = 0; i < TEST_SET_FILES; i++) {
        read_into(&set, "file", a);
    }
    cr_assert_not(test_set_read(&set, "file", a, &bytes, &detail));
    dynbuf_done(&bytes);
    set.n = 0;
    cr_assert_not(test_set_read(&set, "file", empty, &bytes, &detail));
    cr_assert(strstr(detail.text, "the file is empty"), "%s", detail.text);
    dynbuf_done(&bytes);
    cr_assert_not(test_set_read(&set, "file", folder, &bytes, &detail));
    cr_assert(strstr(detail.text, "cannot read"), "%s", detail.text);
    dynbuf_done(&bytes);
    free((char *)a);
    free((char *)empty);
}
