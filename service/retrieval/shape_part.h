/* SPDX-License-Identifier: Apache-2.0 */
/* shape_part: what the shapes of answers, passages and indexes share. */
#ifndef RETRIEVAL_SHAPE_PART_H
#define RETRIEVAL_SHAPE_PART_H

#include "service/base/json_write.h"
#include "service/retrieval/shape.h"

enum {
    SHAPE_ENVELOPE_BYTES = 512, /* JSON-RPC around an answer */
    SHAPE_TEXT_MIN_BYTES = 40,  /* a shorter rest of a passage says nothing */
    SHAPE_TITLE_MAX_BYTES = 512,
    SHAPE_URL_MAX_BYTES = 2048, /* a longer one is left out: cut, it would lead elsewhere */
};

/* A member whose value is neutralised as one line. */
void shape_member_line(struct json_writer *w, const char *key, struct slice value);

/* Bytes that `json` takes in a reply: once as it stands, and for RENDER_MCP once more as text. */
size_t shape_reply_size(struct slice json, enum rendering rendering);

/* "index_version":…; NULL is "unknown". */
void shape_member_version(struct json_writer *w, const char *index_version);

#endif
