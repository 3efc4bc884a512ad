/* SPDX-License-Identifier: Apache-2.0 */
/* Every measure is averaged over the same resamples, so that their intervals belong together. */
#include "service/eval/evaluation.h"

#include "service/base/mem.h"

#include <stdlib.h>

#define SEED 0x6B62676174650001u

/* SplitMix64 (Steele, Lea, Flood 2014). */
static uint64_t next(uint64_t *state)
{
    uint64_t z = *state += 0x9E3779B97F4A7C15u;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9u;
    z = (z ^ z >> 27) * 0x94D049BB133111EBu;
    return z ^ z >> 31;
}

static int rising(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return a < b ? -1 : a > b;
}

/* One mean of each measure, at column `at` of the rows. */
static void resample(const struct query_result *results, size_t n, uint64_t *state, double *means,
                     size_t at)
{
    double sums[N_MEASURES] = {0};
    for (size_t i = 0; i < n; i++) {
        const struct measures *drawn = &results[next(state) % n].measures;
        for (size_t m = 0; m < N_MEASURES; m++) {
            sums[m] += drawn->value[m];
        }
    }
    for (size_t m = 0; m < N_MEASURES; m++) {
        means[m * BOOTSTRAP_RESAMPLES + at] = sums[m] / (double)n;
    }
}

void bootstrap(const struct query_result *results, size_t n,
               struct interval ret_intervals[N_MEASURES])
{
    enum { LOW = BOOTSTRAP_RESAMPLES / 40, HIGH = BOOTSTRAP_RESAMPLES - 1 - LOW };
    double *means = mem_array((size_t)N_MEASURES * BOOTSTRAP_RESAMPLES, sizeof(*means));
    uint64_t state = SEED;
    for (size_t i = 0; i < BOOTSTRAP_RESAMPLES; i++) {
        resample(results, n, &state, means, i);
    }
    for (size_t m = 0; m < N_MEASURES; m++) {
        double *row = means + m * BOOTSTRAP_RESAMPLES;
        qsort(row, BOOTSTRAP_RESAMPLES, sizeof(*row), rising);
        ret_intervals[m] = (struct interval){row[LOW], row[HIGH]};
    }
    free(means);
}
