/* SPDX-License-Identifier: Apache-2.0 */
/* The scripts in a real Redis against budget_local: the same charges, refunds, limits and moments,
 * and each verdict and wait has to be the same. The scripts run as they are but for two lines: the
 * clock is read from a key that the test sets, and buckets outlive the test, since their lives run
 * on the server's own clock. */
#include "cache/budget_local.h"
#include "cache/budget_shared.h"
#include "cache/scripts.h"
#include "service/base/dynbuf.h"
#include "tests/unit/cache/budget_bill.h"
#include "tests/unit/redis_server.h"

#include <criterion/criterion.h>
#include <hiredis/hiredis.h>

enum { SCRIPT_MAX_BYTES = 16 * 1024, N_STEPS = 2500, POOL = 40 };

struct twin {
    struct redis_server server;
    redisContext *redis;
    struct dynbuf take; /* the script with another clock */
    struct budget_local *local;
    int64_t now_us, epoch_us;
    uint64_t random, epoch;
    struct budget_rules rules;
    struct budget_tool tool;
};

/* text with the only `old` in it replaced. */
static void replace(struct dynbuf *text, const char *old, const char *new)
{
    struct slice whole = dynbuf_get(text);
    const char *at = memmem(whole.p, whole.n, old, strlen(old));
    cr_assert(at, "the script has no line %s", old);
    struct slice rest = slice_skip(whole, (size_t)(at - whole.p) + strlen(old));
    cr_assert_not(memmem(rest.p, rest.n, old, strlen(old)));
    struct dynbuf out;
    dynbuf_init(&out, SCRIPT_MAX_BYTES);
    dynbuf_add(&out, (struct slice){whole.p, (size_t)(at - whole.p)});
    dynbuf_add_text(&out, new);
    dynbuf_add(&out, rest);
    dynbuf_done(text);
    *text = out;
}

static void twin_init(struct twin *t, uint64_t seed)
{
    *t = (struct twin){.local = budget_local_new(),
                       .now_us = NOON_US,
                       .epoch_us = NOON_US,
                       .random = seed,
                       .tool = {SLICE_LIT("search_kb"), 1, false}};
    redis_server_start(&t->server, NULL);
    t->redis = redisConnectUnix(t->server.address.path);
    cr_assert(t->redis && !t->redis->err);
    dynbuf_init(&t->take, SCRIPT_MAX_BYTES);
    dynbuf_add_text(&t->take, budget_take_lua);
    replace(&t->take, "redis.call('TIME')", "redis.call('MGET', 'now:s', 'now:us')");
    replace(&t->take, "SLACK_MS = 3600000, 1000", "SLACK_MS = 3600000, 3600000");
}

static void twin_done(struct twin *t)
{
    redisFree(t->redis);
    redis_server_stop(&t->server);
    dynbuf_done(&t->take);
    budget_local_free(t->local);
}

static redisReply *eval(struct twin *t, struct slice script, const struct budget_script_input *in)
{
    const char *argv[3 + BUDGET_MAX_KEYS + BUDGET_MAX_ARGS] = {"EVAL", script.p};
    size_t sizes[3 + BUDGET_MAX_KEYS + BUDGET_MAX_ARGS] = {4, script.n};
    char n_keys[8];
    int n = 2;
    argv[n] = n_keys;
    sizes[n++] = (size_t)snprintf(n_keys, sizeof(n_keys), "%zu", in->n_keys);
    for (size_t i = 0; i < in->n_keys; i++, n++) {
        argv[n] = in->keys[i].p;
        sizes[n] = in->keys[i].n;
    }
    for (size_t i = 0; i < in->n_args; i++, n++) {
        argv[n] = in->args[i].p;
        sizes[n] = in->args[i].n;
    }
    redisReply *reply = redisCommandArgv(t->redis, n, argv, sizes);
    cr_assert(reply);
    return reply;
}

