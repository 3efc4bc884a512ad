/* SPDX-License-Identifier: Apache-2.0 */
/* byte_runs: millions of byte strings that grow side by side in one allocation.
 *
 * A run is a chain of pieces, each twice as long as the one before up to a ceiling, so that a short
 * run costs 8 bytes and a long one little more than itself. Failure: `failed` once the pool is
 * full; ask at the end. */
#ifndef RETRIEVAL_BYTE_RUNS_H
#define RETRIEVAL_BYTE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct byte_runs {
    char *p;
    size_t n, cap; /* in bytes */
    bool failed;
};

/* A zeroed one is an empty run. Positions are in units of 8 bytes. */
struct byte_run {
    uint32_t first, last; /* pieces + 1; 0: none */
    uint16_t used, size;  /* bytes of the last piece, without its link */
};

void byte_runs_done(struct byte_runs *b);

void byte_runs_add(struct byte_runs *b, struct byte_run *run, char byte);
void byte_runs_add_varint(struct byte_runs *b, struct byte_run *run, uint32_t value);

/* Reads a run from its start; the caller knows how much is in it. */
struct byte_run_reader {
    const struct byte_runs *runs;
    uint32_t piece;
    uint16_t used, size;
};

struct byte_run_reader byte_run_read(const struct byte_runs *b, const struct byte_run *run);
char byte_run_next(struct byte_run_reader *r);
uint32_t byte_run_next_varint(struct byte_run_reader *r);

#endif
