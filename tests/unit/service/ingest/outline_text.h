/* SPDX-License-Identifier: Apache-2.0 */
/* outline_text: an outline as text, one block after the other, to compare with what is expected. */
#ifndef TESTS_INGEST_OUTLINE_TEXT_H
#define TESTS_INGEST_OUTLINE_TEXT_H

#include "service/ingest/outline.h"

#include <criterion/criterion.h>
#include <stdio.h>

/* "H2:", "P:", "I:", "R:" or "C:" and the text, blocks separated by " / "; newlines stay. */
static inline const char *outline_show(const struct outline *o)
{
    static char shown[64 * 1024];
    static const char *const names[] = {"H", "P", "I", "R", "C"};
    size_t n = 0;
    shown[0] = 0;
    for (size_t i = 0; i < o->n; i++) {
        const struct block *b = &o->blocks[i];
        struct slice text = outline_text(o, b);
        n += (size_t)snprintf(shown + n, sizeof(shown) - n, "%s%s", i ? " / " : "", names[b->kind]);
        if (b->kind == BLOCK_HEADING) {
            n += (size_t)snprintf(shown + n, sizeof(shown) - n, "%u", b->level);
        }
        n += (size_t)snprintf(shown + n, sizeof(shown) - n, ":%.*s", (int)text.n, text.p);
        cr_assert_lt(n, sizeof(shown));
    }
    return shown;
}

#endif
