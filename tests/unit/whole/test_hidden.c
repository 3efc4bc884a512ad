/* SPDX-License-Identifier: Apache-2.0 */
/* A hidden document does not exist: over random documents, policies and changes of what a caller
 * may not see, not one byte that this caller can get is another. Whatever changes in a visible
 * document does show, in each case: so the comparison is not blind.
 * KB_LONG=1: 10,000 cases. KB_SEED=N repeats a run, KB_CASE=N one case of it. */
#include "service/base/log.h"
#include "service/base/mem.h"
#include "tests/unit/whole/asks.h"
#include "tests/unit/whole/door.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { SHORT_RUN = 500, LONG_RUN = 10000, MAX_THREADS = 8, REPLY_MAX_BYTES = 4 << 20 };
enum { REPORT_BYTES = 12000, SHOWN_BYTES = 2000 };

/* What the threads share, and what became of it. */
struct run {
    const struct credentials *credentials;
    uint64_t seed, first, end;
    atomic_ullong next, cases, asks, found;
    atomic_bool failed;
    pthread_mutex_t lock; /* for report */
    char report[REPORT_BYTES];
};

struct trial {
    struct run *run;
    struct door *door;
    uint64_t number;
    struct arena arena;
    struct draw draw;
    struct caller caller;
    struct author author;
    struct world before, after, changed;
    struct asks asks;
    struct slice first[MAX_ASKS], second[MAX_ASKS]; /* the replies */
};

/* Failures */

static struct slice shown(struct slice s, size_t from)
{
    from = from < s.n ? from : s.n;
    struct slice rest = slice_skip(s, from);
    rest.n = rest.n < SHOWN_BYTES ? rest.n : SHOWN_BYTES;
    return rest;
}

static size_t first_difference(struct slice a, struct slice b)
{
    size_t i = 0;
    while (i < a.n && i < b.n && a.p[i] == b.p[i]) {
        i++;
    }
    return i > 100 ? i - 100 : 0;
}

static void fail(struct trial *t, const char *what, size_t ask, struct slice a, struct slice b)
{
    const struct request_input *in = &t->asks.items[ask].in;
    size_t from = first_difference(a, b);
    struct slice request = shown(in->is_get ? in->query_string : in->body, 0);
    a = shown(a, from);
    b = shown(b, from);
    pthread_mutex_lock(&t->run->lock);
    if (!atomic_exchange(&t->run->failed, true)) {
        snprintf(t->run->report, REPORT_BYTES,
                 "KB_SEED=%llu KB_CASE=%llu: %s\nhidden changes: %s\nrequest: %.*s\n"
                 "one, from byte %zu: %.*s\nother: %.*s",
                 (unsigned long long)t->run->seed, (unsigned long long)t->number, what,
                 t->author.done, (int)request.n, request.p, from, (int)a.n, a.p, (int)b.n, b.p);
    }
    pthread_mutex_unlock(&t->run->lock);
}

/* One version */

static bool has(struct slice text, const char *part)
{
    return memmem(text.p, text.n, part, strlen(part)) != NULL;
}

static struct slice ask(struct trial *t, size_t i)
{
    struct dynbuf out;
    dynbuf_init(&out, REPLY_MAX_BYTES);
    door_ask(t->door, &t->asks.items[i].in, &out);
    MUST(!out.failed, "a reply of more than %d bytes", REPLY_MAX_BYTES);
    struct slice reply = arena_copy(&t->arena, dynbuf_get(&out));
    dynbuf_done(&out);
    return reply;
}

/* A refusal for another reason than the case's would make everything equal. */
static void check_reply(struct trial *t, size_t i, struct slice reply)
{
    const struct ask *a = &t->asks.items[i];
    if (has(reply, "\"type\":\"retryable\"") || has(reply, "-32603") || reply.p[0] == '5') {
        fail(t, "a failure", i, reply, SLICE_NONE);
    }
    if (!a->names_veiled && has(reply, VEILED)) {
        fail(t, "a hidden id", i, reply, SLICE_NONE);
    }
    if (a->searches) {
        atomic_fetch_add(&t->run->found, has(reply, "\"results\":[{"));
        atomic_fetch_add(&t->run->asks, 1);
    }
}

static void observe(struct trial *t, struct slice *ret_replies)
{
    for (size_t i = 0; i < t->asks.n; i++) {
        ret_replies[i] = ask(t, i);
        check_reply(t, i, ret_replies[i]);
    }
}

/* The reply with every occurrence of the name replaced. */
static struct slice without_name(struct trial *t, struct slice reply, struct slice name)
{
    struct dynbuf out;
    dynbuf_init(&out, REPLY_MAX_BYTES);
    while (reply.n) {
        const char *at = name.n ? memmem(reply.p, reply.n, name.p, name.n) : NULL;
        size_t n = at ? (size_t)(at - reply.p) : reply.n;
        dynbuf_add(&out, (struct slice){reply.p, n});
        dynbuf_add_text(&out, at ? "NAME" : "");
        reply = slice_skip(reply, at ? n + name.n : n);
    }
    struct slice kept = arena_copy(&t->arena, dynbuf_get(&out));
    dynbuf_done(&out);
    return kept;
}

