/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/cache_control.h"

#include <criterion/criterion.h>

Test(cache_control, reads_max_age_and_nothing_else)
{
    static const struct {
        const char *value;
        int64_t expected;
    } ROWS[] = {
        {"", -1},
        {"no-store", -1},
        {"max-age", -1},
        {"max-age=", -1},
        {"max-age=x", -1},
        {"max-age=-1", -1},
        {"max-age=1.5", -1},
        {"max-age=1 2", -1},
        {"s-maxage=5", -1},
        {"x-max-age=5", -1},
        {"max-age=0", 0},
        {"max-age=60", 60},
        {"MAX-AGE=60", 60},
        {"max-age=\"60\"", 60},
        {"max-age=\"\"", -1},
        {"public, max-age=300, must-revalidate", 300},
        {"public,max-age=300", 300},
        {" \tmax-age=7 ", 7},
        {"s-maxage=5,max-age=6", 6},
        {"max-age=1,max-age=2", 1},
        {",,max-age=3,", 3},
        {"max-age=2147483648", (int64_t)1 << 31},
        {"max-age=99999999999999999999999999", (int64_t)1 << 31},
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        cr_expect_eq(cache_control_max_age_s(slice_of(ROWS[i].value)), ROWS[i].expected, "%s",
                     ROWS[i].value);
    }
    cr_expect_eq(cache_control_max_age_s(SLICE_NONE), -1, "absent");
}
