/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml lets a NUL through in quoted text, reads UTF-16 and knows nothing of normal forms, so the
 * bytes are checked here: once as the file has them, and each value again once its escapes are
 * undone. Names are compared byte for byte; NFC (Unicode UAX #15) makes sure that two spellings of
 * one name cannot both stand in a file. */
#include "service/yaml/check.h"

#include "service/base/utf8.h"

#include <stdlib.h>
#include <utf8proc.h>

static bool is_line_break(uint32_t code)
{
    return code == '\n' || code == '\r';
}

/* C0, DEL, C1, and the separators that YAML 1.1 takes for line breaks though editors do not. */
static bool is_control(uint32_t code)
{
    return code < 0x20 || (code >= 0x7F && code < 0xA0) || code == 0x2028 || code == 0x2029;
}

const char *yaml_check_file(struct slice bytes, int *ret_line)
{
    *ret_line = 1;
    bool after_cr = false;
    while (bytes.n) {
        uint32_t code = 0;
        size_t size = utf8_decode(bytes, &code);
        if (code == UTF8_BAD) {
            return "is not UTF-8; save the file as UTF-8";
        }
        if (is_control(code) && code != '\t' && !is_line_break(code)) {
            return "has a control character; remove it";
        }
        if (code == '\r' || (code == '\n' && !after_cr)) {
            (*ret_line)++;
        }
        after_cr = code == '\r';
        bytes = slice_skip(bytes, size);
    }
    return NULL;
}

static bool is_ascii(struct slice text)
{
    for (size_t i = 0; i < text.n; i++) {
        if ((unsigned char)text.p[i] >= 0x80) {
            return false;
        }
    }
    return true;
}

static bool is_nfc(struct slice text)
{
    if (is_ascii(text)) {
        return true;
    }
    utf8proc_uint8_t *normal = NULL;
    utf8proc_ssize_t n = utf8proc_map((const utf8proc_uint8_t *)text.p, (utf8proc_ssize_t)text.n,
                                      &normal, UTF8PROC_STABLE | UTF8PROC_COMPOSE);
    bool same = n >= 0 && slice_eq(text, (struct slice){(const char *)normal, (size_t)n});
    free(normal);
    return same;
}

const char *yaml_check_text(struct slice text)
{
    for (struct slice rest = text; rest.n;) {
        uint32_t code = 0;
        size_t size = utf8_decode(rest, &code);
        if (code == UTF8_BAD) {
            return "is not UTF-8; save the file as UTF-8";
        }
        if (is_control(code)) {
            return "holds a control character or a line break; write it on one line without";
        }
        rest = slice_skip(rest, size);
    }
    return is_nfc(text) ? NULL : "is not in Unicode normal form NFC; retype or normalise it";
}
