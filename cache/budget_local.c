/* SPDX-License-Identifier: Apache-2.0 */
/* A minute is a leaky bucket, the continuous-state form of the generic cell rate algorithm
 * (ITU-T I.371, annex A): no window edge to crowd at. Its level is counted in parts of a call so
 * small that it drains by whole numbers, `limit` a microsecond: nothing rounds, and the same
 * numbers come out as in budget_take.lua. A day is a count from midnight UTC. */
#include "cache/budget_local.h"

#include "cache/lru.h"
#include "service/base/mem.h"

#include <pthread.h>
#include <stdlib.h>

#define UNIT INT64_C(60000000) /* of a level: a call of cost 1, the microseconds of a minute */
#define HOUR_US (60 * UNIT)
#define DAY_US (24 * HOUR_US)

struct counter {
    struct lru_entry lru; /* first */
    int64_t at_us, level;
    int64_t day, day_count;      /* charged here */
    int64_t hour, hour_count;    /* the same, since 1970 */
    int64_t seen_day, seen_used; /* what Redis said; seen_day 0: nothing */
};

struct memory {
    struct lru_entry lru; /* first */
    int64_t charged_us, cost;
    bool is_here; /* charged to the counters here */
};

struct budget_local {
    pthread_mutex_t lock;
    struct lru counters, memories;
};

struct budget_local *budget_local_new(void)
{
    struct budget_local *l = mem_alloc(sizeof(*l));
    pthread_mutex_init(&l->lock, NULL);
    lru_init(&l->counters);
    lru_init(&l->memories);
    return l;
}

static void release_entry(struct lru_entry *e)
{
    free(e); /* the first member of a counter or a memory */
}

void budget_local_free(struct budget_local *l)
{
    if (l) {
        lru_done(&l->counters, release_entry);
        lru_done(&l->memories, release_entry);
        pthread_mutex_destroy(&l->lock);
        free(l);
    }
}

/* Adds e to the table, dropping the stalest entry of a full one. */
static void add_bounded(struct lru *table, struct lru_entry *e)
{
    if (table->n >= BUDGET_MAX_ENTRIES) {
        struct lru_entry *stalest = lru_oldest(table);
        lru_remove(table, stalest);
        free(stalest);
    }
    lru_add(table, e);
}

static struct counter *find_counter(struct budget_local *l, const struct digest *key)
{
    struct counter *counter = (struct counter *)lru_find(&l->counters, key);
    if (!counter) {
        counter = mem_alloc(sizeof(*counter));
        counter->lru.key = *key;
        add_bounded(&l->counters, &counter->lru);
    }
    return counter;
}

