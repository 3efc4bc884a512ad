/* SPDX-License-Identifier: Apache-2.0 */
/* The table-driven reader: a struct's fields named once, read and checked by one function.
 *
 * Types are strict because YAML's are not: a value is a text unless the table says otherwise, so
 * `no`, `1.0` and `on` stay what was written. */
#include "service/yaml/doc.h"

#include <inttypes.h>

enum { NAME_COMPARED_BYTES = 64 };

struct reader {
    struct yaml_doc *doc;
    struct err_detail *detail;
};

static const char *kind_name(enum yaml_kind kind)
{
    switch (kind) {
    case YAML_SCALAR: return "a text";
    case YAML_LIST: return "a list";
    case YAML_MAP: return "a map";
    }
    return "";
}

static bool expect_kind(const struct reader *r, const struct yaml_node *node, enum yaml_kind kind)
{
    if (node->kind != kind) {
        yaml_error(r->doc, node->line, node->key, r->detail, "must be %s; it is %s",
                   kind_name(kind), kind_name(node->kind));
    }
    return node->kind == kind;
}

static bool read_text(const struct reader *r, const struct yaml_node *node, void *ret_text)
{
    if (!expect_kind(r, node, YAML_SCALAR)) {
        return false;
    }
    if (node->text.n == 0) {
        yaml_error(r->doc, node->line, node->key, r->detail,
                   "is an empty text; write a value or remove the key");
        return false;
    }
    memcpy(ret_text, &node->text, sizeof(node->text));
    return true;
}

static bool read_flag(const struct reader *r, const struct yaml_node *node, void *ret_flag)
{
    bool value = node->kind == YAML_SCALAR && slice_is(node->text, "true");
    if (node->kind != YAML_SCALAR || node->quoted || (!value && !slice_is(node->text, "false"))) {
        yaml_error(r->doc, node->line, node->key, r->detail,
                   "must be true or false, in lower case and without quotes");
        return false;
    }
    memcpy(ret_flag, &value, sizeof(value));
    return true;
}

/* Plain decimal without sign +, leading zeros or underscores: what YAML readers disagree about. */
static bool parse_integer(struct slice text, int64_t *ret_value)
{
    bool negative = text.n > 0 && text.p[0] == '-';
    struct slice digits = negative ? slice_skip(text, 1) : text;
    if (digits.n == 0 || digits.n > 18 || (digits.p[0] == '0' && (digits.n > 1 || negative))) {
        return false;
    }
    int64_t value = 0;
    for (size_t i = 0; i < digits.n; i++) {
        if (digits.p[i] < '0' || digits.p[i] > '9') {
            return false;
        }
        value = value * 10 + (digits.p[i] - '0');
    }
    *ret_value = negative ? -value : value;
    return true;
}

static bool read_integer(const struct reader *r, const struct yaml_node *node,
                         const struct yaml_field *field, void *ret_value)
{
    int64_t value = 0;
    if (node->kind != YAML_SCALAR || node->quoted || !parse_integer(node->text, &value) ||
        value < field->min || value > field->max) {
        yaml_error(r->doc, node->line, node->key, r->detail,
                   "must be a whole number from %" PRId64 " to %" PRId64 ", without quotes",
                   field->min, field->max);
        return false;
    }
    memcpy(ret_value, &value, sizeof(value));
    return true;
}

static struct slice text_of(const struct yaml_node *node)
{
    return node->text;
}

static bool check_items(const struct reader *r, const struct yaml_node *list)
{
    for (const struct yaml_node *item = list->first; item; item = item->next) {
        if (item->kind != YAML_SCALAR || item->text.n == 0) {
            yaml_error(r->doc, item->line, list->key, r->detail,
                       "must be a list of texts that are not empty");
            return false;
        }
    }
    const struct yaml_node *repeated = yaml_find_repeated(list->first, list->n, text_of);
    if (repeated) {
        yaml_error(r->doc, repeated->line, list->key, r->detail, "lists `%.64s` twice; keep one",
                   repeated->text.p);
    }
    return !repeated;
}

