/* SPDX-License-Identifier: Apache-2.0 */
/* Units, and that the monotonic clock keeps its name. */
#include "service/base/clock.h"

#include <criterion/criterion.h>
#include <time.h>

Test(clock, wall_time_is_in_milliseconds)
{
    int64_t before = (int64_t)time(NULL);
    int64_t now_ms = clock_unix_ms();
    int64_t after = (int64_t)time(NULL);
    /* time() may read a tick behind clock_gettime() */
    cr_expect_geq(now_ms / 1000, before - 1);
    cr_expect_leq(now_ms / 1000, after + 1);
}

Test(clock, monotonic_time_never_falls)
{
    int64_t last = clock_mono_us();
    for (int i = 0; i < 100000; i++) {
        int64_t now = clock_mono_us();
        cr_assert_geq(now, last);
        last = now;
    }
    int64_t us = clock_mono_us();
    int64_t ms = clock_mono_ms();
    cr_expect_geq(ms, us / 1000);
    cr_expect_leq(ms, us / 1000 + 60000);
}
