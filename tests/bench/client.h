/* SPDX-License-Identifier: Apache-2.0 */
/* client: what the load clients share: a search_kb call as bytes, and calls that are timed.
 *
 * Thread: a caller belongs to one; the rest from any.     Blocking: caller_call, as connection. */
#ifndef TESTS_BENCH_CLIENT_H
#define TESTS_BENCH_CLIENT_H

#include "tests/bench/connection.h"
#include "tests/bench/queries.h"

#include <stdatomic.h>

enum {
    TOKEN_MAX_BYTES = 16 * 1024,
    REQUEST_MAX_BYTES = TOKEN_MAX_BYTES + 2048,
    US_PER_S = 1000000,
};

/* Whom to ask, as who. */
struct target {
    uint16_t port;
    char token[TOKEN_MAX_BYTES];
};

int64_t now_us(void);
_Noreturn void die(const char *what);

/* Ends the program where the argument is no number from 1 to max. */
unsigned argument_number(const char *text, unsigned max);
/* Ends the program where there is no such file. */
void target_read_token(struct target *t, const char *file);

void target_write_search(const struct target *t, const char *query,
                         char ret_request[REQUEST_MAX_BYTES]);

struct samples {
    uint32_t *us;
    size_t n, cap;
};

/* One thread's calls: how long each took, and a count of failures that others may share. */
struct caller {
    struct samples samples;
    atomic_uint *failed;
};

/* Times one request whose answer must be a 200 that contains `expected`. Only the first failure of
 * a count is printed, they tend to be alike. */
bool caller_call(struct caller *self, struct connection *c, const char *request,
                 const char *expected, struct reply *ret_reply);

/* The numbers of an array in JSON, behind `comma` each but the first; what is to stand before the
 * next one. */
const char *samples_print(const struct samples *s, const char *comma);

#endif
