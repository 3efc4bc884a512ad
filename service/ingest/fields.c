/* SPDX-License-Identifier: Apache-2.0 */
/* Labels decide who may read a text, so nothing here guesses: a field of the wrong type or a name
 * outside the rule leaves the document out instead of publishing it under fewer labels. */
#include "service/ingest/fields.h"

#include "service/base/utf8.h"
#include "service/ingest/outline.h"
#include "service/ingest/words.h"
#include "service/retrieval/neutralise.h"
#include "service/retrieval/shape.h"
#include "service/retrieval/text.h"

#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

static bool fail(char *ret_reason, const char *field, const char *rule)
{
    snprintf(ret_reason, FIELD_REASON_BYTES, "%s: %s", field, rule);
    return false;
}

static struct slice json_slice(const json_t *text)
{
    return (struct slice){json_string_value(text), json_string_length(text)};
}

static bool labels_from_json(const json_t *list, struct arena *arena, struct fields *f,
                             char *ret_reason)
{
    size_t n = json_array_size(list);
    if (!json_is_array(list) || n > FIELD_LABELS_MAX) {
        return fail(ret_reason, "labels", "write a list of at most 16 names");
    }
    struct slice *labels = arena_alloc(arena, n * sizeof(*labels));
    for (size_t i = 0; i < n; i++) {
        const json_t *label = json_array_get(list, i);
        if (!json_is_string(label)) {
            return fail(ret_reason, "labels", "write a list of names, each in quotes");
        }
        labels[i] = arena_copy(arena, json_slice(label));
    }
    f->labels = labels;
    f->n_labels = n;
    f->has_labels = true;
    return true;
}

bool fields_from_json(const json_t *object, struct arena *arena, struct fields *ret_fields,
                      char ret_reason[FIELD_REASON_BYTES])
{
    struct fields f = {0};
    const struct {
        const char *key;
        struct slice *value;
    } texts[] = {{"id", &f.id},
                 {"title", &f.title},
                 {"source_url", &f.source_url},
                 {"collection", &f.collection},
                 {"doc_type", &f.doc_type},
                 {"published", &f.published}};
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        const json_t *value = json_object_get(object, texts[i].key);
        if (value && !json_is_null(value) && !json_is_string(value)) {
            return fail(ret_reason, texts[i].key, "write a text in quotes");
        }
        if (json_is_string(value)) {
            *texts[i].value = arena_copy(arena, json_slice(value));
        }
    }
    const json_t *labels = json_object_get(object, "labels");
    if (labels && !json_is_null(labels) && !labels_from_json(labels, arena, &f, ret_reason)) {
        return false;
    }
    *ret_fields = f;
    return true;
}

void fields_default(struct fields *f, const struct fields *fallback)
{
    struct slice *own[] = {&f->id,         &f->title,    &f->source_url,
                           &f->collection, &f->doc_type, &f->published};
    const struct slice other[] = {fallback->id,         fallback->title,    fallback->source_url,
                                  fallback->collection, fallback->doc_type, fallback->published};
    for (size_t i = 0; i < sizeof(own) / sizeof(own[0]); i++) {
        *own[i] = own[i]->p ? *own[i] : other[i];
    }
    if (!f->has_labels) {
        f->labels = fallback->labels;
        f->n_labels = fallback->n_labels;
        f->has_labels = fallback->has_labels;
    }
}

static int compare_slices(const void *a, const void *b)
{
    return slice_cmp(*(const struct slice *)a, *(const struct slice *)b);
}

static bool resolve_labels(const struct fields *f, struct arena *arena, struct doc_scope *scope,
                           char *ret_reason)
{
    struct slice *labels = arena_alloc(arena, f->n_labels * sizeof(*labels));
    size_t n = 0;
    for (size_t i = 0; i < f->n_labels; i++) {
        labels[i] = f->labels[i];
        if (!scope_name_is_valid(labels[i])) {
            return fail(ret_reason, "labels",
                        "a label is 1 to 64 letters, digits, dots, underscores and hyphens");
        }
    }
    if (f->n_labels) {
        qsort(labels, f->n_labels, sizeof(*labels), compare_slices);
    }
    for (size_t i = 0; i < f->n_labels; i++) {
        if (n == 0 || !slice_eq(labels[n - 1], labels[i])) {
            labels[n++] = labels[i];
        }
    }
    scope->labels = labels;
    scope->n_labels = n;
    return n <= FIELD_LABELS_MAX || fail(ret_reason, "labels", "at most 16");
}

static bool resolve_name(struct slice name, const char *field, const char *option, char *ret_reason)
{
    char rule[128];
    if (!name.p) {
        snprintf(rule, sizeof(rule), "not given; name it in a manifest or front matter, or with %s",
                 option);
        return fail(ret_reason, field, rule);
    }
    return scope_name_is_valid(name) ||
           fail(ret_reason, field,
                "a name is 1 to 64 letters, digits, dots, underscores and hyphens");
}

