/* SPDX-License-Identifier: Apache-2.0 */
/* embedded: the engine that needs no other service: immutable SQLite segments and our own scorer.
 *
 * A store is a folder: CURRENT names a generation file, which lists segment files with their
 * SHA-256. Readers hash each file before they first open it; a file that differs is named and never
 * served. */
#ifndef RETRIEVAL_EMBEDDED_H
#define RETRIEVAL_EMBEDDED_H

#include "service/loop/worker.h"
#include "service/retrieval/backend.h"

/* Opens the store's current generation (blocking: start-up and commands only). pool may be NULL:
 * then only the _now calls work. profile is copied. NULL with a reason that names the file. */
struct backend *embedded_open(const char *store_dir, const struct answer_profile *profile,
                              struct worker_pool *pool, struct err_detail *detail);

/* Looks at CURRENT and, if it names another generation, opens that and switches; requests in flight
 * finish on theirs. Blocking: call it from a worker or a command. False with a reason when the new
 * generation is unusable: the old one stays. *ret_switched (may be NULL) tells whether it did. */
bool embedded_refresh(struct backend *b, bool *ret_switched, struct err_detail *detail);

/* Search and fetch in the calling thread, for commands. Same results as the asynchronous calls. */
enum err embedded_search_now(struct backend *b, struct view *v, const struct search_query *q,
                             struct hits **ret_hits);
enum err embedded_fetch_now(struct backend *b, struct view *v, const struct fetch_query *q,
                            struct hits **ret_hits);

/* Totals of the current generation, for logs and metrics. */
struct embedded_stats {
    uint64_t n_partitions, n_docs, n_chunks;
    char generation[64];
};
void embedded_stats(struct backend *b, struct embedded_stats *ret_stats);

#endif
