/* SPDX-License-Identifier: Apache-2.0 */
/* Password and key files: what is taken from them, what is refused, and that no reason tells it. */
#include "service/pipeline/key_file.h"
#include "service/pipeline/redis_secrets.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static char folder[64], password[128], other[128], key[128];
static struct err_detail detail;

static void write_file(const char *path, struct slice bytes)
{
    FILE *f = fopen(path, "w");
    cr_assert(f);
    cr_assert_eq(fwrite(bytes.p, 1, bytes.n, f), bytes.n);
    cr_assert_eq(fclose(f), 0);
}

static void make_files(void)
{
    (void)snprintf(folder, sizeof(folder), "/tmp/test_secrets_XXXXXX");
    cr_assert(mkdtemp(folder));
    (void)snprintf(password, sizeof(password), "%s/password", folder);
    (void)snprintf(other, sizeof(other), "%s/other", folder);
    (void)snprintf(key, sizeof(key), "%s/key", folder);
    write_file(password, SLICE_LIT("first\n"));
    write_file(other, SLICE_LIT("second"));
    write_file(key, SLICE_LIT("0123456789abcdef0123456789abcdef"));
}

static void remove_files(void)
{
    (void)unlink(password);
    (void)unlink(other);
    (void)unlink(key);
    (void)rmdir(folder);
}

TestSuite(redis_secrets, .init = make_files, .fini = remove_files);

static struct config_redis config_of(const char *cache_file, const char *budget_file)
{
    struct config_redis c = {.is_configured = true,
                             .cache_password_file = cache_file,
                             .budget_password_file = budget_file,
                             .cache_key_file = key};
    (void)snprintf(c.cache.host, sizeof(c.cache.host), "127.0.0.1");
    (void)snprintf(c.cache.password, sizeof(c.cache.password), "of the URL");
    (void)snprintf(c.budgets.host, sizeof(c.budgets.host), "localhost");
    return c;
}

static bool load(const struct config_redis *c, struct redis_secrets *ret)
{
    detail.text[0] = '\0';
    return redis_secrets_load(c, ret, &detail);
}

Test(redis_secrets, keeps_the_urls_where_no_file_is_named)
{
    const struct config_redis c = config_of("", "");
    struct redis_secrets s;
    cr_assert(load(&c, &s), "%s", detail.text);
    cr_expect_str_eq(s.cache.host, "127.0.0.1");
    cr_expect_str_eq(s.cache.password, "of the URL");
    cr_expect_str_eq(s.budgets.host, "localhost");
    cr_expect_str_eq(s.budgets.password, "");
    cr_expect(slice_is(dynbuf_get(&s.cache_key), "0123456789abcdef0123456789abcdef"));
    redis_secrets_done(&s);
}

Test(redis_secrets, each_side_has_its_file)
{
    const struct config_redis c = config_of(password, other);
    struct redis_secrets s;
    cr_assert(load(&c, &s), "%s", detail.text);
    cr_expect_str_eq(s.cache.password, "first");
    cr_expect_str_eq(s.budgets.password, "second");
    redis_secrets_done(&s);
}

