/* SPDX-License-Identifier: Apache-2.0 */
/* segment_load: what the texts file of a segment says about it, checked. Blocking: yes. */
#ifndef RETRIEVAL_SEGMENT_LOAD_H
#define RETRIEVAL_SEGMENT_LOAD_H

#include "service/retrieval/segment_format.h"
#include "service/retrieval/segment_reader.h"

#include <sqlite3.h>

/* Fills r's partition. False with a reason where the segment is not the one that entry
 * describes. */
bool segment_load(struct segment_reader *r, sqlite3 *db, const char *path,
                  const struct generation_entry *entry, struct err_detail *detail);

#endif
