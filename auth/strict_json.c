/* SPDX-License-Identifier: Apache-2.0 */
/* Ceilings are checked in one scan before parsing, because the parser recurses and allocates as it
 * reads. In well-formed JSON every member has one colon outside strings; what is ill-formed may be
 * counted wrongly here but does not parse either. */
#include "auth/strict_json.h"

struct scan {
    size_t depth, members;
    bool in_text, escaped;
};

static void scan_text_byte(struct scan *s, char c)
{
    if (s->escaped) {
        s->escaped = false;
    } else if (c == '\\') {
        s->escaped = true;
    } else if (c == '"') {
        s->in_text = false;
    }
}

static void scan_byte(struct scan *s, char c)
{
    if (s->in_text) {
        scan_text_byte(s, c);
    } else if (c == '"') {
        s->in_text = true;
    } else if (c == '{' || c == '[') {
        s->depth++;
    } else if ((c == '}' || c == ']') && s->depth > 0) {
        s->depth--;
    } else if (c == ':') {
        s->members++;
    }
}

static bool is_within_ceilings(struct slice text, size_t max_members)
{
    struct scan s = {0};
    for (size_t i = 0; i < text.n; i++) {
        scan_byte(&s, text.p[i]);
        if (s.depth > STRICT_JSON_MAX_DEPTH || s.members > max_members || text.p[i] == '\0') {
            return false;
        }
    }
    return true;
}

json_t *strict_json_object(struct slice text, size_t max_members)
{
    if (text.n == 0 || !is_within_ceilings(text, max_members)) {
        return NULL;
    }
    json_t *value = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES, NULL);
    if (value && !json_is_object(value)) {
        json_decref(value);
        value = NULL;
    }
    return value;
}

struct slice strict_json_text(const json_t *value)
{
    if (!json_is_string(value)) {
        return SLICE_NONE;
    }
    return (struct slice){json_string_value(value), json_string_length(value)};
}