static bool read_text_list(const struct reader *r, const struct yaml_node *node, void *ret_texts)
{
    if (node->kind != YAML_LIST) {
        yaml_error(r->doc, node->line, node->key, r->detail,
                   "must be a list, as in [one, two]; it is %s", kind_name(node->kind));
        return false;
    }
    if (!check_items(r, node)) {
        return false;
    }
    struct yaml_texts texts = {arena_alloc(&r->doc->arena, node->n * sizeof(struct slice)), 0};
    for (const struct yaml_node *item = node->first; item; item = item->next) {
        texts.items[texts.n++] = item->text;
    }
    memcpy(ret_texts, &texts, sizeof(texts));
    return true;
}

static bool read_value(const struct reader *r, const struct yaml_node *node,
                       const struct yaml_field *field, void *ret_value)
{
    switch (field->type) {
    case YAML_TEXT: return read_text(r, node, ret_value);
    case YAML_FLAG: return read_flag(r, node, ret_value);
    case YAML_INTEGER: return read_integer(r, node, field, ret_value);
    case YAML_TEXT_LIST: return read_text_list(r, node, ret_value);
    case YAML_SUBTREE: *(const struct yaml_node **)ret_value = node; return true;
    }
    return false;
}

static size_t least(size_t a, size_t b, size_t c)
{
    size_t ab = a < b ? a : b;
    return ab < c ? ab : c;
}

/* Levenshtein distance over the first NAME_COMPARED_BYTES of both. */
static size_t distance(struct slice a, struct slice b)
{
    size_t row[NAME_COMPARED_BYTES + 1];
    size_t n = b.n < NAME_COMPARED_BYTES ? b.n : NAME_COMPARED_BYTES;
    for (size_t j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (size_t i = 0; i < a.n && i < NAME_COMPARED_BYTES; i++) {
        size_t diagonal = row[0];
        row[0] = i + 1;
        for (size_t j = 0; j < n; j++) {
            size_t above = row[j + 1];
            row[j + 1] = least(above + 1, row[j] + 1, diagonal + (a.p[i] != b.p[j]));
            diagonal = above;
        }
    }
    return row[n];
}

static const struct yaml_field *nearest(struct slice key, const struct yaml_field *fields,
                                        size_t n_fields)
{
    const struct yaml_field *best = &fields[0];
    for (size_t i = 1; i < n_fields; i++) {
        if (distance(key, slice_of(fields[i].key)) < distance(key, slice_of(best->key))) {
            best = &fields[i];
        }
    }
    return best;
}

static size_t find_field(struct slice key, const struct yaml_field *fields, size_t n_fields)
{
    size_t i = 0;
    while (i < n_fields && !slice_is(key, fields[i].key)) {
        i++;
    }
    return i;
}

static bool check_required(const struct reader *r, const struct yaml_node *map,
                           const struct yaml_field *fields, size_t n_fields)
{
    for (size_t i = 0; i < n_fields; i++) {
        const struct yaml_node *child = map->first;
        while (child && !slice_is(child->key, fields[i].key)) {
            child = child->next;
        }
        if (fields[i].required && !child) {
            yaml_error(r->doc, map->line, slice_of(fields[i].key), r->detail,
                       "is missing%s%.*s; add it", map->key.p ? " from " : "",
                       yaml_shown_bytes(map->key), map->key.p ? map->key.p : "");
            return false;
        }
    }
    return true;
}

bool yaml_read(struct yaml_doc *doc, const struct yaml_node *map, const struct yaml_field *fields,
               size_t n_fields, void *ret_struct, struct err_detail *detail)
{
    struct reader r = {doc, detail};
    if (!expect_kind(&r, map, YAML_MAP)) {
        return false;
    }
    for (const struct yaml_node *child = map->first; child; child = child->next) {
        size_t at = find_field(child->key, fields, n_fields);
        if (at == n_fields) {
            yaml_error(doc, child->line, child->key, detail,
                       "is unknown; the nearest known key is `%s`",
                       n_fields ? nearest(child->key, fields, n_fields)->key : "");
            return false;
        }
        if (!read_value(&r, child, &fields[at], (char *)ret_struct + fields[at].offset)) {
            return false;
        }
    }
    return check_required(&r, map, fields, n_fields);
}
