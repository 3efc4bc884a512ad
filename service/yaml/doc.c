/* SPDX-License-Identifier: Apache-2.0 */
/* The document as its users hold it, and the one form of its error texts.
 *
 * Repeated names are found by sorting: a file of 256 KiB holds enough keys for a comparison of each
 * with each to take seconds. */
#include "service/yaml/doc.h"

#include "service/base/mem.h"

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { NAME_SHOWN_BYTES = 64 };

void yaml_doc_free(struct yaml_doc *doc)
{
    if (doc) {
        arena_done(&doc->arena);
        free(doc);
    }
}

const struct yaml_node *yaml_root(const struct yaml_doc *doc)
{
    return doc->root;
}

int yaml_shown_bytes(struct slice name)
{
    if (name.n <= NAME_SHOWN_BYTES) {
        return (int)name.n;
    }
    int n = NAME_SHOWN_BYTES;
    while (n > 0 && ((unsigned char)name.p[n] & 0xC0) == 0x80) {
        n--;
    }
    return n;
}

/* A URL that slipped into a key's place, or the end of one that a comma cut in two. */
static bool may_hold_password(struct slice key)
{
    return key.n > 0 && memchr(key.p, '@', key.n);
}

void yaml_error(const struct yaml_doc *doc, int line, struct slice key, struct err_detail *detail,
                const char *format, ...)
{
    char reason[sizeof(detail->text)];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    if (may_hold_password(key)) {
        err_detail_set(detail, "%s:%d: a key that is not shown, for it holds an @ as URLs do: %s",
                       doc->file_name.p, line, reason);
    } else if (key.p) {
        err_detail_set(detail, "%s:%d: key `%.*s`: %s", doc->file_name.p, line,
                       yaml_shown_bytes(key), key.p, reason);
    } else {
        err_detail_set(detail, "%s:%d: %s", doc->file_name.p, line, reason);
    }
}

struct entry {
    struct slice text;
    size_t at; /* position in the chain */
    const struct yaml_node *node;
};

static int compare_entries(const void *a, const void *b)
{
    const struct entry *x = a, *y = b;
    int order = slice_cmp(x->text, y->text);
    return order ? order : (x->at > y->at) - (x->at < y->at);
}

const struct yaml_node *yaml_find_repeated(const struct yaml_node *first, size_t n,
                                           yaml_text_of text_of)
{
    if (n < 2) {
        return NULL;
    }
    struct entry *entries = mem_array(n, sizeof(*entries));
    size_t at = 0;
    for (const struct yaml_node *node = first; node; node = node->next) {
        entries[at] = (struct entry){text_of(node), at, node};
        at++;
    }
    qsort(entries, n, sizeof(*entries), compare_entries);
    const struct entry *found = NULL;
    for (size_t i = 1; i < n; i++) {
        if (slice_eq(entries[i - 1].text, entries[i].text) &&
            (!found || entries[i].at < found->at)) {
            found = &entries[i];
        }
    }
    const struct yaml_node *repeated = found ? found->node : NULL;
    free(entries);
    return repeated;
}
