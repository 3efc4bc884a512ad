/* SPDX-License-Identifier: Apache-2.0 */
/* Blocks lie one behind the other in one buffer. Each is brought to NFC by itself: a block ends in
 * no character that the next could combine with, since a newline stands between them. */
#include "service/ingest/outline.h"

#include "service/base/mem.h"
#include "service/retrieval/text.h"

#include <stdlib.h>

void outline_init(struct outline *o)
{
    *o = (struct outline){0};
    dynbuf_init(&o->text, OUTLINE_MAX_BYTES);
    dynbuf_init(&o->title, OUTLINE_MAX_BYTES);
}

void outline_done(struct outline *o)
{
    dynbuf_done(&o->text);
    dynbuf_done(&o->title);
    free(o->blocks);
    outline_init(o);
}

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

void outline_add_line(struct dynbuf *out, struct slice text)
{
    bool space = false, any = false;
    for (size_t i = 0; i < text.n; i++) {
        if (is_space(text.p[i])) {
            space = any;
            continue;
        }
        if (space) {
            dynbuf_add_byte(out, ' ');
        }
        dynbuf_add_byte(out, text.p[i]);
        space = false;
        any = true;
    }
}

/* The indentation of the first line stays: it tells nested items and code. */
static struct slice without_blank_edges(struct slice text)
{
    size_t begin = 0;
    for (size_t i = 0; i < text.n && is_space(text.p[i]); i++) {
        if (text.p[i] == '\n') {
            begin = i + 1;
        }
    }
    while (text.n > begin && is_space(text.p[text.n - 1])) {
        text.n--;
    }
    return slice_skip(text, begin);
}

static void push(struct outline *o, struct block b)
{
    if (o->n == o->cap) {
        o->cap = o->cap ? o->cap * 2 : 32;
        o->blocks = mem_realloc(o->blocks, o->cap * sizeof(*o->blocks));
    }
    o->blocks[o->n++] = b;
}

void outline_add(struct outline *o, enum block_kind kind, unsigned level, struct slice text)
{
    struct block b = {.kind = kind, .level = level, .at = o->text.n};
    struct dynbuf line;
    dynbuf_init(&line, OUTLINE_MAX_BYTES);
    if (kind == BLOCK_HEADING) {
        outline_add_line(&line, text);
        text = dynbuf_get(&line);
    }
    text_add_nfc(&o->text, without_blank_edges(text));
    dynbuf_done(&line);
    b.n = o->text.n - b.at;
    if (b.n) {
        dynbuf_add_byte(&o->text, '\n');
        push(o, b);
    }
}

struct slice outline_title(const struct outline *o)
{
    if (o->title.n) {
        return dynbuf_get(&o->title);
    }
    for (size_t i = 0; i < o->n; i++) {
        if (o->blocks[i].kind == BLOCK_HEADING) {
            return outline_text(o, &o->blocks[i]);
        }
    }
    return SLICE_NONE;
}
