/* SPDX-License-Identifier: Apache-2.0 */
/* Tables first: what a line may not spell. Fence and chat markers are looked for in the skeleton;
 * images and elements too, or as the exact characters that make a renderer fetch something. */
#include "service/retrieval/neutralise_rules.h"

enum { WILD_MAX = 64 };

/* Our fence (fence.h); blanks may stand between any two characters. */
static const char *const FENCES[] = {"<<untrusted", "<</untrusted", "<<endfence", "<</endfence"};

/* In the patterns from here on ' ' is any run of blanks, also none; '*' up to WILD_MAX characters
 * without < and >. */
static const char *const MARKERS[] = {
    /* ChatML, Llama 3, Phi, DeepSeek */
    "<|*|>",
    /* Llama 2, Mistral */
    "[inst]",
    "[/inst]",
    "[system_prompt]",
    "[/system_prompt]",
    "[available_tools]",
    "[/available_tools]",
    "[tool_calls]",
    "[tool_results]",
    "[/tool_results]",
    "<<sys>>",
    "<</sys>>",
    "<s>",
    "</s>",
    /* Gemma, T5 */
    "<start_of_turn>",
    "<end_of_turn>",
    "<bos>",
    "<eos>",
    /* roles and tools as elements */
    "<system",
    "</system",
    "<assistant",
    "</assistant",
    "<user>",
    "</user>",
    "<human>",
    "</human>",
    "<think>",
    "</think>",
    "<tool_call",
    "</tool_call",
    "<tool_response",
    "</tool_response",
    "<tool_result",
    "</tool_result",
    "<tool_use",
    "</tool_use",
    "<function_call",
    "</function_call",
    "<function_result",
    "</function_result",
    "<invoke",
    "</invoke",
    /* links that run code (the dot parts text and target) */
    "]( javascript:",
    "]( vbscript:",
    "]( data:",
    "]: javascript:",
    "]: vbscript:",
    "]: data:",
};

/* Only where nothing but blanks, quote, list and heading signs stands before them in the line. */
static const char *const ROLES[] = {"human :", "assistant :", "system :"};

/* Elements that fetch or run something when they are rendered. */
static const char *const ELEMENTS[] = {
    "<img",   "<image", "<iframe", "<script", "<link", "<object",
    "<embed", "<video", "<audio",  "<svg",    "<meta",
};

struct marking {
    const int32_t *line;
    size_t n;
    const struct skeleton *s;
    unsigned char *marks;
    uint32_t dots;
};

static bool is_at(const struct skeleton *s, size_t at, char look)
{
    return at < s->looks.n && s->looks.p[at] == look;
}

static size_t skip_blanks(const struct skeleton *s, size_t at)
{
    while (is_at(s, at, ' ')) {
        at++;
    }
    return at;
}

static bool is_fence(const struct skeleton *s, size_t at, const char *fence)
{
    for (; *fence; fence++) {
        if (!is_at(s, at, *fence)) {
            return false;
        }
        at = skip_blanks(s, at + 1);
    }
    return true;
}

static bool is_any_fence(const struct skeleton *s, size_t at)
{
    for (size_t i = 0; i < sizeof(FENCES) / sizeof(FENCES[0]); i++) {
        if (is_fence(s, at, FENCES[i])) {
            return true;
        }
    }
    return false;
}

static bool matches_wild(const struct skeleton *s, size_t at, const char *pattern);

/* Whether the skeleton from `at` on begins with the pattern. */
static bool matches(const struct skeleton *s, size_t at, const char *pattern)
{
    for (; *pattern; pattern++) {
        if (*pattern == ' ') {
            at = skip_blanks(s, at);
        } else if (*pattern == '*') {
            return matches_wild(s, at, pattern + 1);
        } else if (!is_at(s, at++, *pattern)) {
            return false;
        }
    }
    return true;
}

static bool matches_wild(const struct skeleton *s, size_t at, const char *pattern)
{
    for (size_t i = 0; i <= WILD_MAX && at + i < s->looks.n; i++) {
        if (matches(s, at + i, pattern)) { /* patterns hold one '*' at most: no deeper */
            return true;
        }
        if (is_at(s, at + i, '<') || is_at(s, at + i, '>')) {
            return false;
        }
    }
    return false;
}

static bool matches_any(const struct skeleton *s, size_t at, const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (matches(s, at, patterns[i])) {
            return true;
        }
    }
    return false;
}

static void add_dot(struct marking *m, size_t owner)
{
    if (!(m->marks[owner] & INSERT_DOT_AFTER)) {
        m->marks[owner] |= INSERT_DOT_AFTER;
        m->dots++;
    }
}

#define MATCHES_ANY(s, at, patterns)                                                               \
    matches_any((s), (at), (patterns), sizeof(patterns) / sizeof((patterns)[0]))

/* Whether a marker, or at the start of a line a role, stands there. */
static bool is_look_alike(const struct skeleton *s, size_t at, bool line_start)
{
    int32_t look = s->looks.p[at];
    if (look == '<' || look == '[' || look == ']') {
        return is_any_fence(s, at) || MATCHES_ANY(s, at, MARKERS);
    }
    return line_start && MATCHES_ANY(s, at, ROLES);
}