static struct budget_reading take_shared(struct twin *t, const struct budget_bill *bill)
{
    struct budget_script_input in;
    struct redis_reply items[REDIS_LOOP_MAX_ITEMS] = {{0}};
    freeReplyObject(redisCommand(t->redis, "MSET now:s %lld now:us %lld",
                                 (long long)(t->now_us / 1000000),
                                 (long long)(t->now_us % 1000000)));
    budget_shared_take_input(SLICE_LIT("t:"), bill, &in);
    redisReply *reply = eval(t, dynbuf_get(&t->take), &in);
    cr_assert_eq(reply->type, REDIS_REPLY_ARRAY, "%s", reply->str ? reply->str : "");
    for (size_t i = 0; i < reply->elements; i++) {
        cr_assert_eq(reply->element[i]->type, REDIS_REPLY_INTEGER);
        items[i] =
            (struct redis_reply){.kind = REDIS_INTEGER, .integer = reply->element[i]->integer};
    }
    const struct redis_reply list = {
        .kind = REDIS_LIST, .items = items, .n_items = reply->elements};
    struct budget_reading reading;
    cr_assert(budget_shared_read(&list, bill, &reading));
    freeReplyObject(reply);
    return reading;
}

static int64_t refund_shared(struct twin *t, const struct budget_bill *bill)
{
    struct budget_script_input in;
    budget_shared_refund_input(SLICE_LIT("t:"), bill, &in);
    redisReply *reply = eval(t, slice_of(budget_refund_lua), &in);
    cr_assert_eq(reply->type, REDIS_REPLY_INTEGER, "%s", reply->str ? reply->str : "");
    int64_t given_back = reply->integer;
    freeReplyObject(reply);
    return given_back;
}

static bool take_both(struct twin *t, const struct budget_bill *bill)
{
    struct budget_reading shared = take_shared(t, bill);
    struct budget_verdict local = {0};
    budget_local_take(t->local, bill, BUDGET_WHOLE, t->now_us, &local);
    cr_assert_eq(shared.verdict.charged, local.charged);
    cr_assert_eq(shared.verdict.retry_after_ms, local.retry_after_ms, "%lld in Redis, %lld here",
                 (long long)shared.verdict.retry_after_ms, (long long)local.retry_after_ms);
    cr_assert_eq(shared.verdict.budget == NULL, local.budget == NULL);
    if (local.budget) {
        cr_assert_str_eq(shared.verdict.budget, local.budget);
    }
    return local.charged;
}

/* --- the property --- */

static int64_t choose(uint64_t *random, const int64_t *from, int64_t n)
{
    return from[random_below(random, n)];
}

static struct budget_rule random_rule(uint64_t *random)
{
    static const int64_t minutes[] = {0, 1, 7, 59, 60, 120, 6000, 999983, 1000000};
    static const int64_t bursts[] = {1, 2, 5, 20, 1000, 1000000};
    static const int64_t days[] = {0, 0, 5, 40, 1000, 1000000000};
    return (struct budget_rule){choose(random, minutes, 9), choose(random, bursts, 6),
                                choose(random, days, 6)};
}

static void change_rules(struct twin *t)
{
    static const int64_t costs[] = {1, 1, 1, 2, 7, 1000};
    t->tool.cost = choose(&t->random, costs, 6);
    t->rules = (struct budget_rules){.tenant = random_rule(&t->random),
                                     .subject = random_rule(&t->random),
                                     .tools = &t->tool,
                                     .n_tools = 1};
}

/* Small steps both ways; now and then hours or days, after which nothing is remembered. */
static void move_clock(struct twin *t)
{
    int64_t kind = random_below(&t->random, 100);
    if (kind < 80) {
        t->now_us += random_below(&t->random, kind < 40 ? 3000 : 3000000);
    } else if (kind < 95) {
        t->now_us -= random_below(&t->random, 80000);
    } else {
        t->now_us += random_below(&t->random, 2 * DAY_US) - DAY_US / 2;
        t->epoch_us = t->now_us - HOUR_US;
    }
    if (t->now_us - t->epoch_us > 8 * MINUTE_US) {
        t->epoch_us = t->now_us;
        t->epoch++;
    }
}

