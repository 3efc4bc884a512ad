/* SPDX-License-Identifier: Apache-2.0 */
/* root: one PATH argument: its files, and the manifest that speaks for them.
 *
 * In force is the manifest that --manifest names, else manifest.jsonl at the top of the folder. Any
 * other manifest.jsonl in the folder (or beside a file that is named alone) is a stray: nobody
 * reads it, but its author meant it to restrict what lies beside and below it, so that goes in only
 * where the manifest in force names it. Blocking: yes. */
#ifndef INGEST_ROOT_H
#define INGEST_ROOT_H

#include "service/ingest/collect.h"
#include "service/ingest/manifest.h"
#include "service/ingest/walk.h"

#include <sys/stat.h>

extern const char ROOT_MANIFEST_NAME[];

struct root_path; /* a list of paths */

struct root {
    struct collect *c;
    struct walk walk;
    struct manifest own;       /* its manifest.jsonl */
    struct manifest *manifest; /* in force: its own or the named one; NULL: none */
    struct stat manifest_file;
    bool has_manifest_file;
    struct slice beside;      /* the path of a PATH that is a file; SLICE_NONE: a folder */
    struct root_path *passed; /* what the walk left out */
    struct root_path *strays;
};

/* Walks and reads the manifest in force; named is what --manifest names, or NULL. False with a
 * reason if PATH or its manifest cannot be read. */
bool root_open(struct root *r, struct collect *c, const char *path, struct manifest *named,
               struct err_detail *detail);
void root_done(struct root *r);

/* Marks the entries of the manifest in force that name something here; then looks for strays. */
void root_mark(struct root *r);

/* Reports a line of a manifest that names no file. */
void root_report_unmatched(struct collect *c, const char *manifest_shown,
                           const struct manifest_entry *entry);

/* Reads a manifest, reporting its broken lines under the name `shown`. */
bool root_read_manifest(struct collect *c, const char *path, const char *shown, struct manifest *m,
                        struct err_detail *detail);

enum root_verdict { ROOT_TAKE, ROOT_PASS, ROOT_SKIP };

/* ROOT_PASS: the file is a manifest, not a document. ROOT_SKIP comes with the reason. ret_entry:
 * what the manifest says of it; NULL: nothing. */
enum root_verdict root_judge(const struct root *r, const struct walk_file *file,
                             const struct manifest_entry **ret_entry,
                             char ret_reason[FIELD_REASON_BYTES]);

#endif
