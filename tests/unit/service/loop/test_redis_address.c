/* SPDX-License-Identifier: Apache-2.0 */
/* Redis URLs: what is read from them, what is refused, and that no reason or description tells a
 * secret. */
#include "service/loop/redis_address.h"

#include <criterion/criterion.h>
#include <stdio.h>

static struct redis_address address;
static struct err_detail detail;

static bool parse(struct slice url)
{
    detail.text[0] = '\0';
    return redis_address_parse(url, &address, &detail);
}

Test(redis_address, reads_what_a_url_says)
{
    static const struct {
        const char *url;
        bool is_unix;
        const char *where, *user, *password; /* where: host or path */
        unsigned port;
        int database;
    } cases[] = {
        {"redis://127.0.0.1", false, "127.0.0.1", "", "", 6379, 0},
        {"REDIS://localhost:1/15", false, "localhost", "", "", 1, 15},
        {"redis://redis-0.redis_x.internal:65535", false, "redis-0.redis_x.internal", "", "", 65535,
         0},
        {"redis://[::1]", false, "::1", "", "", 6379, 0},
        {"redis://kb@[::1]:7000/3", false, "::1", "kb", "", 7000, 3},
        {"redis://kb:p%40ss%3A%2F@h", false, "h", "kb", "p@ss:/", 6379, 0},
        {"redis://:only:a@h", false, "h", "", "only:a", 6379, 0},
        {"unix:///run/redis.sock", true, "/run/redis.sock", "", "", 0, 0},
        {"unix://kb:x@/run/redis.sock?db=4", true, "/run/redis.sock", "kb", "x", 0, 4},
        {"unix:///run/a%20b.sock", true, "/run/a b.sock", "", "", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert(parse(slice_of(cases[i].url)), "%s: %s", cases[i].url, detail.text);
        cr_expect_eq(address.is_unix, cases[i].is_unix, "%s", cases[i].url);
        cr_expect_str_eq(address.is_unix ? address.path : address.host, cases[i].where);
        cr_expect_str_eq(address.is_unix ? address.host : address.path, "");
        cr_expect_str_eq(address.user, cases[i].user);
        cr_expect_str_eq(address.password, cases[i].password);
        cr_expect_eq(address.database, cases[i].database, "%s", cases[i].url);
        cr_expect(address.is_unix || address.port == cases[i].port, "%s", cases[i].url);
    }
}

Test(redis_address, refuses_without_telling_a_byte_of_the_url)
{
    static const char *const urls[] = {
        "",
        "XYZZY",
        "http://XYZZY",
        "rediss://XYZZY",
        "redis://",
        "redis://XYZZY@",
        "redis://:XYZZY@h:0",
        "redis://:XYZZY@h:65536",
        "redis://:XYZZY@h:+1",
        "redis://:XYZZY@h:",
        "redis://:XYZZY@h/16",
        "redis://:XYZZY@h/-1",
        "redis://:XYZZY@h/0x1",
        "redis://:XYZZY@h/1/2",
        "redis://:XYZZY@h?db=1",
        "redis://:XYZZY@[::1",
        "redis://:XYZZY@[::g]",
        "redis://:XYZZY@[127.0.0.1]",
        "redis://:XYZZY@::1",
        "redis://:XYZ@ZY@h",
        "redis://:XYZ ZY@h",
        "redis://:XYZZY%00@h",
        "redis://:XYZZY%4@h",
        "redis://:XYZZY%zz@h",
        "redis://XYZZY\n",
        "unix://",
        "unix:///",
        "unix://XYZZY",
        "unix://XYZZY/run/r.sock",
        "unix:///run/XYZZY?database=1",
        "unix:///run/XYZZY?db=16",
        "unix:///run/XYZZY?db=",
        "unix:///run/XYZZY%0a",
    };
    for (size_t i = 0; i < sizeof(urls) / sizeof(urls[0]); i++) {
        cr_expect_not(parse(slice_of(urls[i])), "accepted: %s", urls[i]);
        cr_expect_null(strstr(detail.text, "XYZ"), "%s", detail.text);
        cr_expect_null(strstr(detail.text, "ZY"), "%s", detail.text);
        cr_expect_gt(strlen(detail.text), 20);
    }
    cr_expect_not(parse((struct slice){"redis://h\0:1", 12}), "a NUL is no end");
}

Test(redis_address, caps_every_part)
{
    static const struct {
        const char *before, *after;
        size_t max;
    } rows[] = {{"redis://", "", REDIS_HOST_MAX_BYTES},
                {"unix:///", "", REDIS_PATH_MAX_BYTES - 1},
                {"redis://", "@h", REDIS_USER_MAX_BYTES},
                {"redis://u:", "@h", REDIS_PASSWORD_MAX_BYTES}};
    char middle[REDIS_PASSWORD_MAX_BYTES + 2], url[1024];
    memset(middle, 'a', sizeof(middle));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        for (size_t n = rows[i].max - 1; n <= rows[i].max + 1; n++) {
            (void)snprintf(url, sizeof(url), "%s%.*s%s", rows[i].before, (int)n, middle,
                           rows[i].after);
            cr_expect_eq(parse(slice_of(url)), n <= rows[i].max, "%zu of row %zu: %s", n, i,
                         detail.text);
        }
    }
}

Test(redis_address, knows_loopback_by_its_text)
{
    static const struct {
        const char *url;
        bool local;
    } cases[] = {{"unix:///run/r.sock", true},
                 {"redis://127.0.0.1", true},
                 {"redis://127.255.255.254", true},
                 {"redis://[::1]", true},
                 {"redis://localhost", true},
                 {"redis://LOCALHOST", true},
                 {"redis://128.0.0.1", false},
                 {"redis://10.0.0.1", false},
                 {"redis://[::2]", false},
                 {"redis://localhost.evil.example", false},
                 {"redis://127.0.0.1.example", false},
                 {"redis://redis", false}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_assert(parse(slice_of(cases[i].url)), "%s: %s", cases[i].url, detail.text);
        cr_expect_eq(redis_address_is_local(&address), cases[i].local, "%s", cases[i].url);
    }
}

Test(redis_address, describes_without_user_and_password)
{
    static const struct {
        const char *url, *text;
    } cases[] = {{"redis://kb:secret@h:7/1", "h:7/1"},
                 {"redis://kb:secret@h:7/0", "h:7"},
                 {"redis://h", "h:6379"},
                 {"redis://[::1]:7/15", "[::1]:7/15"},
                 {"unix:///run/r.sock?db=0", "unix:/run/r.sock"},
                 {"redis://kb:secret@[::1]", "[::1]:6379"},
                 {"unix://kb:secret@/run/r.sock?db=2", "unix:/run/r.sock?db=2"}};
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[64], cut[4] = {'x', 'x', 'x', 'x'};
        cr_assert(parse(slice_of(cases[i].url)), "%s", detail.text);
        redis_address_describe(&address, text, sizeof(text));
        cr_expect_str_eq(text, cases[i].text);
        redis_address_describe(&address, cut, sizeof(cut));
        cr_expect(strlen(cut) == 3 && strncmp(cut, cases[i].text, 3) == 0);
    }
}
