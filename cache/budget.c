/* SPDX-License-Identifier: Apache-2.0 */
/* In this process only. A minute is the generic cell rate algorithm (ITU-T I.371): one number a
 * counter, the theoretical arrival time, so that a limit has no window edge to crowd at. A day is a
 * count from midnight UTC. All three budgets are looked at first and charged only if all of them
 * agree. */
#include "cache/budget.h"

#include "cache/lru.h"
#include "service/base/mem.h"

#include <pthread.h>
#include <stdlib.h>

enum { MINUTE_US = 60 * 1000 * 1000, DAY_MS = 24 * 60 * 60 * 1000, N_COUNTERS = 3 };

struct counter {
    struct lru_entry lru; /* first */
    int64_t arrival_us;   /* theoretical arrival time, Unix */
    int64_t day, day_count;
};

struct memory {
    struct lru_entry lru; /* first */
    int64_t charged_ms;
};

struct budget {
    pthread_mutex_t lock;
    struct budget_rules *rules;
    struct lru counters, memories;
};

/* One budget of a charge. */
struct line {
    const char *minute_name, *day_name;
    struct budget_rule rule;
    struct digest key;
};

/* The texts stay the caller's. */
static struct budget_rules *copy_rules(const struct budget_rules *rules)
{
    struct budget_rules *copy = mem_alloc(sizeof(*copy));
    struct budget_named *named = mem_array(rules->n_named, sizeof(*named));
    for (size_t i = 0; i < rules->n_named; i++) {
        named[i] = rules->named[i];
    }
    *copy = *rules;
    copy->named = named;
    return copy;
}

static void free_rules(struct budget_rules *rules)
{
    free((void *)(uintptr_t)rules->named);
    free(rules);
}

struct budget *budget_new(const struct budget_rules *rules, const struct budget_options *options)
{
    struct budget *b = mem_alloc(sizeof(*b));
    pthread_mutex_init(&b->lock, NULL);
    (void)options;
    b->rules = copy_rules(rules);
    lru_init(&b->counters);
    lru_init(&b->memories);
    return b;
}

static void release_entry(struct lru_entry *e)
{
    free(e); /* the first member of a counter or a memory */
}

