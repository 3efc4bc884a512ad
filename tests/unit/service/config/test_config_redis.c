/* SPDX-License-Identifier: Apache-2.0 */
/* The section `redis`: what it fills in, what it refuses, and that no reason tells a password. */
#include "tests/unit/service/config/config_file.h"

#include <criterion/criterion.h>
#include <stdio.h>

TestSuite(config_redis, .init = config_file_make, .fini = config_file_remove);

/* A section that is good but for `rest`, whose first line is line 5 of the file. */
#define GOOD "redis:\n  url: redis://127.0.0.1\n  replicas_max: 3\n  cache_key_file: cache.key\n"
#define WITHOUT_URL "redis:\n  replicas_max: 3\n  cache_key_file: cache.key\n"

static void expect_path(const char *value, const char *name)
{
    char expected[256];
    (void)snprintf(expected, sizeof(expected), "%s/%s", config_file_folder, name);
    cr_expect_str_eq(value, expected);
}

Test(config_redis, is_absent_where_the_file_does_not_name_it)
{
    struct config *c = config_file_load_good("store: x\n");
    const struct config_redis *r = &config_values(c)->redis;
    cr_expect_not(r->is_configured);
    cr_expect_str_eq(r->cache_password_file, "");
    cr_expect_str_eq(r->budget_password_file, "");
    cr_expect_str_eq(r->cache_key_file, "");
    config_free(c);
}

Test(config_redis, holds_every_default)
{
    struct config *c = config_file_load_good(GOOD);
    const struct config_redis *r = &config_values(c)->redis;
    cr_expect(r->is_configured);
    cr_expect_str_eq(r->cache.host, "127.0.0.1");
    cr_expect_str_eq(r->budgets.host, "127.0.0.1");
    cr_expect_eq(r->cache.port, 6379);
    cr_expect_str_eq(r->cache_password_file, "");
    cr_expect_str_eq(r->budget_password_file, "");
    expect_path(r->cache_key_file, "cache.key");
    cr_expect_str_eq(r->key_prefix, "kbgate:");
    cr_expect(r->replicas_max == 3 && r->connect_ms == 250 && r->command_ms == 50);
    cr_expect(r->lock_ms == 2000 && r->answer_ttl_s == 86400);
    config_free(c);
}

Test(config_redis, url_and_password_file_fill_in_for_what_one_side_leaves_out)
{
    struct config *c = config_file_load_good(
        GOOD "  budget_url: unix://kb@/run/budgets.sock?db=2\n"
             "  password_file: both.pw\n  cache_password_file: /etc/cache.pw\n");
    const struct config_redis *r = &config_values(c)->redis;
    cr_expect_str_eq(r->cache.host, "127.0.0.1");
    cr_expect(r->budgets.is_unix && r->budgets.database == 2);
    cr_expect_str_eq(r->budgets.path, "/run/budgets.sock");
    cr_expect_str_eq(r->budgets.user, "kb");
    cr_expect_str_eq(r->cache_password_file, "/etc/cache.pw");
    expect_path(r->budget_password_file, "both.pw");
    config_free(c);
}

Test(config_redis, two_urls_stand_for_themselves)
{
    struct config *c = config_file_load_good(
        WITHOUT_URL "  cache_url: redis://127.0.0.1:1001\n  budget_url: redis://127.0.0.1:1002\n");
    cr_expect_eq(config_values(c)->redis.cache.port, 1001);
    cr_expect_eq(config_values(c)->redis.budgets.port, 1002);
    config_free(c);
}

Test(config_redis, takes_every_other_value)
{
    struct config *c = config_file_load_good(GOOD "  connect_ms: 1000\n  command_ms: 100\n"
                                                  "  lock_ms: 3000\n  answer_ttl_s: 60\n"
                                                  "  key_prefix: \"team-a.kb_1:\"\n"
                                                  "  allow_plaintext: true\n");
    const struct config_redis *r = &config_values(c)->redis;
    cr_expect(r->connect_ms == 1000 && r->command_ms == 100 && r->lock_ms == 3000);
    cr_expect_eq(r->answer_ttl_s, 60);
    cr_expect_str_eq(r->key_prefix, "team-a.kb_1:");
    config_free(c);
}

