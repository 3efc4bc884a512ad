/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/clock_watch.h"

#include <criterion/criterion.h>

Test(clock_watch, tells_a_jump_from_time_that_passes)
{
    struct clock_watch w = {0};
    cr_assert_eq(clock_watch_jump(&w, 1000000, 5, 30000), 0);
    cr_assert_eq(clock_watch_jump(&w, 1000000 + 3600000, 5 + 3600000, 30000), 0, "an hour passed");
    cr_assert_eq(clock_watch_jump(&w, 4600000 + 30000, 3600005, 30000), 0, "within the tolerance");
    cr_assert_eq(clock_watch_jump(&w, 4630000 + 30001, 3600005, 30000), 30001);
    cr_assert_eq(clock_watch_jump(&w, 4660001 - 600000, 3600005, 30000), -600000);
    cr_assert_eq(clock_watch_jump(&w, 4060001 + 500, 3600505, 30000), 0, "said once");
}
