/* SPDX-License-Identifier: Apache-2.0 */
/* One walk over the head, line by line; it runs for each request, so there is no second parse.
 * libh2o has accepted the head before, so names are tokens and values hold no control bytes. */
#include "service/http/head_check.h"

#include <strings.h>

struct counts {
    unsigned host, content_length, transfer_encoding;
};

/* The next line with its CRLF cut off; false: it ends in a bare LF or not at all. */
static bool take_line(struct slice *rest, struct slice *ret_line)
{
    const char *lf = memchr(rest->p, '\n', rest->n);
    if (!lf || lf == rest->p || lf[-1] != '\r') {
        return false;
    }
    *ret_line = (struct slice){rest->p, (size_t)(lf - rest->p) - 1};
    *rest = slice_skip(*rest, ret_line->n + 2);
    return true;
}

static bool name_is(struct slice name, const char *text)
{
    return name.n == strlen(text) && strncasecmp(name.p, text, name.n) == 0;
}

static bool count_header(struct slice line, struct counts *c)
{
    const char *colon = memchr(line.p, ':', line.n);
    if (line.p[0] == ' ' || line.p[0] == '\t' || !colon) {
        return false; /* folded */
    }
    struct slice name = {line.p, (size_t)(colon - line.p)};
    c->host += name_is(name, "host");
    c->content_length += name_is(name, "content-length");
    c->transfer_encoding += name_is(name, "transfer-encoding");
    return true;
}

static bool counts_are_good(const struct counts *c, bool is_http_1_0)
{
    return c->host == 1 && c->content_length + c->transfer_encoding <= 1 &&
           !(c->transfer_encoding && is_http_1_0);
}

static bool ends_with(struct slice line, const char *end)
{
    size_t n = strlen(end);
    return line.n >= n && memcmp(line.p + line.n - n, end, n) == 0;
}

enum head_verdict head_check(struct slice bytes, struct head_facts *ret_facts)
{
    struct slice rest = bytes, line;
    struct counts counts = {0, 0, 0};
    *ret_facts = (struct head_facts){false};
    if (slice_starts(rest, SLICE_LIT("\r\n"))) {
        rest = slice_skip(rest, 2); /* RFC 9112 §2.2: one empty line before a request is ignored */
    }
    if (!take_line(&rest, &line)) {
        return HEAD_MALFORMED;
    }
    bool is_http_1_0 = ends_with(line, " HTTP/1.0");
    do {
        if (!take_line(&rest, &line)) {
            return HEAD_MALFORMED;
        }
        if (line.n && !count_header(line, &counts)) {
            return HEAD_MALFORMED;
        }
    } while (line.n);
    if (bytes.n - rest.n > HEAD_MAX_BYTES) {
        return HEAD_TOO_LARGE;
    }
    ret_facts->has_chunked_body = counts.transfer_encoding > 0;
    return counts_are_good(&counts, is_http_1_0) ? HEAD_OK : HEAD_MALFORMED;
}
