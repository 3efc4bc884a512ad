/* SPDX-License-Identifier: Apache-2.0 */
/* The measuring program behind tests/bench/retrieval; prints a JSON object a line.
 *
 *   build ENGINE      index the corpus for fts5 or xapian
 *   memory            anonymous memory of a store with two workers that searched
 *   check             kbgate's hits against those worked out from the corpus
 *   measure ENGINES   time the engines in alternating rounds on one core
 * each with --dir DIR --chunks N --partitions P, the last three with --questions N, measure with
 * --rounds N and --seconds S, at most, for an engine and scope. */
#include "tests/bench/engines/bench.h"

#include <stdio.h>
#include <stdlib.h>

static const struct {
    const char *name;
    size_t at;
} NUMBERS[] = {
    {"--chunks", offsetof(struct bench_options, n_chunks)},
    {"--partitions", offsetof(struct bench_options, n_partitions)},
    {"--questions", offsetof(struct bench_options, n_questions)},
    {"--rounds", offsetof(struct bench_options, rounds)},
    {"--seconds", offsetof(struct bench_options, seconds)},
};

static void take(struct bench_options *o, const char *name, const char *value)
{
    if (strcmp(name, "--dir") == 0) {
        o->dir = value;
        return;
    }
    for (size_t i = 0; i < sizeof(NUMBERS) / sizeof(NUMBERS[0]); i++) {
        if (strcmp(name, NUMBERS[i].name) == 0) {
            *(uint32_t *)((char *)o + NUMBERS[i].at) = (uint32_t)strtoul(value, NULL, 10);
            return;
        }
    }
    engine_require(0, name, "no option");
}

static void build(const struct bench_options *o, const char *engine)
{
    if (strcmp(engine, "fts5") == 0) {
        engine_fts5_build(o->dir, o->n_chunks, o->n_partitions);
        return;
    }
#ifdef KB_BENCH_XAPIAN
    if (strcmp(engine, "xapian") == 0) {
        engine_xapian_build(o->dir, o->n_chunks, o->n_partitions);
        return;
    }
#endif
    engine_require(0, engine, "no engine that can be built");
}

int main(int argc, char **argv)
{
    struct bench_options o = {.dir = "."};
    engine_require(argc >= 2, "usage", "build|memory|check|measure");
    const char *command = argv[1], *engines = "";
    int i = 2;
    if (i < argc && argv[i][0] != '-') {
        engines = argv[i++];
    }
    for (; i + 1 < argc; i += 2) {
        take(&o, argv[i], argv[i + 1]);
    }
    (void)snprintf(o.store, sizeof(o.store), "%s/store", o.dir);
    if (strcmp(command, "build") == 0) {
        build(&o, engines);
    } else if (strcmp(command, "memory") == 0) {
        bench_memory(&o);
    } else if (strcmp(command, "check") == 0) {
        return bench_check(&o);
    } else if (strcmp(command, "measure") == 0) {
        bench_measure(&o, engines);
    } else {
        engine_require(0, command, "no command");
    }
    return 0;
}
