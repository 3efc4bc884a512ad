/* SPDX-License-Identifier: Apache-2.0 */
/* segment_load: reads what a segment keeps in memory and checks it. Blocking: yes. */
#ifndef RETRIEVAL_SEGMENT_LOAD_H
#define RETRIEVAL_SEGMENT_LOAD_H

#include "service/retrieval/segment_format.h"
#include "service/retrieval/segment_reader.h"

#include <sqlite3.h>

/* Fills r's partition, counts, docs and chunks. False with a reason where the segment is not the
 * one that entry describes, or contradicts itself. */
bool segment_load(struct segment_reader *r, sqlite3 *db, const char *path,
                  const struct generation_entry *entry, struct err_detail *detail);

#endif
