/* SPDX-License-Identifier: Apache-2.0 */
/* Somebody who writes `labels: [hr]` at the head of a file means it, however the block around it is
 * spelt. Reading such a block would be a guess; passing over it would publish the text under the
 * labels of the command line. So the file is left out, and its author is told the line. */
#include "service/ingest/front_matter.h"

#include "service/ingest/keys.h"
#include "service/ingest/words.h"

#include <stdio.h>
#include <strings.h>

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n';
}

static struct slice trim(struct slice s)
{
    while (s.n && is_space(s.p[0])) {
        s = slice_skip(s, 1);
    }
    while (s.n && is_space(s.p[s.n - 1])) {
        s.n--;
    }
    return s;
}

/* ---, ----, +++, "--- # note", or the dash that an editor made of them. */
static bool is_fence(struct slice line)
{
    return slice_starts(line, SLICE_LIT("---")) || slice_starts(line, SLICE_LIT("+++")) ||
           slice_starts(line, SLICE_LIT("\xE2\x80\x93")) ||
           slice_starts(line, SLICE_LIT("\xE2\x80\x94"));
}

/* A line of dashes, pluses or dots alone. */
static bool is_end(struct slice line)
{
    size_t n = 0;
    while (n < line.n && line.p[n] == line.p[0]) {
        n++;
    }
    return line.n >= 3 && n == line.n && strchr("-+.", line.p[0]);
}

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || c == '-';
}

/* The key of "key: value" or "key = value", in quotes or not; SLICE_NONE: the line is none. */
static struct slice entry_key(struct slice line)
{
    while (line.n && strchr("\"'{", line.p[0])) {
        line = trim(slice_skip(line, 1));
    }
    size_t n = 0, end;
    while (n < line.n && is_key_char(line.p[n])) {
        n++;
    }
    for (end = n; end < line.n && strchr("\"' \t", line.p[end]); end++) {
    }
    bool is_entry = n && end < line.n && (line.p[end] == ':' || line.p[end] == '=');
    return is_entry ? (struct slice){line.p, n} : SLICE_NONE;
}

static bool is_read(struct slice key, bool markdown)
{
    static const char *const others[] = {"title", "published", "date", "source_url"};
    for (size_t i = 0; markdown && i < sizeof(others) / sizeof(others[0]); i++) {
        if (key.n == strlen(others[i]) && strncasecmp(key.p, others[i], key.n) == 0) {
            return true;
        }
    }
    return key_decides(key) || key_meant(key);
}

static bool missed(struct slice key, uint64_t line, uint64_t *ret_line, char *ret_reason)
{
    *ret_line = line;
    snprintf(ret_reason, FIELD_REASON_BYTES,
             "%.*s: would be overlooked: front matter is read at the head of a Markdown file only, "
             "from --- in its first line to a line ---",
             (int)(key.n < 32 ? key.n : 32), key.p);
    return true;
}

static struct slice next_line(struct slice *text, uint64_t *line)
{
    struct slice first = {text->p, words_line(*text)};
    *text = slice_skip(*text, first.n);
    ++*line;
    return trim(first);
}

/* Blank lines and comments, as licences are: <!-- ... --> from line to line. */
static struct slice first_line(struct slice *text, uint64_t *at)
{
    struct slice line = {text->p, 0};
    bool comment = false;
    while (text->n && (line.n == 0 || comment)) {
        line = next_line(text, at);
        comment = comment || slice_starts(line, SLICE_LIT("<!--"));
        if (comment && memmem(line.p, line.n, "-->", 3)) {
            comment = false;
            line.n = 0;
        }
    }
    return comment ? SLICE_LIT("") : line;
}

bool front_matter_is_missed(struct slice text, bool markdown, uint64_t *ret_line,
                            char ret_reason[FIELD_REASON_BYTES])
{
    uint64_t at = 0;
    struct slice line = first_line(&text, &at);
    struct slice key = entry_key(line);
    if (key_decides(key)) {
        return missed(key, at, ret_line, ret_reason);
    }
    bool inside = is_fence(line);
    while (inside && text.n) {
        line = next_line(&text, &at);
        key = entry_key(line);
        if (key.p && is_read(key, markdown)) {
            return missed(key, at, ret_line, ret_reason);
        }
        inside = !is_end(line);
    }
    return false;
}
