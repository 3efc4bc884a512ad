/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/cache_control.h"

#include <strings.h>

#define LONGEST_S ((int64_t)1 << 31)

static struct slice trim(struct slice s)
{
    while (s.n && strchr(" \t", s.p[0])) {
        s = slice_skip(s, 1);
    }
    while (s.n && strchr(" \t", s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

static int64_t seconds(struct slice digits)
{
    if (digits.n > 2 && digits.p[0] == '"' && digits.p[digits.n - 1] == '"') {
        digits = (struct slice){digits.p + 1, digits.n - 2};
    }
    int64_t value = digits.n ? 0 : -1;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9') {
            return -1;
        }
        value = value * 10 + (digits.p[i] - '0');
        value = value > LONGEST_S ? LONGEST_S : value;
    }
    return value;
}

int64_t cache_control_max_age_s(struct slice value)
{
    const struct slice name = SLICE_LIT("max-age=");
    while (value.n) {
        const char *comma = memchr(value.p, ',', value.n);
        size_t n = comma ? (size_t)(comma - value.p) : value.n;
        struct slice directive = trim((struct slice){value.p, n});
        if (directive.n > name.n && strncasecmp(directive.p, name.p, name.n) == 0) {
            return seconds(slice_skip(directive, name.n));
        }
        value = slice_skip(value, comma ? n + 1 : n);
    }
    return -1;
}