static int64_t max_of(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

static int64_t min_of(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t ceil_div(int64_t a, int64_t b) /* a >= 0 */
{
    return (a + b - 1) / b;
}

/* --- memories --- */

/* Loops read the clock before they get the lock, so a charge may be a little in the future; far in
 * the future it is the clock that went back. */
static struct memory *find_memory(struct budget_local *l, const struct digest *key, int64_t now_us)
{
    struct memory *memory = (struct memory *)lru_find(&l->memories, key);
    if (memory && llabs(now_us - memory->charged_us) >= BUDGET_REMEMBER_MS * INT64_C(1000)) {
        lru_remove(&l->memories, &memory->lru);
        free(memory);
        return NULL;
    }
    return memory;
}

/* The call is not remembered yet. */
static void remember(struct budget_local *l, const struct budget_bill *bill, int64_t now_us,
                     bool is_here)
{
    struct memory *memory = mem_alloc(sizeof(*memory));
    memory->lru.key = bill->memory;
    add_bounded(&l->memories, &memory->lru);
    memory->charged_us = now_us;
    memory->cost = bill->cost;
    memory->is_here = is_here;
}

bool budget_local_remembers(struct budget_local *l, const struct budget_bill *bill, int64_t now_us)
{
    pthread_mutex_lock(&l->lock);
    bool found = find_memory(l, &bill->memory, now_us) != NULL;
    pthread_mutex_unlock(&l->lock);
    return found;
}

void budget_local_forget(struct budget_local *l, const struct budget_bill *bill)
{
    pthread_mutex_lock(&l->lock);
    struct lru_entry *e = lru_find(&l->memories, &bill->memory);
    if (e) {
        lru_remove(&l->memories, e);
        free(e);
    }
    pthread_mutex_unlock(&l->lock);
}

/* --- one line --- */

/* What of a rule is in force here. */
struct allowance {
    int64_t rate, full;     /* of a minute: what drains a microsecond, the highest level */
    int64_t day, today;     /* how much today, and which day that is */
    int64_t per_hour, hour; /* likewise; per_hour 0: no such limit */
    bool has_minute, has_day;
};

static void share_minute(struct allowance *a, const struct budget_rule *rule, int64_t n_shares,
                         int64_t cost)
{
    int64_t at_once = rule->burst;
    a->rate = rule->per_minute;
    if (n_shares != BUDGET_WHOLE) {
        a->rate = max_of(rule->per_minute / n_shares, cost);
        at_once = max_of(rule->burst / n_shares, min_of(rule->burst, a->rate));
        at_once = max_of(at_once, cost);
    }
    a->full = at_once * UNIT;
}

static void share_day(struct allowance *a, const struct budget_rule *rule, int64_t n_shares,
                      const struct counter *counter, int64_t cost)
{
    if (n_shares == BUDGET_WHOLE) {
        a->day = rule->per_day;
    } else if (counter->seen_day) {
        int64_t used = counter->seen_day < a->today ? 0 : counter->seen_used;
        a->day = max_of(rule->per_day - used, 0) / n_shares;
    } else {
        a->day = max_of(rule->per_day / n_shares, cost);
        a->per_hour = max_of(rule->per_day / 24 / n_shares, cost);
    }
}

static struct allowance allow(const struct budget_rule *rule, int64_t n_shares,
                              const struct counter *counter, int64_t cost, int64_t now_us)
{
    struct allowance a = {.today = now_us / DAY_US,
                          .hour = now_us / HOUR_US,
                          .has_minute = rule->per_minute > 0,
                          .has_day = rule->per_day > 0};
    if (a.has_minute) {
        share_minute(&a, rule, n_shares, cost);
    }
    if (a.has_day) {
        share_day(&a, rule, n_shares, counter, cost);
    }
    return a;
}

/* The bucket's level now. A level above the burst (the limit was lowered), and a moment yet to come
 * (the clock went back), count as a full burst and no more: no wait is longer. */
static int64_t level_at(const struct counter *counter, const struct allowance *a, int64_t now_us)
{
    int64_t level = min_of(counter->level, a->full), ahead_us = counter->at_us - now_us;
    int64_t span_us = a->full / a->rate + 1; /* drains or fills any bucket, and overflows nothing */
    ahead_us = max_of(min_of(ahead_us, span_us), -span_us);
    return max_of(min_of(level + ahead_us * a->rate, a->full), 0);
}

/* How long until cost more fits; 0: now. */
static int64_t minute_wait_us(const struct counter *counter, const struct allowance *a,
                              int64_t cost, int64_t now_us)
{
    if (!a->has_minute) {
        return 0;
    }
    int64_t over = level_at(counter, a, now_us) + cost * UNIT - a->full;
    return over > 0 ? ceil_div(over, a->rate) : 0;
}

static int64_t day_wait_us(const struct counter *counter, const struct allowance *a, int64_t cost,
                           int64_t now_us)
{
    int64_t today = counter->day == a->today ? counter->day_count : 0;
    int64_t this_hour = counter->hour == a->hour ? counter->hour_count : 0;
    if (a->has_day && today + cost > a->day) {
        return DAY_US - now_us % DAY_US;
    }
    return a->per_hour && this_hour + cost > a->per_hour ? HOUR_US - now_us % HOUR_US : 0;
}

static void charge_counter(struct counter *counter, const struct allowance *a, int64_t cost,
                           int64_t now_us)
{
    if (a->has_minute) {
        counter->level = level_at(counter, a, now_us) + cost * UNIT;
        counter->at_us = now_us;
    }
    if (a->has_day) {
        counter->day_count = cost + (counter->day == a->today ? counter->day_count : 0);
        counter->day = a->today;
        counter->hour_count = cost + (counter->hour == a->hour ? counter->hour_count : 0);
        counter->hour = a->hour;
    }
}

/* A clock that went back: from here on the bucket drains again. */
static void repair_counter(struct counter *counter, const struct allowance *a, int64_t now_us)
{
    if (a->has_minute && counter->at_us > now_us) {
        counter->level = level_at(counter, a, now_us);
        counter->at_us = now_us;
    }
}

/* --- all lines --- */

struct decision {
    const char *budget;
    int64_t wait_us;
};

static void consider(struct decision *d, const char *name, int64_t wait_us)
{
    if (wait_us > d->wait_us) {
        *d = (struct decision){name, wait_us};
    }
}

/* Under the lock. */
static void charge_all_or_none(struct budget_local *l, const struct budget_bill *bill,
                               int64_t n_shares, int64_t now_us, struct decision *d)
{
    struct counter *counters[BUDGET_MAX_LINES];
    struct allowance allowances[BUDGET_MAX_LINES];
    for (size_t i = 0; i < bill->n_lines; i++) {
        const struct budget_line *line = &bill->lines[i];
        counters[i] = find_counter(l, &line->counter);
        allowances[i] = allow(&line->rule, n_shares, counters[i], bill->cost, now_us);
        consider(d, line->minute_name,
                 minute_wait_us(counters[i], &allowances[i], bill->cost, now_us));
        consider(d, line->day_name, day_wait_us(counters[i], &allowances[i], bill->cost, now_us));
    }
    for (size_t i = 0; i < bill->n_lines; i++) {
        if (d->budget) {
            repair_counter(counters[i], &allowances[i], now_us);
        } else {
            charge_counter(counters[i], &allowances[i], bill->cost, now_us);
        }
    }
}

void budget_local_take(struct budget_local *l, const struct budget_bill *bill, int64_t n_shares,
                       int64_t now_us, struct budget_verdict *verdict)
{
    struct decision d = {0};
    pthread_mutex_lock(&l->lock);
    if (!find_memory(l, &bill->memory, now_us)) {
        charge_all_or_none(l, bill, n_shares, now_us, &d);
        verdict->charged = !d.budget;
        if (verdict->charged) {
            remember(l, bill, now_us, true);
        }
    }
    pthread_mutex_unlock(&l->lock);
    verdict->budget = d.budget;
    verdict->retry_after_ms = ceil_div(d.wait_us, 1000);
}

/* A window that has no limit any more is left as it was, as in Redis. */
static void refund_counter(struct counter *counter, const struct budget_rule *rule,
                           const struct memory *charged)
{
    if (rule->per_minute) {
        counter->level = max_of(counter->level - charged->cost * UNIT, 0);
    }
    if (rule->per_day && counter->day == charged->charged_us / DAY_US) {
        counter->day_count = max_of(counter->day_count - charged->cost, 0);
    }
    if (rule->per_day && counter->hour == charged->charged_us / HOUR_US) {
        counter->hour_count = max_of(counter->hour_count - charged->cost, 0);
    }
}

void budget_local_refund(struct budget_local *l, const struct budget_bill *bill, int64_t now_us)
{
    pthread_mutex_lock(&l->lock);
    struct memory *memory = find_memory(l, &bill->memory, now_us);
    if (memory && memory->is_here) {
        for (size_t i = 0; i < bill->n_lines; i++) {
            const struct budget_line *line = &bill->lines[i];
            refund_counter(find_counter(l, &line->counter), &line->rule, memory);
        }
        lru_remove(&l->memories, &memory->lru);
        free(memory);
    }
    pthread_mutex_unlock(&l->lock);
}

void budget_local_note(struct budget_local *l, const struct budget_bill *bill,
                       const struct budget_note *note, int64_t now_us)
{
    pthread_mutex_lock(&l->lock);
    for (size_t i = 0; i < bill->n_lines; i++) {
        if (bill->lines[i].rule.per_day) {
            struct counter *counter = find_counter(l, &bill->lines[i].counter);
            counter->seen_day = note->day;
            counter->seen_used = note->used[i];
        }
    }
    if (note->charged && !find_memory(l, &bill->memory, now_us)) {
        remember(l, bill, now_us, false);
    }
    pthread_mutex_unlock(&l->lock);
}