Test(redis_secrets, drops_one_line_end_and_refuses_the_rest)
{
    static const struct {
        struct slice bytes;
        const char *password, *reason; /* one of them */
    } cases[] = {
        {SLICE_LIT("secret"), "secret", NULL},
        {SLICE_LIT("secret\n"), "secret", NULL},
        {SLICE_LIT("secret\r\n"), "secret", NULL},
        {SLICE_LIT(" se cret \n"), " se cret ", NULL},
        {SLICE_LIT("s\xC3\xA9"
                   "cret"),
         "s\xC3\xA9"
         "cret",
         NULL},
        {SLICE_LIT(""), NULL, "is empty"},
        {SLICE_LIT("\n"), NULL, "is empty"},
        {SLICE_LIT("\r\n"), NULL, "is empty"},
        {SLICE_LIT("secret\n\n"), NULL, "one line"},
        {SLICE_LIT("secret\r"), NULL, "one line"},
        {SLICE_LIT("secret\nmore\n"), NULL, "one line"},
        {SLICE_LIT("sec\0ret"), NULL, "one line"},
        {SLICE_LIT("sec\tret"), NULL, "one line"},
        {SLICE_LIT("sec\x7Fret"), NULL, "one line"},
    };
    const struct config_redis c = config_of("", password);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct redis_secrets s;
        write_file(password, cases[i].bytes);
        cr_expect_eq(load(&c, &s), cases[i].password != NULL, "%zu: %s", i, detail.text);
        if (cases[i].password) {
            cr_expect_str_eq(s.budgets.password, cases[i].password);
        } else {
            cr_expect_not_null(strstr(detail.text, cases[i].reason), "%zu: %s", i, detail.text);
            const char *after = strstr(detail.text, password);
            cr_assert_not_null(after, "%s", detail.text);
            cr_expect_not_null(strstr(detail.text, "budgets"), "%s", detail.text);
            cr_expect_null(strstr(after + strlen(password), "sec"), "%s", detail.text);
        }
        redis_secrets_done(&s);
    }
}

Test(redis_secrets, caps_a_password_at_512_bytes)
{
    static char bytes[5000];
    memset(bytes, 'a', sizeof(bytes));
    const struct config_redis c = config_of(password, "");
    const size_t sizes[] = {511, 512, 513, 4096, 4097};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct redis_secrets s;
        write_file(password, (struct slice){bytes, sizes[i]});
        cr_expect_eq(load(&c, &s), sizes[i] <= 512, "%zu: %s", sizes[i], detail.text);
        cr_expect(sizes[i] > 512 || strlen(s.cache.password) == sizes[i]);
        cr_expect_null(strstr(detail.text, "aaa"), "%s", detail.text);
        redis_secrets_done(&s);
    }
    bytes[512] = '\n'; /* counts for the file, not for the password */
    struct redis_secrets s;
    write_file(password, (struct slice){bytes, 513});
    cr_expect(load(&c, &s), "%s", detail.text);
    redis_secrets_done(&s);
}

Test(redis_secrets, takes_a_key_of_32_to_4096_bytes)
{
    static char bytes[4097];
    memset(bytes, 'k', sizeof(bytes));
    const struct config_redis c = config_of("", "");
    const size_t sizes[] = {0, 31, 32, 33, 4095, 4096, 4097};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        struct redis_secrets s;
        write_file(key, (struct slice){bytes, sizes[i]});
        cr_expect_eq(load(&c, &s), sizes[i] >= 32 && sizes[i] <= 4096, "%zu: %s", sizes[i],
                     detail.text);
        cr_expect(!*detail.text || strstr(detail.text, "redis.cache_key_file"), "%s", detail.text);
        cr_expect_null(strstr(detail.text, "kkk"), "%s", detail.text);
        redis_secrets_done(&s);
    }
}

Test(redis_secrets, says_which_file_it_cannot_read)
{
    static const char missing[] = "/tmp/no such folder/file";
    struct config_redis rows[] = {config_of(missing, ""), config_of("", missing),
                                  config_of("", "")};
    static const char *const what[] = {"password of the cache", "password of the budgets",
                                       "redis.cache_key_file"};
    rows[2].cache_key_file = missing;
    for (size_t i = 0; i < 3; i++) {
        struct redis_secrets s;
        cr_expect_not(load(&rows[i], &s));
        cr_expect_not_null(strstr(detail.text, missing), "%s", detail.text);
        cr_expect_not_null(strstr(detail.text, what[i]), "%s", detail.text);
        redis_secrets_done(&s);
    }
}

Test(redis_secrets, done_takes_a_zeroed_one)
{
    struct redis_secrets s = {0};
    redis_secrets_done(&s);
}
