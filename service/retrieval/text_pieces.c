/* SPDX-License-Identifier: Apache-2.0 */
/* Most words are small letters alone, or begin with the only capital: one comparison for each
 * letter finds that out. */
#include "service/retrieval/text_pieces.h"

#include <stdbool.h>

enum kind { SMALL, CAPITAL, DIGIT, OTHER };

static enum kind kind_of(int32_t code)
{
    if (code >= '0' && code <= '9') {
        return DIGIT;
    }
    if (code >= 'A' && code <= 'Z') {
        return CAPITAL;
    }
    return code >= 'a' && code <= 'z' ? SMALL : OTHER;
}

/* A small s behind capitals, with no further small letter: the plural of an abbreviation. */
static bool is_plural_s(const int32_t *codes, size_t at, size_t to)
{
    return codes[at] == 's' && (at + 1 == to || kind_of(codes[at + 1]) != SMALL);
}

static bool begins_piece(const int32_t *codes, size_t at, size_t to)
{
    enum kind before = kind_of(codes[at - 1]);
    enum kind here = kind_of(codes[at]);
    if (before == DIGIT || here == DIGIT) {
        return before != here;
    }
    if (here == SMALL) {
        return false;
    }
    return before == SMALL ||
           (at + 1 < to && kind_of(codes[at + 1]) == SMALL && !is_plural_s(codes, at + 1, to));
}

size_t text_pieces(const int32_t *codes, size_t from, size_t to, size_t ret_ends[TEXT_PIECES_MAX])
{
    size_t n = 0;
    for (size_t at = from + 1; at < to; at++) {
        if ((codes[at] < 'a' || codes[at - 1] < 'A') && begins_piece(codes, at, to)) {
            if (n == TEXT_PIECES_MAX - 1) {
                return 1;
            }
            ret_ends[n++] = at;
        }
    }
    ret_ends[n] = to;
    return n + 1;
}

bool text_is_plural_abbreviation(const int32_t *codes, size_t from, size_t to)
{
    return to - from >= 3 && is_plural_s(codes, to - 1, to) && kind_of(codes[to - 2]) == CAPITAL &&
           kind_of(codes[to - 3]) == CAPITAL;
}
