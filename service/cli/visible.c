/* SPDX-License-Identifier: Apache-2.0 */
/* The neutraliser decides what is invisible, so that a report hides nothing that an answer would
 * leave out. It is asked character by character, which is slow and does not matter here. */
#include "service/cli/visible.h"

#include "service/base/utf8.h"
#include "service/retrieval/neutralise.h"

static bool is_plain(struct slice character)
{
    if (character.n == 1) {
        return character.p[0] >= 0x20 && character.p[0] < 0x7F && character.p[0] != '\\';
    }
    struct dynbuf shown;
    dynbuf_init(&shown, SIZE_MAX);
    neutralise_line(&shown, character, NULL);
    bool plain = slice_eq(dynbuf_get(&shown), character);
    dynbuf_done(&shown);
    return plain;
}

static void add_escape(struct dynbuf *out, struct slice bytes, uint32_t code)
{
    char escape[16];
    if (code == '\\') {
        dynbuf_add_text(out, "\\\\");
        return;
    }
    if (code == UTF8_BAD) {
        for (size_t i = 0; i < bytes.n; i++) {
            (void)snprintf(escape, sizeof(escape), "\\x%02x", (unsigned char)bytes.p[i]);
            dynbuf_add_text(out, escape);
        }
        return;
    }
    if (code < 0x80) {
        (void)snprintf(escape, sizeof(escape), "\\x%02x", code);
    } else if (code < 0x10000) {
        (void)snprintf(escape, sizeof(escape), "\\u%04x", code);
    } else {
        (void)snprintf(escape, sizeof(escape), "\\U%08x", code);
    }
    dynbuf_add_text(out, escape);
}

void visible_add(struct dynbuf *out, struct slice text)
{
    while (text.n) {
        uint32_t code;
        struct slice character = {text.p, utf8_decode(text, &code)};
        if (code != UTF8_BAD && is_plain(character)) {
            dynbuf_add(out, character);
        } else {
            add_escape(out, character, code);
        }
        text = slice_skip(text, character.n);
    }
}

void visible_print(FILE *file, const char *text)
{
    struct dynbuf out;
    dynbuf_init(&out, SIZE_MAX);
    visible_add(&out, slice_of(text));
    (void)fwrite(dynbuf_get(&out).p, 1, out.n, file);
    dynbuf_done(&out);
}

/* One UTF-16 unit, as JSON escapes it (RFC 8259 §7). */
static void add_unit(struct dynbuf *out, uint32_t unit)
{
    char escape[16];
    (void)snprintf(escape, sizeof(escape), "\\u%04x", unit);
    dynbuf_add_text(out, escape);
}

static void add_json_escape(struct dynbuf *out, uint32_t code)
{
    if (code == UTF8_BAD) {
        dynbuf_add_text(out, "\xEF\xBF\xBD");
    } else if (code < 0x10000) {
        add_unit(out, code);
    } else {
        add_unit(out, 0xD7C0 + (code >> 10));
        add_unit(out, 0xDC00 + (code & 0x3FF));
    }
}

void visible_add_json(struct dynbuf *out, struct slice text)
{
    dynbuf_add_byte(out, '"');
    while (text.n) {
        uint32_t code;
        struct slice character = {text.p, utf8_decode(text, &code)};
        if (code != UTF8_BAD && code != '"' && is_plain(character)) {
            dynbuf_add(out, character);
        } else {
            add_json_escape(out, code);
        }
        text = slice_skip(text, character.n);
    }
    dynbuf_add_byte(out, '"');
}
