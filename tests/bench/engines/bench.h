/* SPDX-License-Identifier: Apache-2.0 */
/* bench: the parts of bench_retrieval. */
#ifndef TESTS_BENCH_ENGINES_BENCH_H
#define TESTS_BENCH_ENGINES_BENCH_H

#include "tests/bench/engines/corpus.h"
#include "tests/bench/engines/engine.h"

struct bench_options {
    const char *dir;
    char store[4096]; /* dir/store */
    uint32_t n_chunks, n_partitions, n_questions, rounds, seconds;
};

/* n questions, each NUL-terminated; free them and the array. */
char **bench_questions(const struct bench_options *o);
void bench_questions_free(char **questions, uint32_t n);

void bench_memory(const struct bench_options *o);

/* 0: all answers as they must be; else 1, and the first difference on stderr. */
int bench_check(const struct bench_options *o);

/* engines: names, separated by commas. */
void bench_measure(const struct bench_options *o, const char *engines);

#endif