static void check_property(uint64_t seed)
{
    struct twin t;
    static const char *const subjects[] = {"ann", "bob"};
    int64_t n_charged = 0;
    twin_init(&t, seed);
    change_rules(&t);
    for (int step = 0; step < N_STEPS; step++) {
        int64_t what = random_below(&t.random, 100);
        uint64_t call = t.epoch * POOL + next_random(&t.random) % POOL;
        struct budget_bill bill = bill_of(&t.rules, subjects[call % 2], call);
        if (what < 55) {
            n_charged += take_both(&t, &bill);
        } else if (what < 70) {
            (void)refund_shared(&t, &bill);
            budget_local_refund(t.local, &bill, t.now_us);
        } else if (what < 98) {
            move_clock(&t);
        } else {
            change_rules(&t);
        }
    }
    cr_assert_gt(n_charged, 100);
    twin_done(&t);
}

Test(budget_scripts, decide_as_the_process_does, .timeout = 120)
{
    for (uint64_t seed = 1; seed <= 4; seed++) {
        fprintf(stderr, "seed %llu\n", (unsigned long long)seed);
        check_property(seed);
    }
}

/* --- single cases --- */

static struct budget_bill bill_for(struct twin *t, struct budget_rule tenant,
                                   struct budget_rule subject, int64_t cost, uint64_t call)
{
    t->tool.cost = cost;
    t->rules = (struct budget_rules){
        .tenant = tenant, .subject = subject, .tools = &t->tool, .n_tools = 1};
    return bill_of(&t->rules, "ann", call);
}

Test(budget_scripts, an_hour_lets_exactly_its_limit_and_the_burst_pass, .timeout = 60)
{
    struct twin t;
    twin_init(&t, 1);
    int64_t passed = 0;
    uint64_t call = 0;
    struct budget_bill bill =
        bill_for(&t, (struct budget_rule){7, 2, 0}, (struct budget_rule){0}, 1, 0);
    for (int64_t elapsed = 0; elapsed <= HOUR_US; elapsed += 3100000) {
        t.now_us = NOON_US + elapsed;
        passed += take_shared(&t, bill_again(&bill, call++)).verdict.charged;
    }
    cr_assert(llabs(passed - (7 * 60 + 2)) <= 1, "%lld", (long long)passed);
    twin_done(&t);
}

Test(budget_scripts, numbers_at_the_maxima_are_exact)
{
    const struct budget_rule most = {1000000, 1000000, 1000000000};
    struct twin t;
    struct budget_script_input in;
    twin_init(&t, 1);
    struct budget_bill bill = bill_for(&t, most, (struct budget_rule){0}, 1000, 0);
    budget_shared_take_input(SLICE_LIT("t:"), &bill, &in);
    for (uint64_t call = 0; call < 1000; call++) {
        cr_assert(take_both(&t, bill_again(&bill, call)));
    }
    cr_assert_not(take_both(&t, bill_again(&bill, 1000)), "the burst is spent");
    t.now_us += MINUTE_US;
    freeReplyObject(
        redisCommand(t.redis, "SET %b %s", in.keys[2].p, in.keys[2].n, "20000 999998999"));
    struct budget_reading r = take_shared(&t, bill_again(&bill, 1001));
    cr_assert(r.verdict.charged);
    cr_assert_eq(r.note.used[0], 999999999);
    r = take_shared(&t, bill_again(&bill, 1002));
    cr_assert_str_eq(r.verdict.budget, "tenant/day");
    cr_assert_eq(r.note.used[0], 999999999, "exact, and a denied call charged nothing");
    twin_done(&t);
}

Test(budget_scripts, a_refund_after_midnight_takes_nothing_from_the_new_day)
{
    struct twin t;
    twin_init(&t, 1);
    t.now_us = NOON_US + 12 * HOUR_US - 1;
    struct budget_bill bill =
        bill_for(&t, (struct budget_rule){0}, (struct budget_rule){0, 1, 2}, 1, 0);
    cr_assert(take_both(&t, bill_again(&bill, 1)));
    t.now_us += 1;
    cr_assert(take_both(&t, bill_again(&bill, 2)));
    budget_local_refund(t.local, bill_again(&bill, 1), t.now_us);
    cr_assert_eq(refund_shared(&t, &bill), 1);
    cr_assert(take_both(&t, bill_again(&bill, 3)));
    cr_assert_not(take_both(&t, bill_again(&bill, 4)), "two a day, both of today");
    twin_done(&t);
}