void budget_free(struct budget *b)
{
    if (b) {
        lru_done(&b->counters, release_entry);
        lru_done(&b->memories, release_entry);
        pthread_mutex_destroy(&b->lock);
        free_rules(b->rules);
        free(b);
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

static struct budget_rule find_rule(const struct budget_rules *rules, struct slice tenant,
                                    struct slice tool, struct budget_rule standard)
{
    for (size_t i = 0; i < rules->n_named; i++) {
        const struct budget_named *named = &rules->named[i];
        if (slice_eq(named->tenant, tenant) && slice_eq(named->tool, tool)) {
            return named->rule;
        }
    }
    return standard;
}

static struct digest key_of(const char *kind, struct slice tenant, struct slice detail)
{
    struct digest key;
    struct hasher h;
    hasher_init(&h);
    hasher_part(&h, slice_of(kind));
    hasher_part(&h, tenant);
    hasher_part(&h, detail);
    hasher_done(&h, &key);
    return key;
}

static void make_lines(const struct budget *b, const struct budget_charge *c,
                       struct line lines[N_COUNTERS])
{
    const struct budget_rule none = {0};
    struct slice tool = slice_of(c->tool);
    lines[0] = (struct line){"tenant/minute", "tenant/day",
                             find_rule(b->rules, c->tenant, SLICE_NONE, b->rules->tenant),
                             key_of("tenant", c->tenant, SLICE_NONE)};
    lines[1] = (struct line){"subject/minute", "subject/day", b->rules->subject,
                             key_of("subject", c->tenant, digest_slice(c->subject))};
    lines[2] = (struct line){"tool/minute", "tool/day", find_rule(b->rules, c->tenant, tool, none),
                             key_of("tool", c->tenant, tool)};
}

static struct counter *find_counter(struct budget *b, const struct digest *key)
{
    struct counter *counter = (struct counter *)lru_find(&b->counters, key);
    if (!counter) {
        counter = mem_alloc(sizeof(*counter));
        counter->lru.key = *key;
        add_bounded(&b->counters, &counter->lru);
    }
    return counter;
}

static int64_t cell_us(const struct budget_rule *rule)
{
    return MINUTE_US / rule->per_minute;
}

static int64_t arrival_after(const struct counter *counter, const struct budget_rule *rule,
                             int64_t now_us)
{
    return (counter->arrival_us > now_us ? counter->arrival_us : now_us) + cell_us(rule);
}

/* How long until one more fits; 0: now. */
static int64_t minute_wait_ms(const struct counter *counter, const struct budget_rule *rule,
                              int64_t now_ms)
{
    if (!rule->per_minute) {
        return 0;
    }
    int64_t early_us = arrival_after(counter, rule, now_ms * 1000) - now_ms * 1000;
    int64_t wait_us = early_us - rule->burst * cell_us(rule);
    return wait_us > 0 ? (wait_us + 999) / 1000 : 0;
}

static int64_t day_wait_ms(const struct counter *counter, const struct budget_rule *rule,
                           int64_t now_ms)
{
    bool spent =
        rule->per_day && counter->day == now_ms / DAY_MS && counter->day_count >= rule->per_day;
    return spent ? DAY_MS - now_ms % DAY_MS : 0;
}

static void consider(struct budget_verdict *verdict, const char *name, int64_t wait_ms)
{
    if (wait_ms > verdict->retry_after_ms) {
        verdict->budget = name;
        verdict->retry_after_ms = wait_ms;
    }
}

static void charge_counter(struct counter *counter, const struct budget_rule *rule, int64_t now_ms)
{
    if (rule->per_minute) {
        counter->arrival_us = arrival_after(counter, rule, now_ms * 1000);
    }
    if (counter->day != now_ms / DAY_MS) {
        counter->day = now_ms / DAY_MS;
        counter->day_count = 0;
    }
    counter->day_count++;
}

static struct digest memory_key(const struct budget_charge *c)
{
    return key_of("charge", digest_slice(c->subject), digest_slice(&c->call->value));
}

static struct memory *find_memory(struct budget *b, const struct digest *key, int64_t now_ms)
{
    struct memory *memory = (struct memory *)lru_find(&b->memories, key);
    if (memory && now_ms - memory->charged_ms >= BUDGET_REMEMBER_MS) {
        lru_remove(&b->memories, &memory->lru);
        free(memory);
        return NULL;
    }
    return memory;
}

static void remember(struct budget *b, const struct digest *key, int64_t now_ms)
{
    struct memory *memory = mem_alloc(sizeof(*memory));
    memory->lru.key = *key;
    memory->charged_ms = now_ms;
    add_bounded(&b->memories, &memory->lru);
}

/* Under the lock. */
static void decide(struct budget *b, const struct budget_charge *c, struct budget_verdict *verdict)
{
    struct digest call = memory_key(c);
    if (find_memory(b, &call, c->now_unix_ms)) {
        return;
    }
    struct line lines[N_COUNTERS];
    make_lines(b, c, lines);
    for (size_t i = 0; i < N_COUNTERS; i++) {
        const struct counter *counter = find_counter(b, &lines[i].key);
        consider(verdict, lines[i].minute_name,
                 minute_wait_ms(counter, &lines[i].rule, c->now_unix_ms));
        consider(verdict, lines[i].day_name, day_wait_ms(counter, &lines[i].rule, c->now_unix_ms));
    }
    if (verdict->budget) {
        return;
    }
    for (size_t i = 0; i < N_COUNTERS; i++) {
        charge_counter(find_counter(b, &lines[i].key), &lines[i].rule, c->now_unix_ms);
    }
    remember(b, &call, c->now_unix_ms);
    verdict->charged = true;
}

void budget_take(struct budget *b, struct redis_loop *redis, const struct budget_charge *charge,
                 struct budget_verdict *ret_verdict, struct op *op)
{
    (void)redis;
    op_start(op, NULL, NULL);
    *ret_verdict = (struct budget_verdict){0};
    pthread_mutex_lock(&b->lock);
    decide(b, charge, ret_verdict);
    pthread_mutex_unlock(&b->lock);
    op_done(op, ret_verdict->budget ? ERR_BUDGET_SPENT : ERR_OK);
}

static void refund_counter(struct counter *counter, const struct budget_rule *rule, int64_t now_ms)
{
    if (rule->per_minute) {
        counter->arrival_us -= cell_us(rule);
    }
    if (counter->day == now_ms / DAY_MS && counter->day_count > 0) {
        counter->day_count--;
    }
}

void budget_refund(struct budget *b, struct redis_loop *redis, const struct budget_charge *charge,
                   const struct budget_verdict *verdict)
{
    (void)redis;
    (void)verdict;
    pthread_mutex_lock(&b->lock);
    struct digest call = memory_key(charge);
    struct memory *memory = find_memory(b, &call, charge->now_unix_ms);
    if (memory) {
        lru_remove(&b->memories, &memory->lru);
        free(memory);
        struct line lines[N_COUNTERS];
        make_lines(b, charge, lines);
        for (size_t i = 0; i < N_COUNTERS; i++) {
            refund_counter(find_counter(b, &lines[i].key), &lines[i].rule, charge->now_unix_ms);
        }
    }
    pthread_mutex_unlock(&b->lock);
}

void budget_set_rules(struct budget *b, const struct budget_rules *rules)
{
    pthread_mutex_lock(&b->lock);
    free_rules(b->rules);
    b->rules = copy_rules(rules);
    pthread_mutex_unlock(&b->lock);
}

void budget_stats(struct budget *b, struct budget_stats *ret_stats)
{
    (void)b;
    *ret_stats = (struct budget_stats){.is_shared = true};
}
