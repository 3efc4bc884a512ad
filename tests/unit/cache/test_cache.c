/* SPDX-License-Identifier: Apache-2.0 */
/* The cache gives back what was put under exactly that key, bounded, first writer wins. */
#include "cache/cache.h"

#include <criterion/criterion.h>

static void put(struct cache *c, const struct cache_key *key, struct slice body,
                bool is_empty_outcome)
{
    const struct cache_value *value =
        cache_value_new(key, body, SLICE_LIT("note"), is_empty_outcome);
    cache_release(cache_put(c, value));
    cache_release(value);
}

static struct cache_key number_key(uint64_t n)
{
    struct cache_key key;
    digest_of((struct slice){(const char *)&n, sizeof(n)}, &key.value);
    return key;
}

Test(cache, gives_back_what_was_put_and_nothing_else)
{
    struct cache *c = cache_new(4096);
    struct cache_key one = number_key(1), two = number_key(2);
    put(c, &one, SLICE_LIT("body"), true);
    const struct cache_value *hit = cache_get(c, &one);
    cr_assert(hit && slice_is(hit->body, "body") && slice_is(hit->note, "note") &&
              hit->is_empty_outcome);
    cache_release(hit);
    cr_assert_null(cache_get(c, &two));
    cache_free(c);
}

Test(cache, keeps_the_first_writer)
{
    struct cache *c = cache_new(4096);
    struct cache_key key = number_key(1);
    put(c, &key, SLICE_LIT("first"), false);
    put(c, &key, SLICE_LIT("second"), false);
    const struct cache_value *hit = cache_get(c, &key);
    cr_assert(slice_is(hit->body, "first"));
    cache_release(hit);
    cache_free(c);
}

Test(cache, drops_the_least_recently_used_and_stays_under_its_ceiling)
{
    enum { CEILING = 10 * 1024, BODY = 1000 };
    char body[BODY] = {0};
    struct cache *c = cache_new(CEILING);
    struct cache_key kept = number_key(0);
    put(c, &kept, (struct slice){body, BODY}, false);
    for (uint64_t i = 1; i < 1000; i++) {
        struct cache_key key = number_key(i);
        put(c, &key, (struct slice){body, BODY}, false);
        cache_release(cache_get(c, &kept)); /* used all the time, so never the oldest */
        struct cache_stats stats;
        cache_stats(c, &stats);
        cr_assert_leq(stats.bytes, CEILING);
    }
    const struct cache_value *hit = cache_get(c, &kept);
    cr_assert_not_null(hit);
    cache_release(hit);
    struct cache_key early = number_key(1);
    cr_assert_null(cache_get(c, &early));
    cache_free(c);
}

Test(cache, a_held_value_outlives_its_eviction_and_the_cache)
{
    struct cache *c = cache_new(400);
    struct cache_key one = number_key(1), two = number_key(2);
    char body[200] = "held";
    put(c, &one, (struct slice){body, sizeof(body)}, false);
    const struct cache_value *held = cache_get(c, &one);
    cr_assert_not_null(held);
    put(c, &two, (struct slice){body, sizeof(body)}, false);
    cr_assert_null(cache_get(c, &one));
    cache_free(c);
    cr_assert_str_eq(held->body.p, "held");
    cache_release(held);
}

Test(cache, of_no_bytes_keeps_nothing)
{
    struct cache *c = cache_new(0);
    struct cache_key key = number_key(1);
    put(c, &key, SLICE_LIT(""), false);
    cr_assert_null(cache_get(c, &key));
    cache_free(c);
}

Test(key, differs_in_every_part)
{
    struct filter_digest f1 = {{{1}}}, f2 = {{{2}}};
    const struct cache_key_parts base = {SLICE_LIT("acme"), "kb1-a", &f1,
                                         "search_kb",       "mcp",   SLICE_LIT("q")};
    struct cache_key_parts others[6];
    for (size_t i = 0; i < 6; i++) {
        others[i] = base;
    }
    others[0].tenant = SLICE_LIT("globex");
    others[1].index_version = "kb1-b";
    others[2].filter = &f2;
    others[3].tool = "read";
    others[4].rendering = "rest";
    others[5].canonical_request = SLICE_LIT("r");
    struct cache_key key, same, other;
    cache_key_make(&base, &key);
    cache_key_make(&base, &same);
    cr_assert(digest_eq(&key.value, &same.value));
    for (size_t i = 0; i < 6; i++) {
        cache_key_make(&others[i], &other);
        cr_assert_not(digest_eq(&key.value, &other.value), "part %zu is not in the key", i);
    }
}

Test(key, does_not_confuse_neighbouring_parts)
{
    struct filter_digest f = {{{1}}};
    struct cache_key_parts a = {SLICE_LIT("ab"), "c", &f, "t", "mcp", SLICE_LIT("q")};
    struct cache_key_parts b = {SLICE_LIT("a"), "bc", &f, "t", "mcp", SLICE_LIT("q")};
    struct cache_key one, two;
    cache_key_make(&a, &one);
    cache_key_make(&b, &two);
    cr_assert_not(digest_eq(&one.value, &two.value));
}
