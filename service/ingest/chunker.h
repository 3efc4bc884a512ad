/* SPDX-License-Identifier: Apache-2.0 */
/* chunker: cuts an outline into passages of about INGEST_CHUNK_WORDS words.
 *
 * A passage begins at a heading unless the one before it would be too short, and is cut between
 * blocks, then sentences, then words. Where it stands is its first line, the path of headings
 * ("Leave > Sick leave"), without the document's title, which is shown beside every passage; the
 * line is repeated wherever the section changes inside a passage. `context` stays free for what
 * comes with the data. Pure. */
#ifndef INGEST_CHUNKER_H
#define INGEST_CHUNKER_H

#include "service/ingest/outline.h"
#include "service/retrieval/segment.h"

enum {
    CHUNK_MIN_WORDS = 100, /* a shorter one goes on behind the next heading */
    CHUNK_CLOSE_WORDS = 200,
    CHUNK_MAX_WORDS = 300,
    CHUNK_MAX_BYTES = 8 * 1024,
    CHUNK_HEADING_MAX_BYTES = 120, /* of one heading in a path */
};

/* The chunks, in `arena`; title as the document will show it (may be SLICE_NONE). */
const struct chunk_input *chunk_outline(const struct outline *o, struct slice title,
                                        struct arena *arena, size_t *ret_n);

#endif
