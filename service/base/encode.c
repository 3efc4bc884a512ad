/* SPDX-License-Identifier: Apache-2.0 */
/* Strict decoders: a text that has two encodings would give one token two cache keys. */
#include "service/base/encode.h"

static const char HEX_LOWER[] = "0123456789abcdef";
static const char HEX_UPPER[] = "0123456789ABCDEF";
static const char BASE32[] = "abcdefghijklmnopqrstuvwxyz234567";
static const char BASE64URL[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

void encode_hex(struct dynbuf *out, struct slice bytes)
{
    char *at = dynbuf_extend(out, 2 * bytes.n);
    for (size_t i = 0; at && i < bytes.n; i++) {
        unsigned char c = (unsigned char)bytes.p[i];
        *at++ = HEX_LOWER[c >> 4];
        *at++ = HEX_LOWER[c & 15];
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

/* 0..63; 64 and more: no character of the alphabet. A table, for tokens are decoded at each call.
 */
static unsigned base64url_value(char c)
{
    static const unsigned char VALUES_PLUS_1[256] = {
        ['A'] = 1,  ['B'] = 2,  ['C'] = 3,  ['D'] = 4,  ['E'] = 5,  ['F'] = 6,  ['G'] = 7,
        ['H'] = 8,  ['I'] = 9,  ['J'] = 10, ['K'] = 11, ['L'] = 12, ['M'] = 13, ['N'] = 14,
        ['O'] = 15, ['P'] = 16, ['Q'] = 17, ['R'] = 18, ['S'] = 19, ['T'] = 20, ['U'] = 21,
        ['V'] = 22, ['W'] = 23, ['X'] = 24, ['Y'] = 25, ['Z'] = 26, ['a'] = 27, ['b'] = 28,
        ['c'] = 29, ['d'] = 30, ['e'] = 31, ['f'] = 32, ['g'] = 33, ['h'] = 34, ['i'] = 35,
        ['j'] = 36, ['k'] = 37, ['l'] = 38, ['m'] = 39, ['n'] = 40, ['o'] = 41, ['p'] = 42,
        ['q'] = 43, ['r'] = 44, ['s'] = 45, ['t'] = 46, ['u'] = 47, ['v'] = 48, ['w'] = 49,
        ['x'] = 50, ['y'] = 51, ['z'] = 52, ['0'] = 53, ['1'] = 54, ['2'] = 55, ['3'] = 56,
        ['4'] = 57, ['5'] = 58, ['6'] = 59, ['7'] = 60, ['8'] = 61, ['9'] = 62, ['-'] = 63,
        ['_'] = 64,
    };
    return VALUES_PLUS_1[(unsigned char)c] - 1U;
}

bool decode_base64url(struct dynbuf *out, struct slice text)
{
    size_t before = out->n;
    char *to = text.n % 4 != 1 ? dynbuf_extend(out, text.n * 3 / 4) : NULL;
    if (!to) {
        return false;
    }
    unsigned seen = 0;
    size_t i = 0;
    for (; i + 4 <= text.n; i += 4, to += 3) {
        unsigned w = base64url_value(text.p[i]), x = base64url_value(text.p[i + 1]),
                 y = base64url_value(text.p[i + 2]), z = base64url_value(text.p[i + 3]);
        seen |= w | x | y | z;
        unsigned group = (w & 63) << 18 | (x & 63) << 12 | (y & 63) << 6 | (z & 63);
        to[0] = (char)(group >> 16 & 0xFF);
        to[1] = (char)(group >> 8 & 0xFF);
        to[2] = (char)(group & 0xFF);
    }
    unsigned held = 0, bits = 0; /* two or three characters are left, or none */
    for (; i < text.n; i++) {
        unsigned value = base64url_value(text.p[i]);
        seen |= value;
        held = held << 6 | (value & 63);
        bits += 6;
        if (bits >= 8) {
            bits -= 8;
            *to++ = (char)(held >> bits & 0xFF);
        }
    }
    bool good = seen < 64 && (held & ((1U << bits) - 1)) == 0;
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

int hex_value(char c)
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
