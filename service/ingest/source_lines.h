/* SPDX-License-Identifier: Apache-2.0 */
/* source_lines: the documents of JSON lines (jsonl.h), read on all processors.
 *
 * Blocking: until all are read. */
#ifndef INGEST_SOURCE_LINES_H
#define INGEST_SOURCE_LINES_H

#include "service/ingest/source.h"

/* Adds the documents of whole lines, and what is skipped, to the source's list: in the order of the
 * lines, the first of which is number lines_before + 1. Returns how many lines there are. */
uint64_t source_read_lines(const struct source *s, struct slice lines, uint64_t lines_before);

#endif
