/* SPDX-License-Identifier: Apache-2.0 */
/* Foreign entries become empty lines, so that line numbers in errors stay those of the file. Only
 * an entry whose key is plain and foreign goes; anything that looks odd is left for the strict
 * parser to refuse, since a label that was overlooked would publish a text to the wrong readers. */
#include "service/ingest/front_matter.h"

#include "service/ingest/keys.h"
#include "service/ingest/words.h"
#include "service/retrieval/shape.h"
#include "service/yaml/yaml.h"

#include <stdio.h>
#include <stdlib.h>

static const char FILE_NAME[] = "front matter";
enum { DATE_CHARS = 10 };

static struct slice without_newline(struct slice line)
{
    while (line.n && (line.p[line.n - 1] == '\n' || line.p[line.n - 1] == ' ')) {
        line.n--;
    }
    return line;
}

size_t front_matter_size(struct slice bytes)
{
    size_t at = words_line(bytes);
    if (!slice_is(without_newline((struct slice){bytes.p, at}), "---")) {
        return 0;
    }
    while (at < bytes.n) {
        size_t n = words_line(slice_skip(bytes, at));
        struct slice line = without_newline((struct slice){bytes.p + at, n});
        at += n;
        if (slice_is(line, "---") || slice_is(line, "...")) {
            return at;
        }
    }
    return 0; /* a rule above the text, not front matter */
}

static bool is_key_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static bool is_known(struct slice key)
{
    static const char *const known[] = {"title",    "published", "date",      "collection",
                                        "doc_type", "labels",    "source_url"};
    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++) {
        if (slice_is(key, known[i])) {
            return true;
        }
    }
    return false;
}

/* Whether the line begins an entry with a plain key; SLICE_NONE: it does not. */
static struct slice plain_key(struct slice line)
{
    size_t n = 0;
    while (n < line.n && is_key_char(line.p[n])) {
        n++;
    }
    bool ends = n && line.p[0] != '-' && n < line.n && line.p[n] == ':' &&
                (n + 1 == line.n || line.p[n + 1] == ' ' || line.p[n + 1] == '\n');
    return ends ? (struct slice){line.p, n} : SLICE_NONE;
}

static bool continues_entry(struct slice line)
{
    if (line.n == 0) {
        return true;
    }
    char c = line.p[0];
    return c == ' ' || c == '\t' || c == '\n' || c == '-' || c == '#';
}

/* Whether what is indented below an entry can belong to its value. */
static bool has_open_value(struct slice line, size_t n_key)
{
    struct slice value = without_newline(slice_skip(line, n_key + 1));
    while (value.n && value.p[0] == ' ') {
        value = slice_skip(value, 1);
    }
    return value.n == 0 || strchr("|>[{\"'&!*#", value.p[0]);
}

/* An indented entry that says who reads. */
static bool is_inner_decision(struct slice line)
{
    while (line.n && (line.p[0] == ' ' || line.p[0] == '\t')) {
        line = slice_skip(line, 1);
    }
    struct slice key = plain_key(line);
    return key.p && (key_decides(key) || key_meant(key));
}

/* The entries that are ours or may be meant to be, on their own lines. What is indented stands for
 * itself before the first key. */
static void add_own_entries(struct dynbuf *out, struct slice front)
{
    bool foreign = false, open = true, first = true; /* first: the opening --- */
    while (front.n) {
        struct slice line = {front.p, words_line(front)};
        struct slice key = plain_key(line);
        if (key.p) {
            foreign = !is_known(key) && !key_meant(key);
            open = has_open_value(line, key.n);
        } else if (!continues_entry(line) || (!open && is_inner_decision(line))) {
            foreign = false;
        }
        bool last = line.n == front.n;
        dynbuf_add(out, foreign || first || last ? SLICE_LIT("\n") : line);
        first = false;
        front = slice_skip(front, line.n);
    }
}

static bool fail(const struct yaml_node *node, const char *rule, uint64_t *ret_line,
                 char *ret_reason)
{
    *ret_line = (uint64_t)node->line;
    snprintf(ret_reason, FIELD_REASON_BYTES, "%.64s: %s", node->key.p, rule);
    return false;
}

static bool fail_meant(const struct yaml_node *node, const char *meant, uint64_t *ret_line,
                       char *ret_reason)
{
    char rule[64];
    snprintf(rule, sizeof(rule), "not read; write %s if that is meant", meant);
    return fail(node, rule, ret_line, ret_reason);
}