Test(config_redis, takes_integers_at_both_limits_and_none_beyond)
{
    /* with: what else must be so that only the limit decides */
    static const struct {
        const char *key, *with;
        int64_t min, max;
    } rows[] = {{"replicas_max", "", 1, 1000},
                {"connect_ms", "  command_ms: 1\n", 10, 10000},
                {"command_ms", "  connect_ms: 10000\n", 1, 5000},
                {"lock_ms", "", 100, 60000},
                {"answer_ttl_s", "", 60, 2592000}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int64_t tries[] = {rows[i].min - 1, rows[i].min, rows[i].max, rows[i].max + 1};
        for (size_t k = 0; k < 4; k++) {
            char text[512];
            (void)snprintf(text, sizeof(text),
                           "deadline_ms: 120000\nredis:\n  url: redis://127.0.0.1\n"
                           "  cache_key_file: k\n%s%s  %s: %lld\n",
                           i ? "  replicas_max: 1\n" : "", rows[i].with, rows[i].key,
                           (long long)tries[k]);
            struct config *c = config_file_load(slice_of(text));
            cr_expect_eq(c != NULL, k == 1 || k == 2, "%s\n%s", text, config_file_detail.text);
            cr_expect(c || strstr(config_file_detail.text, rows[i].key));
            config_free(c);
        }
    }
}