Test(budget_scripts, write_only_what_expires)
{
    struct twin t;
    twin_init(&t, 1);
    struct budget_rule rule = {60, 5, 10};
    struct budget_bill bill = bill_for(&t, rule, rule, 1, 0);
    struct budget_script_input in;
    for (uint64_t call = 0; call < 6; call++) {
        (void)take_both(&t, bill_again(&bill, call));
    }
    (void)bill_again(&bill, 1);
    cr_assert_eq(refund_shared(&t, &bill), 1);
    cr_assert_eq(refund_shared(&t, &bill), 0, "once");
    budget_shared_take_input(SLICE_LIT("t:"), bill_again(&bill, 0), &in);
    for (size_t i = 0; i < in.n_keys; i++) {
        redisReply *reply = redisCommand(t.redis, "PTTL %b", in.keys[i].p, in.keys[i].n);
        cr_assert_gt(reply->integer, 0, "key %zu", i);
        freeReplyObject(reply);
    }
    redisReply *reply = redisCommand(t.redis, "DBSIZE");
    cr_assert_eq(reply->integer, 2 + 4 + 4, "the clock, four windows, four charges remembered");
    freeReplyObject(reply);
    twin_done(&t);
}

Test(budget_scripts, a_value_that_is_not_theirs_fails_them_and_changes_nothing)
{
    static const char *const foreign[] = {"",
                                          "7",
                                          "7 ",
                                          "a b",
                                          "-1 5",
                                          "1 2 3",
                                          "1 1e3",
                                          "0x1 2",
                                          " 1 2",
                                          "1.5 2",
                                          "1 9007199254740993000",
                                          "99999999999999999999 1"};
    const struct budget_rule rule = {60, 5, 10};
    struct twin t;
    struct budget_script_input in;
    twin_init(&t, 1);
    struct budget_bill bill = bill_for(&t, rule, (struct budget_rule){0}, 1, 7);
    budget_shared_take_input(SLICE_LIT("t:"), &bill, &in);
    freeReplyObject(redisCommand(t.redis, "MSET now:s 1 now:us 1"));
    for (size_t i = 0; i < sizeof(foreign) / sizeof(*foreign); i++) {
        for (size_t k = 0; k < in.n_keys; k++) {
            freeReplyObject(
                redisCommand(t.redis, "SET %b %s", in.keys[k].p, in.keys[k].n, foreign[i]));
            redisReply *reply = eval(&t, dynbuf_get(&t.take), &in);
            cr_assert_eq(reply->type, REDIS_REPLY_ERROR, "\"%s\" in key %zu", foreign[i], k);
            cr_assert(slice_starts(slice_of(reply->str), SLICE_LIT("BADCOUNTER ")));
            freeReplyObject(reply);
            freeReplyObject(redisCommand(t.redis, "DEL %b", in.keys[k].p, in.keys[k].n));
            reply = redisCommand(t.redis, "DBSIZE");
            cr_assert_eq(reply->integer, 2, "only the clock is there");
            freeReplyObject(reply);
        }
    }
    twin_done(&t);
}

Test(budget_scripts, a_level_or_a_moment_of_somebody_else_is_a_full_burst_at_most)
{
    static const char *const foreign[] = {"1 9007199254740992", "9007199254740992 1",
                                          "9007199254740992 9007199254740992"};
    const struct budget_rule rule = {60, 5, 0};
    struct twin t;
    struct budget_script_input in;
    twin_init(&t, 1);
    struct budget_bill bill = bill_for(&t, rule, (struct budget_rule){0}, 1, 0);
    budget_shared_take_input(SLICE_LIT("t:"), &bill, &in);
    for (uint64_t i = 0; i < 3; i++) {
        freeReplyObject(redisCommand(t.redis, "SET %b %s", in.keys[1].p, in.keys[1].n, foreign[i]));
        struct budget_reading r = take_shared(&t, bill_again(&bill, 10 * i));
        if (!r.verdict.charged) {
            cr_assert_eq(r.verdict.retry_after_ms, 1000);
            t.now_us += 1000000;
            cr_assert(take_shared(&t, bill_again(&bill, 10 * i + 1)).verdict.charged,
                      "what was told holds");
        } else {
            cr_assert_eq(i, 0, "long ago, so it has drained");
        }
    }
    twin_done(&t);
}