static void compare_twins(struct trial *t)
{
    for (size_t i = 0; i < t->asks.n; i++) {
        const struct ask *a = &t->asks.items[i];
        if (a->twin) {
            struct slice missing = without_name(t, t->first[i], a->name);
            struct slice hidden = without_name(t, t->first[a->twin], t->asks.items[a->twin].name);
            if (!slice_eq(missing, hidden)) {
                fail(t, "hidden and missing differ", a->twin, hidden, missing);
            }
        }
    }
}

static void compare_versions(struct trial *t)
{
    for (size_t i = 0; i < t->asks.n; i++) {
        if (!slice_eq(t->first[i], t->second[i])) {
            fail(t, "hidden documents changed an answer", i, t->first[i], t->second[i]);
        }
    }
}

/* Cases */

static bool is_same_world(const struct world *a, const struct world *b)
{
    return a->n == b->n && memcmp(a->papers, b->papers, a->n * sizeof(*a->papers)) == 0;
}

static void draw_case(struct trial *t)
{
    t->draw.state = t->run->seed * 1000003 + t->number;
    caller_draw(&t->caller, &t->draw);
    t->author = (struct author){.draw = &t->draw, .caller = &t->caller, .arena = &t->arena};
    world_draw(&t->before, &t->author);
    do {
        t->author.done[0] = '\0';
        t->after = t->before;
        world_change_hidden(&t->after, &t->author);
    } while (is_same_world(&t->before, &t->after));
    t->changed = t->after;
    world_change_seen(&t->changed, &t->author);
    t->asks.author = &t->author;
    t->asks.authorization = dynbuf_get(&t->run->credentials->token);
    asks_draw(&t->asks, &t->before, &t->after);
}

static void judge_case(struct trial *t)
{
    door_admit(t->door, &t->caller, (unsigned)(t->number % N_PROFILES));
    door_publish(t->door, &t->before, draw_one_in(&t->draw, 4));
    observe(t, t->first);
    door_publish(t->door, &t->after, draw_one_in(&t->draw, 4));
    if (draw_one_in(&t->draw, 16)) {
        door_reopen(t->door);
    }
    observe(t, t->second);
    compare_versions(t);
    compare_twins(t);
    door_publish(t->door, &t->changed, false);
    struct slice index = ask(t, 0);
    if (slice_eq(index, t->second[0])) {
        fail(t, "a visible document changed nothing", 0, index, SLICE_NONE);
    }
}

static void *work(void *arg)
{
    struct run *run = arg;
    struct door *door = door_new(run->credentials);
    for (;;) {
        uint64_t number = atomic_fetch_add(&run->next, 1);
        if (number >= run->end || atomic_load(&run->failed)) {
            break;
        }
        struct trial *t = mem_alloc(sizeof(*t));
        *t = (struct trial){.run = run, .door = door, .number = number};
        draw_case(t);
        judge_case(t);
        atomic_fetch_add(&run->cases, 1);
        arena_done(&t->arena);
        free(t);
    }
    door_free(door);
    return NULL;
}

static uint64_t number_from_environment(const char *name, uint64_t fallback)
{
    const char *text = getenv(name);
    return text && *text ? strtoull(text, NULL, 10) : fallback;
}

static void run_threads(struct run *run)
{
    pthread_t threads[MAX_THREADS];
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    size_t n = cores < 1 ? 1 : cores < MAX_THREADS ? (size_t)cores : MAX_THREADS;
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(pthread_create(&threads[i], NULL, work, run), 0);
    }
    for (size_t i = 0; i < n; i++) {
        cr_assert_eq(pthread_join(threads[i], NULL), 0);
    }
}

Test(hidden, what_is_hidden_changes_no_byte)
{
    struct credentials credentials;
    static struct run run;
    uint64_t n = number_from_environment("KB_LONG", 0) ? LONG_RUN : SHORT_RUN;
    run.seed = number_from_environment("KB_SEED", 20261130);
    run.first = number_from_environment("KB_CASE", 0);
    run.end = getenv("KB_CASE") ? run.first + 1 : n;
    atomic_init(&run.next, run.first);
    run.credentials = &credentials;
    pthread_mutex_init(&run.lock, NULL);
    log_set_level(LOG_ERROR);
    credentials_make(&credentials);
    run_threads(&run);
    credentials_done(&credentials);
    fprintf(stderr, "hidden: KB_SEED=%llu, %llu cases, %llu searches, %llu of them with results\n",
            (unsigned long long)run.seed, (unsigned long long)run.cases,
            (unsigned long long)run.asks, (unsigned long long)run.found);
    cr_assert(!run.failed, "%s", run.report);
    cr_assert_eq(run.cases, run.end - run.first);
    cr_assert(run.cases < 100 || run.found > run.asks / 3, "nearly every answer was empty");
}
