/* SPDX-License-Identifier: Apache-2.0 */
/* What the scripts are sent, byte for byte, and which replies are believed. */
#include "cache/budget_shared.h"
#include "tests/unit/cache/budget_bill.h"

#include <criterion/criterion.h>

static const struct budget_rules RULES = {.tenant = {120, 20, 0}, .subject = {60, 10, 10000}};

static bool holds(struct slice text, const char *part)
{
    return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

Test(budget_shared, keys_share_a_slot_and_name_nobody)
{
    struct budget_bill bill = bill_of(&RULES, "ann", 1);
    struct budget_script_input in;
    budget_shared_take_input(SLICE_LIT("kbgate:"), &bill, &in);
    cr_assert_eq(in.n_keys, 4, "the memory, tenant/minute, subject/minute, subject/day");
    static const char *const ends[] = {NULL, ":m", ":m", ":d"};
    static const char *const kinds[] = {":c:", ":t:", ":s:", ":s:"};
    for (size_t i = 0; i < in.n_keys; i++) {
        struct slice key = in.keys[i];
        cr_assert(slice_starts(key, SLICE_LIT("kbgate:b:{")));
        cr_assert_eq(memcmp(key.p, in.keys[0].p, sizeof("kbgate:b:{") + 32), 0, "one slot");
        cr_assert(slice_starts(slice_skip(key, sizeof("kbgate:b:{") + 32), slice_of(kinds[i])));
        cr_assert(!ends[i] || slice_eq(slice_skip(key, key.n - 2), slice_of(ends[i])));
        cr_assert_not(holds(key, "acme") || holds(key, "ann"));
        for (size_t k = 0; k < i; k++) {
            cr_assert_not(slice_eq(key, in.keys[k]));
        }
    }
}

Test(budget_shared, arguments_leave_out_windows_without_limit)
{
    struct budget_bill bill = bill_of(&RULES, "ann", 1);
    struct budget_script_input in;
    static const char *const wanted[] = {"1",  "600000", "m", "120",   "20", "m",
                                         "60", "10",     "d", "10000", "0"};
    budget_shared_take_input(SLICE_NONE, &bill, &in);
    cr_assert_eq(in.n_args, sizeof(wanted) / sizeof(*wanted));
    for (size_t i = 0; i < in.n_args; i++) {
        cr_assert(slice_is(in.args[i], wanted[i]), "argument %zu", i);
    }
    cr_assert(slice_starts(in.keys[0], SLICE_LIT("b:{")));
    budget_shared_refund_input(SLICE_NONE, &bill, &in);
    static const char *const kinds[] = {"m", "m", "d"};
    cr_assert_eq(in.n_keys, 4);
    cr_assert_eq(in.n_args, 3);
    for (size_t i = 0; i < in.n_args; i++) {
        cr_assert(slice_is(in.args[i], kinds[i]));
    }
}

Test(budget_shared, the_longest_of_everything_fits)
{
    const int64_t most = INT64_C(1000000000);
    const struct budget_named named = {
        SLICE_LIT("acme"), SLICE_LIT("search_kb"), {most, most, most}};
    const struct budget_rules rules = {
        .tenant = {most, most, most}, .subject = {most, most, most}, .named = &named, .n_named = 1};
    char prefix[BUDGET_PREFIX_MAX_BYTES + 2];
    memset(prefix, 'p', sizeof(prefix));
    struct budget_bill bill = bill_of(&rules, "ann", 1);
    struct budget_script_input fits, cut;
    budget_shared_take_input((struct slice){prefix, BUDGET_PREFIX_MAX_BYTES}, &bill, &fits);
    budget_shared_take_input((struct slice){prefix, sizeof(prefix)}, &bill, &cut);
    cr_assert_eq(fits.n_keys, BUDGET_MAX_KEYS);
    cr_assert_eq(fits.n_args, BUDGET_MAX_ARGS);
    for (size_t i = 0; i < fits.n_keys; i++) {
        cr_assert_lt(fits.keys[i].n, BUDGET_KEY_BYTES);
        cr_assert(slice_eq(fits.keys[i], cut.keys[i]));
    }
    cr_assert_leq(3 + BUDGET_MAX_KEYS + BUDGET_MAX_ARGS, REDIS_LOOP_MAX_ARGS);
}

/* A reply of integers. */
static bool reads(const int64_t *numbers, size_t n, struct budget_reading *ret_reading)
{
    struct redis_reply items[8] = {{0}};
    for (size_t i = 0; i < n; i++) {
        items[i] = (struct redis_reply){.kind = REDIS_INTEGER, .integer = numbers[i]};
    }
    const struct redis_reply reply = {.kind = REDIS_LIST, .items = items, .n_items = n};
    struct budget_bill bill = bill_of(&RULES, "ann", 1);
    return budget_shared_read(&reply, &bill, ret_reading);
}

Test(budget_shared, reads_the_three_replies)
{
    struct budget_reading r;
    cr_assert(reads((int64_t[]){1, 0, 0, 20787, 4}, 5, &r));
    cr_assert(r.verdict.charged && !r.verdict.budget && !r.verdict.in_process);
    cr_assert(r.note.charged && r.note.day == 20787 && r.note.used[1] == 4);
    cr_assert(reads((int64_t[]){0, 3, 5000, 20787, 10000}, 5, &r));
    cr_assert_not(r.verdict.charged);
    cr_assert_str_eq(r.verdict.budget, "subject/day");
    cr_assert_eq(r.verdict.retry_after_ms, 5000);
    cr_assert(!r.note.charged && r.note.used[1] == 10000);
    cr_assert(reads((int64_t[]){2}, 1, &r));
    cr_assert(!r.verdict.charged && !r.verdict.budget && !r.note.day);
}

Test(budget_shared, believes_no_other_reply)
{
    static const struct {
        int64_t numbers[8];
        size_t n;
    } rows[] = {
        {{0}, 0},
        {{0}, 1},
        {{1}, 1},
        {{3}, 1},
        {{2, 0}, 2},
        {{1, 0, 0}, 3},
        {{1, 0, 0, 20787}, 4},       /* a day is missing */
        {{1, 0, 0, 20787, 4, 5}, 6}, /* a day too many */
        {{1, 1, 0, 20787, 4}, 5},
        {{1, 0, 7, 20787, 4}, 5},
        {{0, 0, 7, 20787, 4}, 5},
        {{0, 4, 7, 20787, 4}, 5}, /* there are three windows */
        {{0, 1, 0, 20787, 4}, 5},
        {{0, 1, -7, 20787, 4}, 5},
        {{2, 0, 0, 20787, 4}, 5},
        {{1, 0, 0, 20787, -4}, 5},
        {{1, 0, 0, 20787, (INT64_C(1) << 53) + 1}, 5},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct budget_reading r = {.verdict = {.retry_after_ms = 77}};
        cr_assert_not(reads(rows[i].numbers, rows[i].n, &r), "row %zu", i);
        cr_assert_eq(r.verdict.retry_after_ms, 77, "row %zu", i);
    }
}

Test(budget_shared, believes_no_reply_of_another_kind)
{
    static const enum redis_kind kinds[] = {REDIS_NIL, REDIS_INTEGER, REDIS_TEXT, REDIS_STATUS,
                                            REDIS_ERROR};
    struct budget_bill bill = bill_of(&RULES, "ann", 1);
    struct budget_reading r;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        const struct redis_reply reply = {.kind = kinds[i], .integer = 2, .text = SLICE_LIT("2")};
        cr_assert_not(budget_shared_read(&reply, &bill, &r), "kind %zu", i);
        const struct redis_reply list = {.kind = REDIS_LIST, .items = &reply, .n_items = 1};
        cr_assert_eq(budget_shared_read(&list, &bill, &r), kinds[i] == REDIS_INTEGER);
    }
}