static bool may_precede_role(int32_t look)
{
    return look > 0 && look < 0x80 && strchr(" >#*-_|", (char)look);
}

static void mark_look_alikes(struct marking *m)
{
    bool line_start = true;
    for (size_t i = 0; i < m->s->looks.n; i++) {
        if (is_look_alike(m->s, i, line_start)) {
            add_dot(m, (size_t)m->s->owners.p[i]);
        }
        line_start = line_start && may_precede_role(m->s->looks.p[i]);
    }
}

static size_t find(const struct marking *m, size_t from, int32_t code)
{
    while (from < m->n && m->line[from] != code) {
        from++;
    }
    return from;
}

/* Shows from..to (inclusive) as code, beside the dots that keep it from being anything else. */
static void show_as_code(struct marking *m, size_t from, size_t to)
{
    m->marks[from] |= INSERT_TICK_BEFORE;
    m->marks[to] |= INSERT_TICK_AFTER;
}

/* <img …>, shown as code up to its '>' where the line has one. Returns where to go on. */
static size_t mark_element(struct marking *m, size_t at)
{
    size_t owner = (size_t)m->s->owners.p[at];
    size_t end = find(m, owner, '>');
    add_dot(m, owner);
    if (end < m->n) {
        show_as_code(m, owner, end);
    }
    return end;
}

static void mark_elements(struct marking *m)
{
    size_t shown_to = 0; /* elements within one that is shown get their dot alone */
    for (size_t i = 0; i < m->s->looks.n; i++) {
        if (!is_at(m->s, i, '<') || !MATCHES_ANY(m->s, i, ELEMENTS)) {
            continue;
        }
        size_t owner = (size_t)m->s->owners.p[i];
        if (owner < shown_to) {
            add_dot(m, owner);
        } else {
            shown_to = mark_element(m, i);
        }
    }
}

/* ![text](target), whose '!' stands at `at`: the dot after '!' leaves no image, the one after ']'
 * no link. Returns where to go on. */
static size_t mark_image(struct marking *m, size_t at)
{
    size_t bracket = at;
    do {
        bracket = find(m, bracket + 1, ']');
    } while (bracket + 1 < m->n && m->line[bracket + 1] != '(');
    size_t end = find(m, bracket, ')');
    add_dot(m, at);
    if (end >= m->n) {
        return m->n;
    }
    add_dot(m, bracket);
    show_as_code(m, at, end);
    return end;
}

static void mark_images(struct marking *m)
{
    size_t shown_to = 0;
    for (size_t i = 0; i + 1 < m->n; i++) {
        if (m->line[i] != '!' || m->line[i + 1] != '[') {
            continue;
        }
        if (i < shown_to) {
            add_dot(m, i);
        } else {
            shown_to = mark_image(m, i);
        }
    }
}

uint32_t rules_mark(const int32_t *line, size_t n, const struct skeleton *s, unsigned char *marks)
{
    struct marking m = {line, n, s, marks, 0};
    mark_look_alikes(&m);
    mark_elements(&m);
    mark_images(&m);
    return m.dots;
}

/* --- the same question put to ASCII as it stands --- */

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct slice skip_blank_bytes(struct slice rest)
{
    while (rest.n && is_blank(rest.p[0])) {
        rest = slice_skip(rest, 1);
    }
    return rest;
}

static char lower(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return (char)(c | 0x20);
    }
    return c;
}

/* As matches, but content with what stands before a '*'. */
static bool may_match(struct slice rest, const char *pattern)
{
    for (; *pattern && *pattern != '*'; pattern++) {
        if (*pattern == ' ') {
            rest = skip_blank_bytes(rest);
        } else if (rest.n == 0 || lower(rest.p[0]) != *pattern) {
            return false;
        } else {
            rest = slice_skip(rest, 1);
        }
    }
    return true;
}

static bool may_match_any(struct slice rest, const char *const *patterns, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (may_match(rest, patterns[i])) {
            return true;
        }
    }
    return false;
}

#define MAY_MATCH_ANY(rest, patterns)                                                              \
    may_match_any((rest), (patterns), sizeof(patterns) / sizeof((patterns)[0]))

/* Two brackets that blanks may part. */
static bool may_match_fence(struct slice rest)
{
    struct slice next = skip_blank_bytes(slice_skip(rest, 1));
    return rest.p[0] == '<' && next.n && next.p[0] == '<';
}

static bool may_match_role(struct slice line)
{
    while (line.n && (is_blank(line.p[0]) || may_precede_role(line.p[0]))) {
        line = slice_skip(line, 1);
    }
    return MAY_MATCH_ANY(line, ROLES);
}

/* Whether a match can begin at line.p[at], a bracket. */
static bool may_match_at(struct slice line, size_t at)
{
    struct slice rest = slice_skip(line, at);
    bool image = rest.p[0] == '[' && at > 0 && line.p[at - 1] == '!';
    return image || may_match_fence(rest) || MAY_MATCH_ANY(rest, MARKERS) ||
           MAY_MATCH_ANY(rest, ELEMENTS);
}

bool rules_may_match(struct slice line)
{
    for (size_t i = 0; i < line.n; i++) {
        char c = line.p[i];
        if ((c == '<' || c == '[' || c == ']') && may_match_at(line, i)) {
            return true;
        }
    }
    return may_match_role(line);
}
