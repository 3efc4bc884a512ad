/* SPDX-License-Identifier: Apache-2.0 */
/* ingest: from files to a published generation, all or nothing (docs/design.md §8).
 *
 * A run replaces every collection it brings documents for, as a whole (the collection is the unit
 * of publishing), and leaves the others as they are. Only partitions whose content changed are
 * built. Blocking: yes. Memory: the run's documents. */
#ifndef INGEST_INGEST_H
#define INGEST_INGEST_H

#include "service/base/err.h"
#include "service/base/slice.h"

#include <stdint.h>

enum {
    INGEST_FILE_MAX_BYTES = 64 * 1024 * 1024,
    INGEST_CHUNK_WORDS = 250, /* aimed at; 200..300 */
    /* Of a store, when the run is done: each costs every query that may see it. More than the first
     * bring a warning, more than the second are refused. */
    INGEST_PARTITIONS_WARN = 200,
    INGEST_PARTITIONS_MAX = 1000,
};

/* A file or record that was left out, and why. line 0: the whole file. */
struct ingest_skip {
    const char *path; /* relative to its PATH argument; any bytes */
    uint64_t line;
    const char *reason; /* may quote such names */
};

struct ingest_options {
    const char *store_dir;
    const char *const *paths; /* folders or files */
    size_t n_paths;
    const char *manifest;              /* NULL: PATH/manifest.jsonl where there is one */
    const char *collection, *doc_type; /* for documents that name none; NULL: none */
    const char *const *labels;
    size_t n_labels;
    bool strict; /* anything skipped refuses the run */

    /* Called often, on the calling thread; may be NULL. done/total are files in the reading phase,
     * then partitions. */
    void (*on_progress)(void *arg, const char *phase, uint64_t done, uint64_t total);
    void (*on_skip)(void *arg, const struct ingest_skip *skip);
    /* One line about the run as a whole, before it is published; may be NULL. */
    void (*on_warning)(void *arg, const char *text);
    void *arg;
};

struct ingest_report {
    uint64_t files, skipped;    /* read, and left out (files or records) */
    uint64_t documents, chunks; /* of this run */
    uint64_t partitions, built; /* of this run, and how many of them were new */
    char generation[64];        /* published; the old name where nothing changed */
};

/* False with a reason: the store is as it was. */
bool ingest_run(const struct ingest_options *options, struct ingest_report *ret_report,
                struct err_detail *detail);

#endif