static bool take_labels(const struct yaml_node *node, struct arena *arena, struct fields *f)
{
    size_t n = node->kind == YAML_LIST ? node->n : 1;
    struct slice *labels = arena_alloc(arena, n * sizeof(*labels));
    const struct yaml_node *label = node->kind == YAML_LIST ? node->first : node;
    for (size_t i = 0; i < n; i++, label = label->next) {
        if (label->kind != YAML_SCALAR) {
            return false;
        }
        labels[i] = arena_copy(arena, label->text);
    }
    f->labels = labels;
    f->n_labels = n;
    f->has_labels = true;
    return n <= FIELD_LABELS_MAX;
}

static bool is_flag(const struct yaml_node *node)
{
    return !node->quoted && (slice_is(node->text, "true") || slice_is(node->text, "false"));
}

/* A date, also with a time behind it; SLICE_NONE for anything else. */
static struct slice date_of(struct slice text)
{
    int32_t days;
    struct slice date = {text.p, text.n < DATE_CHARS ? text.n : DATE_CHARS};
    bool alone = text.n == date.n || text.p[date.n] == ' ' || text.p[date.n] == 'T';
    return alone && date_parse(date, &days) ? date : SLICE_NONE;
}

static void take_date(const struct yaml_node *node, struct arena *arena, struct fields *f)
{
    bool own = slice_is(node->key, "published");
    if (own && !is_flag(node)) {
        f->published = arena_copy(arena, node->text);
    } else if (!own && !f->published.p) {
        f->published = arena_copy(arena, date_of(node->text));
    }
}

static bool take(const struct yaml_node *node, struct arena *arena, struct fields *f,
                 uint64_t *ret_line, char *ret_reason)
{
    if (slice_is(node->key, "labels")) {
        return take_labels(node, arena, f) ||
               fail(node, "write a list of at most 16 names", ret_line, ret_reason);
    }
    if (!is_known(node->key)) {
        const char *meant = key_meant(node->key);
        return !meant || fail_meant(node, meant, ret_line, ret_reason);
    }
    if (node->kind != YAML_SCALAR) {
        return fail(node, "write one text", ret_line, ret_reason);
    }
    struct slice *text = slice_is(node->key, "title")        ? &f->title
                         : slice_is(node->key, "collection") ? &f->collection
                         : slice_is(node->key, "doc_type")   ? &f->doc_type
                         : slice_is(node->key, "source_url") ? &f->source_url
                                                             : NULL;
    if (text) {
        *text = arena_copy(arena, node->text);
    } else {
        take_date(node, arena, f);
    }
    return true;
}

/* "front matter:LINE: reason" of the parser in its two parts. */
static void split_error(const struct err_detail *detail, uint64_t *ret_line, char *ret_reason)
{
    const char *text = detail->text;
    size_t n = sizeof(FILE_NAME) - 1;
    *ret_line = 0;
    if (strncmp(text, FILE_NAME, n) == 0 && text[n] == ':') {
        char *end;
        *ret_line = strtoul(text + n + 1, &end, 10);
        text = *ret_line && end[0] == ':' && end[1] == ' ' ? end + 2 : text;
    }
    snprintf(ret_reason, FIELD_REASON_BYTES, "front matter: %.200s", text);
}

static bool is_blank(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        if (s.p[i] != '\n' && s.p[i] != ' ') {
            return false;
        }
    }
    return true;
}

bool front_matter_read(struct slice front, struct arena *arena, struct fields *ret_fields,
                       uint64_t *ret_line, char ret_reason[FIELD_REASON_BYTES])
{
    struct dynbuf own;
    struct err_detail detail = {0};
    bool ok = true;
    *ret_fields = (struct fields){0};
    dynbuf_init(&own, front.n + 1);
    add_own_entries(&own, front);
    if (!is_blank(dynbuf_get(&own))) {
        struct yaml_doc *doc = yaml_parse(dynbuf_get(&own), FILE_NAME, &detail);
        const struct yaml_node *node = doc ? yaml_root(doc)->first : NULL;
        for (; ok && node; node = node->next) {
            ok = take(node, arena, ret_fields, ret_line, ret_reason);
        }
        if (!doc) {
            split_error(&detail, ret_line, ret_reason);
            ok = false;
        }
        yaml_doc_free(doc);
    }
    dynbuf_done(&own);
    return ok;
}
