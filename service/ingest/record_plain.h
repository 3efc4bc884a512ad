/* SPDX-License-Identifier: Apache-2.0 */
/* record_plain: the records that most files consist of, read without building a tree.
 *
 * Pure. What it reads, record_from_json reads to the same; the rest is left to that. */
#ifndef INGEST_RECORD_PLAIN_H
#define INGEST_RECORD_PLAIN_H

#include "service/ingest/jsonl.h"

/* Reads a line whose object is a good record and plain: members with the names of a record's, each
 * once, that are texts, null or, for labels, a list of at most FIELD_LABELS_MAX texts. False: it is
 * something else, which need not be wrong; `arena` took nothing unless it is wrong. */
bool record_read_plain(struct slice line, struct arena *arena, struct record *ret_record);

#endif
