/* SPDX-License-Identifier: Apache-2.0 */
/* collect: from PATH arguments to documents that are cut and placed in a partition.
 *
 * Blocking: yes. */
#ifndef INGEST_COLLECT_H
#define INGEST_COLLECT_H

#include "service/ingest/fields.h"
#include "service/ingest/ingest.h"

struct document {
    struct document_head head;
    const struct chunk_input *chunks;
    size_t n_chunks;
    const char *path; /* for reports: relative to its PATH argument */
    uint64_t line;    /* of a record; 0: the whole file */
};

struct collect {
    const struct ingest_options *options;
    struct ingest_report *report;
    struct arena arena;
    struct document *docs; /* sorted by partition, then doc_id; distinct in their collection */
    size_t n, cap;
    bool manifest_doubt; /* a manifest has a broken line, or one that names nothing */
};

/* Fills docs and counts files, skipped, documents, chunks. False with a reason when a PATH or the
 * named manifest cannot be read; what is wrong with single files goes to on_skip. */
bool collect_documents(struct collect *c, const struct ingest_options *options,
                       struct ingest_report *report, struct err_detail *detail);
void collect_done(struct collect *c);

/* For the modules that fill it: one document more, and something left out (line 0: the whole file).
 */
void collect_push(struct collect *c, const struct document *d);
void collect_skip(struct collect *c, const char *path, uint64_t line, const char *reason);

/* Leaves out documents whose id is taken in their partition and sorts by partition, then doc_id:
 * the same documents give the same list, in whatever order they came. False with a reason where two
 * partitions of a collection have one id. */
bool collect_sort(struct collect *c, struct err_detail *detail);

#endif
