/* SPDX-License-Identifier: Apache-2.0 */
/* manifest: what is said about the files of a corpus from outside, one JSON object a line.
 *
 * path (relative to the PATH argument), and optionally id, collection, doc_type, labels, published,
 * title, source_url; nothing else. It outranks what a document says of itself. Since it decides who
 * may read what, doubt leaves documents out: a line with a mistake takes out the file it names, a
 * path named twice that document, and a line that names no file of the corpus takes out every file
 * that no line names, for it may have been about any of them. Blocking: yes. */
#ifndef INGEST_MANIFEST_H
#define INGEST_MANIFEST_H

#include "service/ingest/fields.h"

struct manifest_entry {
    struct slice path;    /* as manifest_path makes it */
    uint64_t line, again; /* again: the line that names it once more; 0: none */
    struct fields fields;
    const char *broken; /* what is wrong with the line; NULL: nothing */
    bool used;          /* manifest_mark came by */
};

struct manifest {
    struct manifest_entry *entries; /* sorted by path */
    size_t n, cap;
    uint64_t broken_line;    /* the first that says nothing of a path; 0: none */
    uint64_t unmatched_line; /* the first whose path manifest_mark never saw; 0: none */
};

/* Reads the file; on_broken is called for each broken line. False with a reason if the file cannot
 * be read at all. */
bool manifest_read(const char *path, struct arena *arena,
                   void (*on_broken)(void *arg, uint64_t line, const char *reason), void *arg,
                   struct manifest *ret_manifest, char ret_reason[FIELD_REASON_BYTES]);
void manifest_done(struct manifest *m);

/* A path as entries have it: in NFC, without "." and empty parts. A leading or trailing slash
 * stays, so that what is no relative path of a file matches none. */
struct slice manifest_path(struct arena *arena, struct slice path);

/* The entry of a path, or NULL. */
struct manifest_entry *manifest_find(const struct manifest *m, struct slice path);

/* First every path of the corpus is marked, then the manifest settled, then files are asked for:
 * settling calls on_unmatched for each line whose path was not marked. */
void manifest_mark(const struct manifest *m, struct slice path);
void manifest_settle(struct manifest *m,
                     void (*on_unmatched)(void *arg, const struct manifest_entry *entry),
                     void *arg);

/* Whether the file may go in with what its entry (or, without one, the manifest's silence) says;
 * else false with the reason. */
bool manifest_admits(const struct manifest *m, const struct manifest_entry *entry,
                     char ret_reason[FIELD_REASON_BYTES]);

#endif
