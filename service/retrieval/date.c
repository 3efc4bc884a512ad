/* SPDX-License-Identifier: Apache-2.0 */
/* Dates as days since 1970-01-01 in the proleptic Gregorian calendar, by integers: libc's calls
 * know time zones and locales. Years are counted from 1 March, so that the leap day comes last. */
#include "service/retrieval/shape.h"

enum {
    DAYS_400_YEARS = 146097,
    DAYS_100_YEARS = 36524,
    DAYS_4_YEARS = 1461,
    DAYS_TO_1970 = 719468, /* from 0000-03-01 */
    FIRST_DAY = -719162,   /* 0001-01-01 */
    LAST_DAY = 2932896,    /* 9999-12-31 */
};

struct date {
    int32_t year, month, day;
};

static int32_t days_of(struct date d)
{
    int32_t year = d.month > 2 ? d.year : d.year - 1; /* 0..9999 */
    int32_t month = d.month > 2 ? d.month - 3 : d.month + 9;
    int32_t day_of_year = (153 * month + 2) / 5 + d.day - 1;
    return year * 365 + year / 4 - year / 100 + year / 400 + day_of_year - DAYS_TO_1970;
}

static struct date date_of(int32_t days)
{
    int32_t from_march = days + DAYS_TO_1970;
    int32_t era = from_march / DAYS_400_YEARS;
    int32_t day = from_march % DAYS_400_YEARS;
    int32_t year =
        (day - day / (DAYS_4_YEARS - 1) + day / DAYS_100_YEARS - day / (DAYS_400_YEARS - 1)) / 365;
    day -= year * 365 + year / 4 - year / 100;
    int32_t month = (5 * day + 2) / 153;
    struct date d = {
        .year = era * 400 + year + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = day - (153 * month + 2) / 5 + 1,
    };
    return d;
}

static bool is_leap(int32_t year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static bool is_date(struct date d)
{
    static const int32_t LENGTHS[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    if (d.year < 1 || d.month < 1 || d.month > 12 || d.day < 1) {
        return false;
    }
    return d.day <= LENGTHS[d.month - 1] + (d.month == 2 && is_leap(d.year));
}

static void add_digits(struct dynbuf *out, int32_t value, int32_t highest)
{
    for (; highest > 0; highest /= 10) {
        dynbuf_add_byte(out, (char)('0' + value / highest % 10));
    }
}

void date_add(struct dynbuf *out, int32_t days)
{
    if (days < FIRST_DAY || days > LAST_DAY) {
        days = days < 0 ? FIRST_DAY : LAST_DAY;
    }
    struct date d = date_of(days);
    add_digits(out, d.year, 1000);
    dynbuf_add_byte(out, '-');
    add_digits(out, d.month, 10);
    dynbuf_add_byte(out, '-');
    add_digits(out, d.day, 10);
}

/* The decimal number in text[from..to); -1 where another character stands there. */
static int32_t number_at(struct slice text, size_t from, size_t to)
{
    int32_t value = 0;
    for (size_t i = from; i < to; i++) {
        if (text.p[i] < '0' || text.p[i] > '9') {
            return -1;
        }
        value = value * 10 + (text.p[i] - '0');
    }
    return value;
}

bool date_parse(struct slice text, int32_t *ret_days)
{
    if (text.n != 10 || text.p[4] != '-' || text.p[7] != '-') {
        return false;
    }
    struct date d = {number_at(text, 0, 4), number_at(text, 5, 7), number_at(text, 8, 10)};
    if (!is_date(d)) {
        return false;
    }
    *ret_days = days_of(d);
    return true;
}
