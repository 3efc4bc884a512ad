/* SPDX-License-Identifier: Apache-2.0 */
/* Engines take turns within each round, so that what else the machine does falls on all of them.
 * A first pass, not timed, warms caches, finds out how many questions a slow engine has time for
 * (the first ones; they are drawn independently), checks that no engine shows what the caller may
 * not see, and counts how many of kbgate's ten hits an engine shares.
 *
 * Per question both the time on the wall and the thread's CPU time are kept: the two agree on a
 * quiet machine, and the second shows it where they do not. */
#include "service/base/mem.h"
#include "tests/bench/engines/bench.h"

#include <sched.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ENGINES_MAX = 8, QUESTIONS_MIN = 10, NAMES_BYTES = 256 };

static const struct engine *const ENGINES[] = {
    &ENGINE_KBGATE, &ENGINE_KBGATE_ANSWER, &ENGINE_FTS5_TERM, &ENGINE_FTS5_JOINED,
#ifdef KB_BENCH_XAPIAN
    &ENGINE_XAPIAN,
#endif
};
enum { N_ENGINES = sizeof(ENGINES) / sizeof(ENGINES[0]) };

struct answers { /* the chunks an engine found for each question */
    size_t n;
    uint32_t numbers[PASSAGES];
};

struct bench {
    const struct bench_options *o;
    char **questions;
    struct passages passages;
    const struct engine *engines[ENGINES_MAX];
    void *open[ENGINES_MAX];
    size_t n_engines;
    uint32_t n_questions[ENGINES_MAX][N_SCOPES];
    struct answers *first; /* of the engine that comes first: kbgate */
    double *wall_us, *cpu_us;
};

static double now_us(clockid_t clock)
{
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* The last CPU this process may use. */
static void pin(void)
{
    cpu_set_t set, one;
    CPU_ZERO(&one);
    engine_require(sched_getaffinity(0, sizeof(set), &set) == 0, "sched_getaffinity", "failed");
    size_t last = 0;
    for (size_t cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        last = CPU_ISSET(cpu, &set) ? cpu : last;
    }
    CPU_SET(last, &one);
    engine_require(sched_setaffinity(0, sizeof(one), &one) == 0, "sched_setaffinity", "failed");
}

static void open_engines(struct bench *b, const char *names)
{
    char list[NAMES_BYTES];
    const struct engine_place place = {b->o->store, b->o->dir, b->o->n_partitions};
    (void)snprintf(list, sizeof(list), ",%s,", names);
    for (size_t i = 0; i < N_ENGINES; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), ",%s,", ENGINES[i]->name);
        if (strstr(list, name)) {
            b->engines[b->n_engines] = ENGINES[i];
            b->open[b->n_engines++] = ENGINES[i]->open(&place);
        }
    }
    engine_require(b->n_engines > 0, names, "no engine of this name");
}

static void check_scope(const struct bench *b, const char *engine, int scope)
{
    for (size_t i = 0; i < b->passages.n; i++) {
        uint32_t number = b->passages.numbers[i];
        uint32_t home = corpus_home(number, b->o->n_partitions);
        engine_require(number < b->o->n_chunks && corpus_permits((enum corpus_scope)scope, home),
                       engine, "shows a chunk that the caller may not see");
    }
}

static size_t shared(const struct answers *a, const struct passages *p)
{
    size_t n = 0;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t j = 0; j < a->n; j++) {
            n += p->numbers[i] == a->numbers[j];
        }
    }
    return n;
}

static void remember(struct answers *a, const struct passages *p)
{
    a->n = p->n;
    memcpy(a->numbers, p->numbers, sizeof(a->numbers));
}

static void warm(struct bench *b, size_t e, int scope)
{
    double seconds = b->o->seconds, start = now_us(CLOCK_MONOTONIC);
    size_t n_hits = 0, n_shared = 0;
    uint32_t n = 0, n_compared = 0;
    while (n < b->o->n_questions) {
        b->engines[e]->search(b->open[e], scope, b->questions[n], &b->passages);
        check_scope(b, b->engines[e]->name, scope);
        if (e == 0) {
            remember(&b->first[n], &b->passages);
        }
        n_hits += b->passages.n;
        if (n < (e == 0 ? b->o->n_questions : b->n_questions[0][scope])) {
            n_shared += shared(&b->first[n], &b->passages);
            n_compared++;
        }
        n++;
        double spent = (now_us(CLOCK_MONOTONIC) - start) / 1e6;
        if (n >= QUESTIONS_MIN && spent * b->o->rounds > seconds) {
            break;
        }
    }
    b->n_questions[e][scope] = n;
    printf("{\"engine\":\"%s\",\"scope\":\"%s\",\"questions\":%u,\"hits\":%.2f,\"shared\":%.2f}\n",
           b->engines[e]->name, CORPUS_SCOPES[scope], n, (double)n_hits / n,
           (double)n_shared / n_compared);
}

static void print_samples(const char *key, const double *us, uint32_t n)
{
    printf(",\"%s\":[", key);
    for (uint32_t i = 0; i < n; i++) {
        printf("%s%.2f", i ? "," : "", us[i]);
    }
    putchar(']');
}

static void run(struct bench *b, uint32_t round, size_t e, int scope)
{
    const struct engine *engine = b->engines[e];
    uint32_t n = b->n_questions[e][scope];
    for (uint32_t i = 0; i < n; i++) {
        double cpu = now_us(CLOCK_THREAD_CPUTIME_ID), wall = now_us(CLOCK_MONOTONIC);
        engine->search(b->open[e], scope, b->questions[i], &b->passages);
        b->wall_us[i] = now_us(CLOCK_MONOTONIC) - wall;
        b->cpu_us[i] = now_us(CLOCK_THREAD_CPUTIME_ID) - cpu;
    }
    printf("{\"round\":%u,\"engine\":\"%s\",\"scope\":\"%s\"", round, engine->name,
           CORPUS_SCOPES[scope]);
    print_samples("wall_us", b->wall_us, n);
    print_samples("cpu_us", b->cpu_us, n);
    puts("}");
}

static void print_versions(void)
{
    printf("{\"compiler\":\"%s\",\"sqlite_version\":\"%s\"", __VERSION__, sqlite3_libversion());
#ifdef KB_BENCH_XAPIAN
    printf(",\"xapian_version\":\"%s\"", engine_xapian_version());
#endif
    puts("}");
}

static void close_bench(struct bench *b)
{
    for (size_t e = 0; e < b->n_engines; e++) {
        b->engines[e]->close(b->open[e]);
    }
    bench_questions_free(b->questions, b->o->n_questions);
    free(b->first);
    free(b->wall_us);
    free(b->cpu_us);
    free(b);
}

void bench_measure(const struct bench_options *o, const char *engines)
{
    struct bench *b = mem_alloc(sizeof(*b));
    b->o = o;
    b->questions = bench_questions(o);
    b->first = mem_array(o->n_questions, sizeof(*b->first));
    b->wall_us = mem_array(o->n_questions, sizeof(*b->wall_us));
    b->cpu_us = mem_array(o->n_questions, sizeof(*b->cpu_us));
    print_versions();
    pin();
    open_engines(b, engines);
    for (int scope = 0; scope < N_SCOPES; scope++) {
        for (size_t e = 0; e < b->n_engines; e++) {
            warm(b, e, scope);
        }
    }
    for (uint32_t round = 1; round <= o->rounds; round++) {
        for (int scope = 0; scope < N_SCOPES; scope++) {
            for (size_t e = 0; e < b->n_engines; e++) {
                run(b, round, e, scope);
            }
        }
    }
    close_bench(b);
}
