/* SPDX-License-Identifier: Apache-2.0 */
/* Most lines are plain: printable ASCII that no rule matches and no wrap or cap parts. Such a line
 * is its own neutral form and is copied; the others take the general way, as many at a time as
 * stand together.
 *
 * That a newline is a safe place to part the text: it composes with nothing, keeps marks from being
 * reordered across it, ends control sequences and ill-formed parts, and rules and wrap look at one
 * line at a time. A line keeps its newline, since a carriage return before it belongs to it. */
#include "service/retrieval/neutralise.h"

#include "service/retrieval/neutralise_general.h"
#include "service/retrieval/neutralise_rules.h"

static bool is_plain(struct slice line, size_t max)
{
    return line.n <= max && neutralise_plain_run(line) == line.n && !rules_may_match(line);
}

static bool is_plain_title(struct slice line)
{
    return (line.n == 0 || !memchr(line.p, '\t', line.n)) &&
           is_plain(line, NEUTRALISE_LINE_MAX_BYTES);
}

static struct slice first_line(struct slice text)
{
    const char *newline = memchr(text.p, '\n', text.n);
    return (struct slice){text.p, newline ? (size_t)(newline - text.p) : text.n};
}

/* The bytes of the lines at the start of the text that are plain, or that are not. */
static size_t stretch(struct slice text, bool plain)
{
    size_t at = 0;
    while (at < text.n) {
        struct slice line = first_line(slice_skip(text, at));
        if (is_plain(line, NEUTRALISE_WRAP_BYTES) != plain) {
            break;
        }
        at += line.n + (at + line.n < text.n); /* its newline */
    }
    return at;
}

void neutralise_text(struct dynbuf *out, struct slice bytes, struct neutralise_count *ret_count)
{
    struct neutralise_count count = {0};
    for (bool plain = true; bytes.n > 0; plain = !plain) {
        struct slice part = {bytes.p, stretch(bytes, plain)};
        if (plain) {
            dynbuf_add(out, part);
        } else {
            neutralise_general(out, part, false, &count);
        }
        bytes = slice_skip(bytes, part.n);
    }
    if (ret_count) {
        *ret_count = count;
    }
}

void neutralise_line(struct dynbuf *out, struct slice bytes, struct neutralise_count *ret_count)
{
    struct neutralise_count count = {0};
    if (is_plain_title(bytes)) {
        dynbuf_add(out, bytes);
    } else {
        neutralise_general(out, bytes, true, &count);
    }
    if (ret_count) {
        *ret_count = count;
    }
}
