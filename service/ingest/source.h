/* SPDX-License-Identifier: Apache-2.0 */
/* source: from one file of a corpus to its documents.
 *
 * Precedence of what is said about a document: manifest, then its front matter or record, then the
 * options. For the records of a JSONL file the manifest speaks for the file: collection, doc_type,
 * labels and published of all of them; id and title are the record's own. Blocking: yes. */
#ifndef INGEST_SOURCE_H
#define INGEST_SOURCE_H

#include "service/ingest/collect.h"
#include "service/ingest/manifest.h"
#include "service/ingest/outline.h"
#include "service/ingest/walk.h"

struct source {
    struct collect *collect;       /* takes the documents and what is skipped */
    const struct fields *defaults; /* of the options */
    const struct walk_file *file;
    const struct manifest_entry *entry; /* NULL: no manifest names it */
};

void source_read(const struct source *s);

/* For the readers of its parts: adds a document, to be cut (o) or already one chunk (ready), or
 * reports why it is none. line 0: the whole file. */
void source_add_document(const struct source *s, uint64_t line, const struct fields *f,
                         const struct outline *o, const struct chunk_input *ready);

/* Reads text of that type; false with a reason. */
bool source_outline(enum file_type type, struct slice text, struct outline *o,
                    const char **ret_reason);

#endif
