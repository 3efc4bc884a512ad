/* SPDX-License-Identifier: Apache-2.0 */
/* Where a text may be cut: half a word or half a character would be read as another one. */
#include "service/base/utf8.h"
#include "service/retrieval/text_normal.h"

static bool is_continuation(char byte)
{
    return (byte & 0xC0) == 0x80;
}

static int32_t code_at(struct slice utf8, size_t at)
{
    uint32_t code;
    utf8_decode(slice_skip(utf8, at), &code);
    return (int32_t)code;
}

static size_t character_start(struct slice utf8, size_t at)
{
    while (at > 0 && is_continuation(utf8.p[at])) {
        at--;
    }
    return at;
}

static bool separates(int32_t code)
{
    return code_is_space(code) || code_is_unspaced(code);
}

size_t text_cut(struct slice utf8, size_t max)
{
    if (utf8.n <= max) {
        return utf8.n;
    }
    size_t last = character_start(utf8, max);
    bool right = separates(code_at(utf8, last));
    for (size_t at = last; at > 0;) {
        size_t before = character_start(utf8, at - 1);
        bool left = separates(code_at(utf8, before));
        if (left || right) {
            return at;
        }
        right = left;
        at = before;
    }
    return last;
}
