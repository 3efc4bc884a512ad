/* SPDX-License-Identifier: Apache-2.0 */
/* front_matter: the YAML between two lines of --- at the head of a Markdown file.
 *
 * Read: title, published (or date), collection, doc_type, labels, source_url. Entries with another
 * plain key are dropped before parsing, since they belong to other tools and need not be in our
 * strict YAML; a key that is a slip away from labels, collection or doc_type is an error. `date` is
 * another tool's word too: one that is not YYYY-MM-DD (a time may follow) counts as not said, as
 * does a `published` of true or false. Pure. */
#ifndef INGEST_FRONT_MATTER_H
#define INGEST_FRONT_MATTER_H

#include "service/ingest/fields.h"

/* The bytes of the front matter at the head of `bytes`, both --- lines included; 0: none. */
size_t front_matter_size(struct slice bytes);

/* Reads that many bytes. False with a reason and the line of the file. */
bool front_matter_read(struct slice front, struct arena *arena, struct fields *ret_fields,
                       uint64_t *ret_line, char ret_reason[FIELD_REASON_BYTES]);

/* What looks like front matter at the head of a text and is none: a block that never ends, begins
 * behind blank lines or with another line than ---, or stands in a text that has none. False: there
 * is no such thing, or it names no key of ours (unless markdown, only labels, collection, doc_type
 * and what is a slip away from them). True with the line of the key that would be overlooked, and
 * the reason. */
bool front_matter_is_missed(struct slice text, bool markdown, uint64_t *ret_line,
                            char ret_reason[FIELD_REASON_BYTES]);

#endif