static bool has_control(struct slice s)
{
    for (size_t i = 0; i < s.n; i++) {
        unsigned char c = (unsigned char)s.p[i];
        if (c < 0x20 || c == 0x7F) {
            return true;
        }
    }
    return false;
}

/* A caller gets an id as the neutraliser leaves it and asks with that for the document. */
static bool is_shown_as_it_is(struct slice id)
{
    struct dynbuf shown;
    dynbuf_init(&shown, SIZE_MAX);
    neutralise_line(&shown, id, NULL);
    bool same = slice_eq(dynbuf_get(&shown), id);
    dynbuf_done(&shown);
    return same;
}

static bool resolve_id(struct slice id, struct arena *arena, struct slice *ret_id, char *ret_reason)
{
    if (id.n == 0) {
        return fail(ret_reason, "id", "not given; a record needs an id of its own");
    }
    if (id.n > FIELD_ID_MAX_BYTES || !utf8_is_valid(id) || has_control(id)) {
        return fail(ret_reason, "id",
                    "write at most 512 bytes of UTF-8 without control characters");
    }
    *ret_id = text_nfc(id, arena);
    if (ret_id->n > FIELD_ID_MAX_BYTES) {
        return fail(ret_reason, "id", "longer than 512 bytes");
    }
    return is_shown_as_it_is(*ret_id) ||
           fail(ret_reason, "id",
                "holds characters that answers cannot show as they are (invisible, "
                "direction-changing, or markup); rename the file or give another id");
}

static bool resolve_title(struct slice title, struct arena *arena, struct slice *ret_title,
                          char *ret_reason)
{
    if (title.p && (!utf8_is_valid(title) || memchr(title.p, 0, title.n))) {
        return fail(ret_reason, "title", "not a text");
    }
    struct dynbuf line;
    dynbuf_init(&line, OUTLINE_MAX_BYTES);
    outline_add_line(&line, title);
    struct slice whole = text_nfc(arena_copy(arena, dynbuf_get(&line)), arena);
    dynbuf_done(&line);
    if (whole.n > FIELD_TITLE_MAX_BYTES) {
        whole.n = words_fit(whole, SIZE_MAX, FIELD_TITLE_MAX_BYTES);
    }
    *ret_title = whole;
    return true;
}

/* A client may make a link of it, and no other scheme is safe to click on. */
static bool has_safe_scheme(struct slice url)
{
    static const char *const starts[] = {"https://", "http://", "mailto:"};
    for (size_t i = 0; i < sizeof(starts) / sizeof(starts[0]); i++) {
        size_t n = strlen(starts[i]);
        if (url.n > n && strncasecmp(url.p, starts[i], n) == 0) {
            return true;
        }
    }
    return false;
}

static bool resolve_url(struct slice url, struct slice *ret_url, char *ret_reason)
{
    if (url.n > FIELD_URL_MAX_BYTES || has_control(url) || !utf8_is_valid(url)) {
        return fail(ret_reason, "source_url", "write an address of at most 2048 bytes");
    }
    *ret_url = url.n ? url : SLICE_NONE;
    return url.n == 0 || has_safe_scheme(url) ||
           fail(ret_reason, "source_url", "write an address with http:, https: or mailto:");
}

static bool resolve_date(struct slice date, int32_t *ret_days, char *ret_reason)
{
    return !date.p || date_parse(date, ret_days) ||
           fail(ret_reason, "published", "write a date as YYYY-MM-DD");
}

bool fields_check(const struct fields *f, struct arena *arena, char ret_reason[FIELD_REASON_BYTES])
{
    struct document_head head = {.published = NO_DATE};
    return (!f->collection.p || resolve_name(f->collection, "collection", "", ret_reason)) &&
           (!f->doc_type.p || resolve_name(f->doc_type, "doc_type", "", ret_reason)) &&
           resolve_labels(f, arena, &head.scope, ret_reason) &&
           (!f->id.p || resolve_id(f->id, arena, &head.doc_id, ret_reason)) &&
           resolve_title(f->title, arena, &head.title, ret_reason) &&
           resolve_url(f->source_url, &head.source_url, ret_reason) &&
           resolve_date(f->published, &head.published, ret_reason);
}

bool fields_resolve(const struct fields *f, struct arena *arena, struct document_head *ret_head,
                    char ret_reason[FIELD_REASON_BYTES])
{
    struct document_head head = {.published = NO_DATE};
    if (!resolve_name(f->collection, "collection", "--collection", ret_reason) ||
        !resolve_name(f->doc_type, "doc_type", "--doc-type", ret_reason) ||
        !resolve_labels(f, arena, &head.scope, ret_reason) ||
        !resolve_id(f->id, arena, &head.doc_id, ret_reason) ||
        !resolve_title(f->title, arena, &head.title, ret_reason) ||
        !resolve_url(f->source_url, &head.source_url, ret_reason)) {
        return false;
    }
    if (!resolve_date(f->published, &head.published, ret_reason)) {
        return false;
    }
    head.scope.collection = f->collection;
    head.scope.doc_type = f->doc_type;
    *ret_head = head;
    return true;
}
