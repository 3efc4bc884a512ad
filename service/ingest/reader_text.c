/* SPDX-License-Identifier: Apache-2.0 */
/* Plain text has no markup to trust: only a blank line and an underlined line mean something. */
#include "service/ingest/reader.h"
#include "service/ingest/words.h"

#include "service/base/utf8.h"

enum { UNDERLINE_MIN_CHARS = 3 };

static struct slice without_newline(struct slice line)
{
    while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == ' ')) {
        line.n--;
    }
    return line;
}

/* 1..3, or 0 if `line` underlines nothing. Close to the heading's length, so that a rule between
 * two paragraphs is not taken for one. */
static unsigned underline_level(struct slice line, struct slice heading)
{
    static const char marks[] = "=-~";
    const char *mark = line.n ? memchr(marks, line.p[0], sizeof(marks) - 1) : NULL;
    size_t length = utf8_count(heading);
    if (!mark || line.n < UNDERLINE_MIN_CHARS || line.n > 2 * length + 4 || 2 * line.n < length) {
        return 0;
    }
    for (size_t i = 1; i < line.n; i++) {
        if (line.p[i] != line.p[0]) {
            return 0;
        }
    }
    return (unsigned)(mark - marks) + 1;
}

static void flush(struct outline *o, const char *begin, const char *end)
{
    if (end > begin) {
        outline_add(o, BLOCK_PARAGRAPH, 0, (struct slice){begin, (size_t)(end - begin)});
    }
}

void reader_text(struct outline *o, struct slice bytes)
{
    const char *paragraph = bytes.p; /* where the open one begins */
    struct slice before = SLICE_NONE;
    while (bytes.n) {
        size_t n = words_line(bytes);
        struct slice line = without_newline((struct slice){bytes.p, n});
        unsigned level = before.n ? underline_level(line, before) : 0;
        if (level) {
            flush(o, paragraph, before.p);
            outline_add(o, BLOCK_HEADING, level, before);
        } else if (line.n == 0) {
            flush(o, paragraph, bytes.p);
        }
        if (level || line.n == 0) {
            paragraph = bytes.p + n;
        }
        before = level ? SLICE_NONE : line;
        bytes = slice_skip(bytes, n);
    }
    flush(o, paragraph, bytes.p);
}
