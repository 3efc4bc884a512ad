/* SPDX-License-Identifier: Apache-2.0 */
/* outline: a document as its reader leaves it: headings and blocks of text in reading order.
 *
 * Every reader ends here, so that the chunker knows one form. Pure. Ceiling: OUTLINE_MAX_BYTES. */
#ifndef INGEST_OUTLINE_H
#define INGEST_OUTLINE_H

#include "service/base/dynbuf.h"

enum { OUTLINE_MAX_BYTES = 256 * 1024 * 1024 };

enum block_kind {
    BLOCK_HEADING,
    BLOCK_PARAGRAPH,
    BLOCK_ITEM, /* of a list, its marker included */
    BLOCK_ROW,  /* of a table: | a | b | */
    BLOCK_CODE, /* lines that stay as they are */
};

struct block {
    enum block_kind kind;
    unsigned level; /* heading: 1..6 */
    size_t at, n;   /* in the outline's text */
};

struct outline {
    struct dynbuf text;
    struct dynbuf title; /* the document's own, e.g. <title>; empty: none */
    struct block *blocks;
    size_t n, cap;
};

void outline_init(struct outline *o);
void outline_done(struct outline *o);

/* Appends a block in NFC, without blank lines before and white space behind; blank text is left
 * out. A heading becomes one line. text: valid UTF-8 with LF newlines. */
void outline_add(struct outline *o, enum block_kind kind, unsigned level, struct slice text);

/* Its own title, else its first heading; SLICE_NONE: neither. */
struct slice outline_title(const struct outline *o);

static inline struct slice outline_text(const struct outline *o, const struct block *b)
{
    return (struct slice){o->text.p + b->at, b->n};
}

/* Appends text with each run of ASCII white space as one space, trimmed. */
void outline_add_line(struct dynbuf *out, struct slice text);

#endif
