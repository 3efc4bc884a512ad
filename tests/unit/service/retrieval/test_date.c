/* SPDX-License-Identifier: Apache-2.0 */
/* Dates are exact over the whole range, checked against a calendar that counts day by day. */
#include "service/retrieval/shape.h"

#include <criterion/criterion.h>
#include <stdio.h>

static void expect_written(int32_t days, const char *text)
{
    struct dynbuf out;
    dynbuf_init(&out, 10);
    date_add(&out, days);
    cr_assert(!out.failed && slice_is(dynbuf_get(&out), text), "day %d is %.*s, not %s", days,
              (int)out.n, out.p, text);
    dynbuf_done(&out);
}

Test(date, writes_and_reads_known_days)
{
    static const struct {
        int32_t days;
        const char *text;
    } DAYS[] = {
        {0, "1970-01-01"},      {-1, "1969-12-31"},      {11016, "2000-02-29"},
        {20148, "2025-03-01"},  {-719162, "0001-01-01"}, {2932896, "9999-12-31"},
        {-25509, "1900-02-28"}, {-25508, "1900-03-01"},  {19782, "2024-02-29"},
    };
    for (size_t i = 0; i < sizeof(DAYS) / sizeof(DAYS[0]); i++) {
        int32_t days = 12345;
        expect_written(DAYS[i].days, DAYS[i].text);
        cr_assert(date_parse(slice_of(DAYS[i].text), &days));
        cr_assert_eq(days, DAYS[i].days, "%s is day %d, not %d", DAYS[i].text, days, DAYS[i].days);
    }
}

static int month_length(int year, int month)
{
    static const int LENGTHS[] = {0, 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    bool leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
    return LENGTHS[month] + (leap && month == 2);
}

Test(date, agrees_with_a_calendar_that_counts)
{
    int year = 1, month = 1, day = 1;
    for (int32_t days = -719162; days <= 2932896; days++) {
        char text[32];
        int32_t back = 0;
        snprintf(text, sizeof(text), "%04d-%02d-%02d", year, month, day);
        cr_assert(date_parse(slice_of(text), &back) && back == days, "%s", text);
        if (days % 97 == 0) {
            expect_written(days, text);
        }
        if (++day > month_length(year, month)) {
            day = 1;
            month = month == 12 ? 1 : month + 1;
            year += month == 1;
        }
    }
    cr_assert_eq(year, 10000);
}

Test(date, refuses_what_is_no_date)
{
    static const char *const BAD[] = {
        "",           "2025",          "2025-3-01",  "2025-03-1",  "2025-02-29", "2024-02-30",
        "1900-02-29", "2025-00-10",    "2025-13-01", "2025-01-00", "2025-04-31", "0000-01-01",
        "2025/03/01", "2025-03-01T",   " 2025-3-01", "2025-03-0x", "-025-03-01", "+025-03-01",
        "20250-3-01", "2025-03-01Z00", "2025-0:-01",
    };
    for (size_t i = 0; i < sizeof(BAD) / sizeof(BAD[0]); i++) {
        int32_t days = 7;
        cr_assert_not(date_parse(slice_of(BAD[i]), &days), "%s", BAD[i]);
        cr_assert_eq(days, 7, "%s", BAD[i]);
    }
    int32_t days;
    cr_assert_not(date_parse(SLICE_NONE, &days));
    cr_assert_not(date_parse((struct slice){"2025-03\0001", 10}, &days));
}

Test(date, writes_the_nearest_date_for_a_day_out_of_range)
{
    expect_written(-719163, "0001-01-01");
    expect_written(2932897, "9999-12-31");
    expect_written(INT32_MIN, "0001-01-01");
    expect_written(INT32_MAX, "9999-12-31");
}
