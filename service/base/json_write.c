/* SPDX-License-Identifier: Apache-2.0 */
/* Our own writer because jansson's cannot promise a field order across versions and we hash, cache
 * and compare what is written. */
#include "service/base/json_write.h"

#include "service/base/utf8.h"

static void before_value(struct json_writer *w)
{
    if (w->comma) {
        dynbuf_add_byte(w->out, ',');
    }
    w->comma = true;
}

static void open_with(struct json_writer *w, char bracket)
{
    before_value(w);
    dynbuf_add_byte(w->out, bracket);
    w->comma = false;
}

static void close_with(struct json_writer *w, char bracket)
{
    dynbuf_add_byte(w->out, bracket);
    w->comma = true;
}

/* The escape RFC 8259 §7 demands for an ASCII byte, or NULL; room holds a \u form. */
static const char *escape_of(unsigned char c, char room[static 7])
{
    switch (c) {
    case '"': return "\\\"";
    case '\\': return "\\\\";
    case '\n': return "\\n";
    case '\r': return "\\r";
    case '\t': return "\\t";
    case '\b': return "\\b";
    case '\f': return "\\f";
    default: break;
    }
    if (c >= 0x20) {
        return NULL;
    }
    const char *hex = "0123456789abcdef";
    memcpy(room, "\\u00", 4);
    room[4] = hex[c >> 4];
    room[5] = hex[c & 15];
    room[6] = '\0';
    return room;
}

/* The bytes of the next unit of value and its length in the source. */
static struct slice next_unit(struct slice rest, char room[static 7], size_t *ret_taken)
{
    unsigned char c = (unsigned char)rest.p[0];
    if (c < 0x80) {
        const char *escape = escape_of(c, room);
        *ret_taken = 1;
        return escape ? slice_of(escape) : (struct slice){rest.p, 1};
    }
    uint32_t code;
    *ret_taken = utf8_decode(rest, &code);
    return code == UTF8_BAD ? SLICE_LIT("\xEF\xBF\xBD") : (struct slice){rest.p, *ret_taken};
}

static bool is_plain(char c)
{
    return (unsigned char)c >= 0x20 && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* How many bytes at the start stand for themselves. */
static size_t plain_run(struct slice rest)
{
    size_t n = 0;
    while (n < rest.n && is_plain(rest.p[n])) {
        n++;
    }
    return n;
}

static void add_escaped(struct dynbuf *out, struct slice value)
{
    char room[7];
    for (size_t at = 0; at < value.n;) {
        size_t run = plain_run(slice_skip(value, at));
        dynbuf_add(out, (struct slice){value.p + at, run});
        at += run;
        if (at < value.n) {
            size_t taken;
            dynbuf_add(out, next_unit(slice_skip(value, at), room, &taken));
            at += taken;
        }
    }
}

void json_object_begin(struct json_writer *w)
{
    open_with(w, '{');
}

void json_object_end(struct json_writer *w)
{
    close_with(w, '}');
}

void json_array_begin(struct json_writer *w)
{
    open_with(w, '[');
}

void json_array_end(struct json_writer *w)
{
    close_with(w, ']');
}

void json_key(struct json_writer *w, const char *key)
{
    before_value(w);
    dynbuf_add_byte(w->out, '"');
    dynbuf_add_text(w->out, key);
    dynbuf_add_text(w->out, "\":");
    w->comma = false;
}

void json_text(struct json_writer *w, struct slice value)
{
    before_value(w);
    dynbuf_add_byte(w->out, '"');
    add_escaped(w->out, value);
    dynbuf_add_byte(w->out, '"');
}

void json_text_z(struct json_writer *w, const char *value)
{
    json_text(w, slice_of(value));
}

void json_int(struct json_writer *w, int64_t value)
{
    before_value(w);
    dynbuf_add_int(w->out, value);
}

void json_bool(struct json_writer *w, bool value)
{
    before_value(w);
    dynbuf_add_text(w->out, value ? "true" : "false");
}

void json_raw_value(struct json_writer *w, struct slice value)
{
    before_value(w);
    dynbuf_add(w->out, value);
}

void json_member_text(struct json_writer *w, const char *key, struct slice value)
{
    json_key(w, key);
    json_text(w, value);
}

void json_member_text_z(struct json_writer *w, const char *key, const char *value)
{
    json_member_text(w, key, slice_of(value));
}

void json_member_int(struct json_writer *w, const char *key, int64_t value)
{
    json_key(w, key);
    json_int(w, value);
}

void json_member_bool(struct json_writer *w, const char *key, bool value)
{
    json_key(w, key);
    json_bool(w, value);
}

void json_member_raw(struct json_writer *w, const char *key, struct slice value)
{
    json_key(w, key);
    json_raw_value(w, value);
}

size_t json_text_size(struct slice value)
{
    size_t size = 0;
    char room[7];
    for (size_t at = 0; at < value.n;) {
        size_t taken = plain_run(slice_skip(value, at));
        size += taken;
        at += taken;
        if (at < value.n) {
            size += next_unit(slice_skip(value, at), room, &taken).n;
            at += taken;
        }
    }
    return size;
}
