/* SPDX-License-Identifier: Apache-2.0 */
/* The limits are tested before the parser sees the text: jansson goes 2,048 levels deep and builds
 * a node for every element, so the work a caller can cause is bounded here, in one linear pass.
 * RFC 8259 leaves such limits to the implementation (§9). */
#include "service/mcp/json_limits.h"
#include "service/mcp/message.h"

struct scan {
    size_t depth, members;
    bool in_string, escaped;
    bool
        opened; /* the last thing seen is an opening bracket: what follows may be a first element */
};

static void scan_string(struct scan *s, char c)
{
    if (s->escaped) {
        s->escaped = false;
    } else if (c == '\\') {
        s->escaped = true;
    } else if (c == '"') {
        s->in_string = false;
    }
}

static bool is_space(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static void scan_structure(struct scan *s, char c)
{
    bool closes = c == ']' || c == '}';
    if (c == ',' || (s->opened && !closes)) {
        s->members++;
    }
    s->opened = c == '[' || c == '{';
    if (s->opened) {
        s->depth++;
    } else if (closes && s->depth > 0) {
        s->depth--;
    }
    s->in_string = c == '"';
}

bool json_within_limits(struct slice text)
{
    struct scan s = {0};
    if (text.n > MCP_MAX_BODY_BYTES) {
        return false;
    }
    for (size_t i = 0; i < text.n; i++) {
        if (s.in_string) {
            scan_string(&s, text.p[i]);
        } else if (!is_space(text.p[i])) {
            scan_structure(&s, text.p[i]);
        }
        if (s.depth > MCP_MAX_DEPTH || s.members > MCP_MAX_MEMBERS) {
            return false;
        }
    }
    return true;
}

json_t *mcp_json_parse(struct slice text)
{
    if (!text.p || !json_within_limits(text)) {
        return NULL;
    }
    size_t flags = JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL | JSON_DECODE_ANY;
    return json_loadb(text.p, text.n, flags, NULL);
}
