/* SPDX-License-Identifier: Apache-2.0 */
/* Strict decoders: a text that has two encodings would give one token two cache keys. */
#include "service/base/encode.h"

static const char HEX_LOWER[] = "0123456789abcdef";
static const char HEX_UPPER[] = "0123456789ABCDEF";
static const char BASE32[] = "abcdefghijklmnopqrstuvwxyz234567";
static const char BASE64URL[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void encode_hex(struct dynbuf *out, struct slice bytes)
{
    for (size_t i = 0; i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        dynbuf_add_byte(out, HEX_LOWER[c >> 4]);
        dynbuf_add_byte(out, HEX_LOWER[c & 15]);
    }
}

/* Groups of `width` bits, most significant first, the last filled with zero bits. */
static void encode_bits(struct dynbuf *out, struct slice bytes, unsigned width,
                        const char *alphabet)
{
    unsigned held = 0, bits = 0;
    for (size_t i = 0; i < bytes.n; i++) {
        held = (held << 8 | (unsigned char)bytes.p[i]) & 0xFFFF;
        bits += 8;
        while (bits >= width) {
            bits -= width;
            dynbuf_add_byte(out, alphabet[held >> bits & ((1U << width) - 1)]);
        }
    }
    if (bits) {
        dynbuf_add_byte(out, alphabet[held << (width - bits) & ((1U << width) - 1)]);
    }
}

void encode_base32(struct dynbuf *out, struct slice bytes)
{
    encode_bits(out, bytes, 5, BASE32);
}

void encode_base64url(struct dynbuf *out, struct slice bytes)
{
    encode_bits(out, bytes, 6, BASE64URL);
}

static int base64url_value(char c)
{
    const char *at = c ? strchr(BASE64URL, c) : NULL;
    return at ? (int)(at - BASE64URL) : -1;
}

bool decode_base64url(struct dynbuf *out, struct slice text)
{
    size_t before = out->n;
    unsigned held = 0, bits = 0;
    bool good = text.n % 4 != 1;
    for (size_t i = 0; good && i < text.n; i++) {
        int value = base64url_value(text.p[i]);
        good = value >= 0;
        held = (held << 6 | (unsigned)(value & 63)) & 0xFFFF;
        bits += 6;
        if (good && bits >= 8) {
            bits -= 8;
            dynbuf_add_byte(out, (char)(held >> bits & 0xFF));
        }
    }
    good = good && (held & ((1U << bits) - 1)) == 0;
    if (!good) {
        dynbuf_cut(out, before);
    }
    return good;
}

static bool is_unreserved(char c)
{
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~", c));
}

void encode_percent(struct dynbuf *out, struct slice bytes, const char *keep)
{
    for (size_t i = 0; i < bytes.n; i++) {
        char c = bytes.p[i];
        if (is_unreserved(c) || (c && strchr(keep, c))) {
            dynbuf_add_byte(out, c);
        } else {
            dynbuf_add_byte(out, '%');
            dynbuf_add_byte(out, HEX_UPPER[(unsigned char)c >> 4]);
            dynbuf_add_byte(out, HEX_UPPER[c & 15]);
        }
    }
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9') {
        return c - '0';
    }
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* The byte that %XX at text.p stands for; -1 where the escape is broken or stands for NUL. */
static int percent_value(struct slice text)
{
    int high = text.n > 2 ? hex_value(text.p[1]) : -1;
    int low = text.n > 2 ? hex_value(text.p[2]) : -1;
    return high < 0 || low < 0 || high + low == 0 ? -1 : high << 4 | low;
}

bool decode_percent(struct dynbuf *out, struct slice text, bool plus_is_space)
{
    size_t before = out->n;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == '%') {
            int value = percent_value(slice_skip(text, i));
            if (value < 0) {
                dynbuf_cut(out, before);
                return false;
            }
            c = (char)value;
            i += 2;
        } else if (c == '+' && plus_is_space) {
            c = ' ';
        }
        dynbuf_add_byte(out, c);
    }
    return true;
}
