/* SPDX-License-Identifier: Apache-2.0 */
/* Fields are looked up in the head as it came: the few that matter are read once a response. */
#include "service/loop/curl_loop.h"

#include <stdlib.h>
#include <strings.h>

const char *curl_failure_name(enum curl_failure failure)
{
    static const char *const NAMES[CURL_FAILURE_COUNT] = {
#define X(name, text) [name] = (text),
        CURL_FAILURE_TABLE(X)
#undef X
    };
    return NAMES[failure];
}

static struct slice trim(struct slice s)
{
    while (s.n && (s.p[0] == ' ' || s.p[0] == '\t')) {
        s = slice_skip(s, 1);
    }
    while (s.n && strchr(" \t\r\n", s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

struct slice curl_response_field(const struct curl_response *r, const char *name)
{
    size_t n = strlen(name);
    struct slice rest = dynbuf_get(&r->head);
    while (rest.n) {
        const char *newline = memchr(rest.p, '\n', rest.n);
        size_t line = newline ? (size_t)(newline - rest.p) + 1 : rest.n;
        if (line > n && rest.p[n] == ':' && strncasecmp(rest.p, name, n) == 0) {
            return trim((struct slice){rest.p + n + 1, line - n - 1});
        }
        rest = slice_skip(rest, line);
    }
    return SLICE_NONE;
}

void curl_response_free(struct curl_response *r)
{
    if (r) {
        dynbuf_done(&r->head);
        dynbuf_done(&r->body);
        free(r);
    }
}
