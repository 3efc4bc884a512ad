/* SPDX-License-Identifier: Apache-2.0 */
/* manifest: what is said about the files of a corpus from outside, one JSON object a line.
 *
 * path (relative to the PATH argument), and optionally id, collection, doc_type, labels, published,
 * title, source_url. It outranks what a document says of itself. Since it decides who may read
 * what, doubt leaves documents out: a path named twice takes that document out, and a broken line
 * takes out every file that is not named, for the line may have been about it. Blocking: yes. */
#ifndef INGEST_MANIFEST_H
#define INGEST_MANIFEST_H

#include "service/ingest/fields.h"

struct manifest_entry {
    struct slice path;    /* in NFC */
    uint64_t line, again; /* again: the line that names it once more; 0: none */
    struct fields fields;
    bool used; /* set by whoever finds the file */
};

struct manifest {
    struct manifest_entry *entries; /* sorted by path */
    size_t n, cap;
    uint64_t broken_line; /* the first; 0: none */
};

/* Reads the file; on_broken is called for each broken line. False with a reason if the file cannot
 * be read at all. */
bool manifest_read(const char *path, struct arena *arena,
                   void (*on_broken)(void *arg, uint64_t line, const char *reason), void *arg,
                   struct manifest *ret_manifest, char ret_reason[FIELD_REASON_BYTES]);
void manifest_done(struct manifest *m);

/* The entry of a path in NFC, or NULL. */
struct manifest_entry *manifest_find(const struct manifest *m, struct slice path);

#endif
