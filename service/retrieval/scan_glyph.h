/* SPDX-License-Identifier: Apache-2.0 */
/* scan_glyph: what stands at a place of a text, as far as the scanner cares. Pure. */
#ifndef RETRIEVAL_SCAN_GLYPH_H
#define RETRIEVAL_SCAN_GLYPH_H

#include "service/base/slice.h"

#include <stdint.h>

enum glyph_kind {
    GLYPH_LETTER,   /* or a digit */
    GLYPH_UNSPACED, /* of a script that does not part words */
    GLYPH_MARK,     /* punctuation */
    GLYPH_SPACE,    /* and whatever else parts words */
    GLYPH_NEWLINE,
    GLYPH_APOSTROPHE,
    GLYPH_NOTHING, /* shows nothing of its own: joiners, accents, controls */
    GLYPH_TAG,     /* of the block that repeats ASCII invisibly, from TAG_BASE on */
};

enum { GLYPH_TAG_BASE = 0xE0000 };

struct glyph {
    enum glyph_kind kind;
    size_t bytes; /* 0 at the end of the text, where the kind is GLYPH_SPACE */
    int32_t code;
};

struct glyph glyph_at(struct slice text, size_t at);

/* Of one code point outside ASCII. */
enum glyph_kind glyph_category(int32_t code);

/* Of ASCII. */
static inline bool glyph_is_alpha(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static inline bool glyph_is_alnum(unsigned char c)
{
    return glyph_is_alpha(c) || (c >= '0' && c <= '9');
}

static inline char glyph_lower(unsigned char c)
{
    return (char)(c >= 'A' && c <= 'Z' ? c + 'a' - 'A' : c);
}

#endif