Test(config_redis, refuses_with_line_key_and_fix)
{
    static const struct {
        const char *text;
        int line;
        const char *key, *reason;
    } cases[] = {
        {"redis: redis://127.0.0.1\n", 1, "redis", "must be a map"},
        {"redis: {}\n", 1, "redis.url", "remove `redis`"},
        {"\nredis: {command_ms: 5}\n", 2, "redis.url", "is missing"},
        {WITHOUT_URL, 1, "redis.url", "is missing"},
        {WITHOUT_URL "  cache_url: redis://127.0.0.1\n", 1, "redis.budget_url", "one redis.url"},
        {WITHOUT_URL "  budget_url: redis://127.0.0.1\n", 1, "redis.cache_url", "one redis.url"},
        {GOOD "  cache_url: redis://127.0.0.1\n  budget_url: redis://127.0.0.1\n", 2, "redis.url",
         "remove it"},
        {GOOD "  password_file: a\n  cache_password_file: b\n  budget_password_file: c\n", 5,
         "redis.password_file", "remove it"},
        {"redis:\n  url: redis://127.0.0.1\n  replicas_max: 3\n", 1, "redis.cache_key_file",
         "openssl rand -out FILE 32"},
        {"redis:\n  url: redis://127.0.0.1\n  cache_key_file: k\n", 1, "redis.replicas_max",
         "the most replicas that ever run at once"},
        {GOOD "  urls: x\n", 5, "urls", "nearest known key is `url`"},
        {GOOD "  allow_plaintext: yes\n", 5, "allow_plaintext", "true or false"},
        {GOOD "  lock_ms: 10001\n", 5, "redis.lock_ms", "write at most 10000"},
        {"deadline_ms: 1999\n" GOOD, 2, "redis.lock_ms", "is 2000, above deadline_ms, 1999"},
        {GOOD "  connect_ms: 49\n", 5, "redis.connect_ms", "write at least 50"},
        {GOOD "  command_ms: 251\n", 1, "redis.connect_ms", "is 250, below redis.command_ms, 251"},
        {GOOD "  key_prefix: \"a b\"\n", 5, "redis.key_prefix", "as in kbgate:"},
        {GOOD "  key_prefix: \"{a}\"\n", 5, "redis.key_prefix", "as in kbgate:"},
        {GOOD "  key_prefix: \"\"\n", 5, "key_prefix", "empty"},
        {GOOD "  cache_url: redis://10.0.0.1\n", 5, "redis.cache_url", "allow_plaintext: true"},
        {GOOD "  budget_url: redis://redis.internal\n", 5, "redis.budget_url", "unix socket"},
        {WITHOUT_URL "  url: redis://10.0.0.1\n  allow_plaintext: false\n", 4, "redis.url",
         "not loopback"},
        {WITHOUT_URL "  url: rediss://127.0.0.1\n", 4, "redis.url", "tunnel"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        config_file_expect_refused(cases[i].text, cases[i].line, cases[i].key, cases[i].reason);
    }
}

Test(config_redis, times_may_be_equal_but_not_crossed)
{
    config_free(config_file_load_good("deadline_ms: 2000\n" GOOD));
    config_free(config_file_load_good(GOOD "  lock_ms: 10000\n"));
    config_free(config_file_load_good(GOOD "  command_ms: 250\n"));
}

Test(config_redis, caps_the_prefix_at_32_bytes)
{
    for (int n = 31; n <= 33; n++) {
        char text[512];
        (void)snprintf(text, sizeof(text), GOOD "  key_prefix: %.*s\n", n,
                       "abcdefghijklmnopqrstuvwxyzABCDEFGHIJ");
        struct config *c = config_file_load(slice_of(text));
        cr_expect_eq(c != NULL, n <= 32, "%d: %s", n, config_file_detail.text);
        config_free(c);
    }
}

Test(config_redis, speaks_in_the_clear_off_loopback_only_when_told_to)
{
    config_free(config_file_load_good(WITHOUT_URL
                                      "  url: redis://redis.internal\n  allow_plaintext: true\n"));
    config_free(config_file_load_good(WITHOUT_URL "  url: unix:///run/redis.sock\n"));
    config_free(config_file_load_good(WITHOUT_URL "  url: redis://localhost:7000/3\n"));
}

Test(config_redis, tells_no_byte_of_a_password)
{
    static const struct {
        const char *text;
        int line;
        const char *key;
    } cases[] = {
        {WITHOUT_URL "  url: redis://kb:hunter2@127.0.0.1\n  password_file: p\n", 5,
         "redis.password_file"},
        {WITHOUT_URL "  url: redis://kb:hunter2@127.0.0.1\n  cache_password_file: p\n", 5,
         "redis.cache_password_file"},
        {GOOD "  budget_url: unix://:hunter2@/run/r.sock\n  budget_password_file: p\n", 6,
         "redis.budget_password_file"},
        {WITHOUT_URL "  url: redis://kb:hunter2@10.0.0.1\n", 4, "redis.url"},
        {WITHOUT_URL "  url: rediss://kb:hunter2@127.0.0.1\n", 4, "redis.url"},
        {WITHOUT_URL "  url: redis://kb:hunter2@\n", 4, "redis.url"},
        {WITHOUT_URL "  url: kb:hunter2@127.0.0.1\n", 4, "redis.url"},
        {WITHOUT_URL "  url: [\"redis://kb:hunter2@127.0.0.1\"]\n", 4, "url"},
        {"redis: redis://kb:hunter2@127.0.0.1\n", 1, "redis"},
        {"redis: [\"redis://kb:hunter2@127.0.0.1\"]\n", 1, "redis"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        config_file_expect_refused(cases[i].text, cases[i].line, cases[i].key, "");
        cr_expect_null(strstr(config_file_detail.text, "hunter2"), "%s", config_file_detail.text);
    }
}

Test(config_redis, shows_no_url_that_stands_in_a_keys_place)
{
    static const char *const texts[] = {
        "redis:\n  redis://kb:hunter2@127.0.0.1: 1\n",
        "redis: {url: redis://kb:a,hunter2@127.0.0.1, replicas_max: 3}\n",
        "redis:\n  url redis://kb:hunter2@127.0.0.1\n  replicas_max: 3\n",
        "redis://kb:hunter2@127.0.0.1: {}\n",
    };
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        cr_expect_null(config_file_load(slice_of(texts[i])), "accepted: %s", texts[i]);
        cr_expect_null(strstr(config_file_detail.text, "hunter2"), "%s", config_file_detail.text);
        cr_expect_not_null(strstr(config_file_detail.text, "kbgate.yaml:"));
    }
}
