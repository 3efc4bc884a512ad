/* SPDX-License-Identifier: Apache-2.0 */
/* neutralise: makes untrusted text harmless to show to a model, and nothing more.
 *
 * Valid UTF-8, NFC, LF newlines, no control, zero-width, bidi or tag characters; look-alikes of our
 * fence and of chat-template tokens broken by a visible middle dot; images and active HTML shown as
 * code; long lines of a passage wrapped, any line capped. It removes no words and judges no
 * meaning. Pure, deterministic, idempotent: f(f(x)) = f(x). Output is valid UTF-8 of at most
 * NEUTRALISE_MAX_GROWTH times the input's bytes (and a small constant). */
#ifndef RETRIEVAL_NEUTRALISE_H
#define RETRIEVAL_NEUTRALISE_H

#include "service/base/dynbuf.h"

enum {
    NEUTRALISE_VERSION = 1,
    NEUTRALISE_MAX_GROWTH = 4,
    NEUTRALISE_LINE_MAX_BYTES = 4096,
};

struct neutralise_count {
    uint32_t replaced, deleted,
        broken; /* ill-formed parts, characters removed, look-alikes broken */
};

/* A passage: several lines. Appends to out; ret_count may be NULL. */
void neutralise_text(struct dynbuf *out, struct slice bytes, struct neutralise_count *ret_count);

/* A title, name, id or URL: newlines and tabs become spaces as well. */
void neutralise_line(struct dynbuf *out, struct slice bytes, struct neutralise_count *ret_count);

#endif
