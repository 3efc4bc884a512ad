/* SPDX-License-Identifier: Apache-2.0 */
/* In this order, each step leaving what the earlier ones made: valid UTF-8 without invisible
 * characters, NFC, then line by line the wrap, the marks of neutralise_rules.h and the cap.
 * Characters are deleted before NFC, since a deleted one may have kept two others from composing.
 */
#include "service/retrieval/neutralise_general.h"

#include "service/base/utf8.h"
#include "service/retrieval/neutralise_rules.h"

enum {
    /* A line of more characters is cut whatever they are; what stands beyond cannot matter. */
    LINE_MAX_CODES = NEUTRALISE_LINE_MAX_BYTES + 256,
};

static const char CUT_MARK[] = "\xE2\x80\xA6"; /* … */
static const char DOT[] = "\xC2\xB7";          /* · */

static const struct range {
    int32_t first, last;
} INVISIBLE[] = {
    /* Default_Ignorable_Code_Point (Unicode 15) and the interlinear annotation controls */
    {0x00AD, 0x00AD},   {0x034F, 0x034F},   {0x061C, 0x061C}, {0x115F, 0x1160}, {0x17B4, 0x17B5},
    {0x180B, 0x180F},   {0x200B, 0x200F},   {0x202A, 0x202E}, {0x2060, 0x206F}, {0x3164, 0x3164},
    {0xFE00, 0xFE0F},   {0xFEFF, 0xFEFF},   {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFFB}, {0x1BCA0, 0x1BCA3},
    {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

static bool is_deleted(int32_t code)
{
    if (code < 0xA0) {
        return (code < 0x20 && code != '\t' && code != '\n') || code >= 0x7F;
    }
    for (size_t i = 0; i < sizeof(INVISIBLE) / sizeof(INVISIBLE[0]); i++) {
        if (code >= INVISIBLE[i].first && code <= INVISIBLE[i].last) {
            return true;
        }
    }
    return false;
}

static bool is_newline(uint32_t code)
{
    return (code >= '\n' && code <= '\r') || code == 0x85 || code == 0x2028 || code == 0x2029;
}

/* The length of an ANSI control sequence (ECMA-48 §5.4) that begins the text; 0: none. */
static size_t ansi_length(struct slice text)
{
    size_t n =
        slice_starts(text, SLICE_LIT("\x1B[")) || slice_starts(text, SLICE_LIT("\xC2\x9B")) ? 2 : 0;
    while (n && n < text.n && text.p[n] >= 0x20 && text.p[n] <= 0x3F) {
        n++;
    }
    return n && n < text.n && text.p[n] >= 0x40 && text.p[n] <= 0x7E ? n + 1 : 0;
}

/* Appends the code point at the start of text if it stays, and returns how many bytes it takes. */
static size_t keep_visible(struct dynbuf *out, struct slice text, struct neutralise_count *count)
{
    uint32_t code;
    size_t n = ansi_length(text);
    if (n) {
        count->deleted += (uint32_t)utf8_count((struct slice){text.p, n});
        return n;
    }
    n = utf8_decode(text, &code);
    if (code == UTF8_BAD) {
        count->replaced++;
        dynbuf_add_text(out, "\xEF\xBF\xBD");
    } else if (is_newline(code)) {
        n += code == '\r' && slice_starts(slice_skip(text, n), SLICE_LIT("\n"));
        dynbuf_add_byte(out, '\n');
    } else if (is_deleted((int32_t)code)) {
        count->deleted++;
    } else {
        dynbuf_add(out, (struct slice){text.p, n});
    }
    return n;
}

static void normalise(struct codes *ret_codes, struct slice bytes, struct neutralise_count *count)
{
    struct dynbuf visible;
    dynbuf_init(&visible, SIZE_MAX);
    for (size_t at = 0; at < bytes.n;) {
        struct slice rest = slice_skip(bytes, at);
        size_t n = neutralise_plain_run(rest);
        dynbuf_add(&visible, (struct slice){rest.p, n});
        at += n ? n : keep_visible(&visible, rest, count);
    }
    text_normalise(ret_codes, dynbuf_get(&visible), NORMAL_NFC);
    dynbuf_done(&visible);
}

/* Buffers that the lines of one text share. */
struct lines {
    struct dynbuf *out;
    struct dynbuf line;
    struct skeleton skeleton;
    unsigned char marks[LINE_MAX_CODES]; /* of the line at hand; too large to clear for each text */
    struct neutralise_count *count;
};

static size_t character_start(struct slice text, size_t at)
{
    while (at > 0 && (text.p[at] & 0xC0) == 0x80) {
        at--;
    }
    return at;
}

static void add_capped(struct dynbuf *out, struct slice line)
{
    if (line.n <= NEUTRALISE_LINE_MAX_BYTES) {
        dynbuf_add(out, line);
        return;
    }
    line.n = character_start(line, NEUTRALISE_LINE_MAX_BYTES - (sizeof(CUT_MARK) - 1));
    dynbuf_add(out, line);
    dynbuf_add_text(out, CUT_MARK);
}

/* Appends the ASCII at the start of the codes that stays without marks; returns how many. */
static size_t add_unmarked(struct dynbuf *out, const int32_t *codes, const unsigned char *marks,
                           size_t n)
{
    size_t run = 0;
    while (run < n && codes[run] < 0x80 && !marks[run]) {
        run++;
    }
    char *to = dynbuf_extend(out, run);
    for (size_t i = 0; to && i < run; i++) {
        to[i] = (char)codes[i];
    }
    return run;
}

static void add_marked(struct dynbuf *out, int32_t code, unsigned char marks)
{
    if (marks & INSERT_TICK_BEFORE) {
        dynbuf_add_byte(out, '`');
    }
    utf8_add(out, (uint32_t)code);
    if (marks & INSERT_DOT_AFTER) {
        dynbuf_add_text(out, DOT);
    }
    if (marks & INSERT_TICK_AFTER) {
        dynbuf_add_byte(out, '`');
    }
}

static void add_line(struct lines *l, const int32_t *codes, size_t n)
{
    n = n < LINE_MAX_CODES ? n : LINE_MAX_CODES;
    memset(l->marks, 0, n);
    skeleton_make(&l->skeleton, codes, n);
    l->count->broken += rules_mark(codes, n, &l->skeleton, l->marks);
    dynbuf_cut(&l->line, 0);
    for (size_t i = 0; i < n;) {
        i += add_unmarked(&l->line, codes + i, l->marks + i, n - i);
        if (i < n) {
            add_marked(&l->line, codes[i], l->marks[i]);
            i++;
        }
    }
    add_capped(l->out, dynbuf_get(&l->line));
}

/* What a character counts for the wrap. The marks of add_line count nothing, else a line they made
 * longer would be wrapped once more the next time. */
static size_t wrap_width(int32_t code)
{
    if (code == 0xB7 || code == '`') {
        return 0;
    }
    return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

/* The end of the line that begins at start: its newline, the space it is wrapped at, or (where it
 * has no space) the character that no longer fits. */
static size_t line_end(const struct codes *c, size_t start, bool wrap)
{
    size_t width = 0, space = start;
    for (size_t at = start; at < c->n; at++) {
        if (c->p[at] == '\n') {
            return at;
        }
        width += wrap_width(c->p[at]);
        if (wrap && width > NEUTRALISE_WRAP_BYTES) {
            return space > start ? space : at;
        }
        if (c->p[at] == ' ') {
            space = at;
        }
    }
    return c->n;
}

static void add_lines(struct dynbuf *out, const struct codes *c, bool wrap,
                      struct neutralise_count *count)
{
    struct lines l;
    l.out = out;
    l.count = count;
    l.skeleton = (struct skeleton){0};
    dynbuf_init(&l.line, SIZE_MAX);
    for (size_t start = 0; start <= c->n;) {
        size_t end = line_end(c, start, wrap);
        add_line(&l, c->p + start, end - start);
        if (end == c->n) {
            break;
        }
        dynbuf_add_byte(out, '\n');
        start = end + (c->p[end] == '\n' || c->p[end] == ' ');
    }
    dynbuf_done(&l.line);
    skeleton_done(&l.skeleton);
}

void neutralise_general(struct dynbuf *out, struct slice bytes, bool one_line,
                        struct neutralise_count *count)
{
    struct codes codes = {0};
    normalise(&codes, bytes, count);
    for (size_t i = 0; one_line && i < codes.n; i++) {
        if (codes.p[i] == '\n' || codes.p[i] == '\t') {
            codes.p[i] = ' ';
        }
    }
    add_lines(out, &codes, !one_line, count);
    codes_done(&codes);
}
