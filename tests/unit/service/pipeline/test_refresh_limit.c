/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/refresh_limit.h"

#include <criterion/criterion.h>

enum { START = 1000 };

static struct refresh_limit limit;

static void init(void)
{
    refresh_limit_init(&limit, START);
}

TestSuite(refresh_limit, .init = init);

static struct digest key_of(size_t i)
{
    struct digest d;
    digest_of((struct slice){(const char *)&i, sizeof(i)}, &d);
    return d;
}

static size_t take_all(int64_t now)
{
    size_t n = 0;
    while (n < 1000 && refresh_limit_take(&limit, now)) {
        n++;
    }
    return n;
}

Test(refresh_limit, two_at_once_then_one_each_thirty_seconds)
{
    cr_expect_eq(take_all(START), 2);
    cr_expect_eq(refresh_limit_wait_ms(&limit, START), 30000);
    cr_expect_eq(take_all(START + 29999), 0);
    cr_expect_eq(refresh_limit_wait_ms(&limit, START + 29999), 1);
    cr_expect_eq(take_all(START + 30000), 1);
    cr_expect_eq(take_all(START + 59999), 0);
    cr_expect_eq(take_all(START + 60000), 1);
}

Test(refresh_limit, idle_time_does_not_add_up_beyond_the_burst)
{
    cr_expect_eq(take_all(START + 3600 * 1000), 2);
    cr_expect_eq(take_all(START + 2 * 3600 * 1000), 2);
}

Test(refresh_limit, one_taken_leaves_one)
{
    cr_expect(refresh_limit_take(&limit, START));
    cr_expect_eq(refresh_limit_wait_ms(&limit, START), 0);
    cr_expect_eq(take_all(START + 1), 1);
    cr_expect_eq(take_all(START + 30000), 1, "counted from the first");
}

Test(refresh_limit, a_flood_for_an_hour_takes_two_a_minute)
{
    size_t n = 0;
    for (int64_t t = 0; t < 3600 * 1000; t += 7) {
        n += refresh_limit_take(&limit, START + t);
    }
    cr_expect_leq(n, 2 + 120);
    cr_expect_geq(n, 120);
}

Test(refresh_limit, remembers_absent_keys_for_thirty_seconds)
{
    struct digest a = key_of(1), b = key_of(2);
    cr_expect_not(refresh_limit_is_absent(&limit, &a, START));
    refresh_limit_add_absent(&limit, &a, START);
    cr_expect(refresh_limit_is_absent(&limit, &a, START));
    cr_expect(refresh_limit_is_absent(&limit, &a, START + 29999));
    cr_expect_not(refresh_limit_is_absent(&limit, &a, START + 30000));
    cr_expect_not(refresh_limit_is_absent(&limit, &b, START));
}

Test(refresh_limit, forgets_the_oldest_of_too_many_absent_keys)
{
    for (size_t i = 0; i < REFRESH_MAX_ABSENT; i++) {
        struct digest key = key_of(i);
        refresh_limit_add_absent(&limit, &key, START);
    }
    struct digest first = key_of(0), second = key_of(1), one_more = key_of(REFRESH_MAX_ABSENT);
    cr_expect(refresh_limit_is_absent(&limit, &first, START));
    refresh_limit_add_absent(&limit, &one_more, START);
    cr_expect_not(refresh_limit_is_absent(&limit, &first, START));
    cr_expect(refresh_limit_is_absent(&limit, &second, START));
    cr_expect(refresh_limit_is_absent(&limit, &one_more, START));
}
