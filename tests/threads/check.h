/* SPDX-License-Identifier: Apache-2.0 */
/* check: what the programs of this folder share. They are plain programs, since Criterion does not
 * start under ThreadSanitizer; the sanitizer finds the races, the checks find what got lost. */
#ifndef TESTS_THREADS_CHECK_H
#define TESTS_THREADS_CHECK_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* xorshift64*: enough to mix what threads do; the seed is fixed, the interleaving is not. */
static inline uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * 2685821657736338717u;
}

#endif
