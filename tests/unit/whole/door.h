/* SPDX-License-Identifier: Apache-2.0 */
/* door: the whole service in one process: a store written as ingest writes it, a gate opened on it
 * from files, and one caller who asks. */
#ifndef TESTS_WHOLE_DOOR_H
#define TESTS_WHOLE_DOOR_H

#include "service/pipeline/request.h"
#include "tests/unit/whole/world.h"

#include <stdio.h>
#include <stdlib.h>

/* A broken fixture ends the program: no case can be judged. Criterion's own asserts are for its
 * main thread alone. */
#define MUST(condition, ...)                                                                       \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: " #condition ": ", __FILE__, __LINE__);                        \
            fprintf(stderr, __VA_ARGS__);                                                          \
            fputc('\n', stderr);                                                                   \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* Gates with other settings of the answer; all without a cache, which would answer from before. */
enum { N_PROFILES = 4 };

struct answer_settings {
    uint32_t candidate_depth, chunks_per_document, also_in_max, byte_budget;
};
extern const struct answer_settings ANSWERS[N_PROFILES];

/* A key and a token of the caller, made on Criterion's main thread. */
struct credentials {
    struct dynbuf jwks, token; /* token: the Authorization header */
};
void credentials_make(struct credentials *c);
void credentials_done(struct credentials *c);

struct door; /* opaque; a thread's own */

struct door *door_new(const struct credentials *c);
void door_free(struct door *d);

/* Puts the caller's policy in force. */
void door_admit(struct door *d, const struct caller *c, unsigned profile);

/* Makes the papers the store's content. anew: in a store made from nothing under the same name. */
void door_publish(struct door *d, const struct world *w, bool anew);

/* The next answers come from a gate that has just been opened. */
void door_reopen(struct door *d);

/* Everything that comes back but the request's id, as text. */
void door_ask(struct door *d, const struct request_input *in, struct dynbuf *out);

#endif
