/* SPDX-License-Identifier: Apache-2.0 */
/* queries: search texts drawn as the words of the corpus were, no two alike.
 *
 * Thread: queries_write from any, each with a generator of its own. */
#ifndef TESTS_BENCH_QUERIES_H
#define TESTS_BENCH_QUERIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { QUERY_WORDS = 5, QUERY_MAX_BYTES = 256 };

struct queries; /* opaque */

/* file: a word a line, most frequent first. NULL: unreadable, or no words in it. */
struct queries *queries_load(const char *file);
void queries_free(struct queries *q);

/* A Zipf draw of QUERY_WORDS words by `generator` (seeded by the caller, not 0), then a word that
 * holds `serial`: it is in no document, and makes a query that no cache has seen. */
void queries_write(const struct queries *q, uint64_t *generator, uint64_t serial,
                   char ret_text[QUERY_MAX_BYTES]);

#endif
