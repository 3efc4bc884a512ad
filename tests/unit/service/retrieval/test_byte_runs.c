/* SPDX-License-Identifier: Apache-2.0 */
#include "service/retrieval/byte_runs.h"

#include <criterion/criterion.h>
#include <string.h>

/* Lengths around every place where a piece ends, several runs side by side. */
Test(byte_runs, every_length_is_read_back)
{
    enum { RUNS = 7, LONGEST = 3000 };
    struct byte_runs pool = {0};
    struct byte_run runs[RUNS] = {{0}};
    for (unsigned i = 0; i < LONGEST; i++) {
        for (unsigned r = 0; r < RUNS; r++) {
            byte_runs_add(&pool, &runs[r], (char)(i * 31 + r));
        }
        if (i > 40 && i % 97) {
            continue;
        }
        for (unsigned r = 0; r < RUNS; r++) {
            struct byte_run_reader reader = byte_run_read(&pool, &runs[r]);
            for (unsigned k = 0; k <= i; k++) {
                cr_assert_eq(byte_run_next(&reader), (char)(k * 31 + r), "byte %u of %u", k, i);
            }
        }
    }
    cr_assert(!pool.failed);
    byte_runs_done(&pool);
}

Test(byte_runs, numbers_are_read_back)
{
    static const uint32_t numbers[] = {0,       1,       127,       128,        16383,     16384,
                                       2097151, 2097152, 268435455, 268435456u, UINT32_MAX};
    enum { N = sizeof(numbers) / sizeof(*numbers) };
    struct byte_runs pool = {0};
    struct byte_run run = {0};
    for (size_t i = 0; i < N; i++) {
        byte_runs_add_varint(&pool, &run, numbers[i]);
    }
    struct byte_run_reader reader = byte_run_read(&pool, &run);
    for (size_t i = 0; i < N; i++) {
        cr_assert_eq(byte_run_next_varint(&reader), numbers[i]);
    }
    byte_runs_done(&pool);
}

/* Millions of terms occur once. */
Test(byte_runs, a_short_run_costs_eight_bytes)
{
    struct byte_runs pool = {0};
    for (int i = 0; i < 1000; i++) {
        struct byte_run run = {0};
        byte_runs_add_varint(&pool, &run, 100000);
        byte_runs_add(&pool, &run, 1);
    }
    cr_assert_eq(pool.n, 8000);
    byte_runs_done(&pool);
}
