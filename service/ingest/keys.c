/* SPDX-License-Identifier: Apache-2.0 */
/* One slip and not two: two slips from `labels` stand levels and tables, two from `collection`
 * stand connection and correction, which are other people's words. */
#include "service/ingest/keys.h"

#include "service/base/utf8.h"

enum { FOLDED_MAX = 16 };

struct folded {
    uint32_t codes[FOLDED_MAX];
    size_t n;
};

static const struct {
    const char *folded, *meant;
} NEAR[] = {
    {"labels", "labels"},          {"label", "labels"},     {"collection", "collection"},
    {"collections", "collection"}, {"doctype", "doc_type"}, {"doctypes", "doc_type"},
};

bool key_decides(struct slice key)
{
    return slice_is(key, "labels") || slice_is(key, "collection") || slice_is(key, "doc_type");
}

/* False for a key that is too long to be near. */
static bool fold(struct slice key, struct folded *ret_folded)
{
    ret_folded->n = 0;
    while (key.n) {
        uint32_t code;
        key = slice_skip(key, utf8_decode(key, &code));
        if (code == '_' || code == '-' || code == ' ' || code == '\t') {
            continue;
        }
        if (ret_folded->n == FOLDED_MAX) {
            return false;
        }
        ret_folded->codes[ret_folded->n++] = code >= 'A' && code <= 'Z' ? code + 32 : code;
    }
    return true;
}

/* At most one insertion, deletion, substitution or swap of neighbours: what is left between the
 * common beginning and the common end tells. */
static bool is_one_slip(const struct folded *a, const struct folded *b)
{
    size_t begin = 0, m = a->n, n = b->n;
    while (begin < m && begin < n && a->codes[begin] == b->codes[begin]) {
        begin++;
    }
    while (m > begin && n > begin && a->codes[m - 1] == b->codes[n - 1]) {
        m--;
        n--;
    }
    m -= begin;
    n -= begin;
    bool swapped = m == 2 && n == 2 && a->codes[begin] == b->codes[begin + 1] &&
                   a->codes[begin + 1] == b->codes[begin];
    return (m <= 1 && n <= 1) || swapped;
}

const char *key_meant(struct slice key)
{
    struct folded k, near;
    if (key_decides(key) || !fold(key, &k)) {
        return NULL;
    }
    for (size_t i = 0; i < sizeof(NEAR) / sizeof(NEAR[0]); i++) {
        if (fold(slice_of(NEAR[i].folded), &near) && is_one_slip(&k, &near)) {
            return NEAR[i].meant;
        }
    }
    return NULL;
}
