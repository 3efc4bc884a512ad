/* SPDX-License-Identifier: Apache-2.0 */
/* Lines are parsed one by one, so that a broken one costs itself and no other. */
#include "service/ingest/jsonl.h"

#include "service/ingest/keys.h"
#include "service/ingest/words.h"

#include <stddef.h>
#include <stdio.h>

const struct record_text RECORD_TEXTS[RECORD_TEXTS_N] = {
    {"id", offsetof(struct record, fields.id)},
    {"title", offsetof(struct record, fields.title)},
    {"text", offsetof(struct record, text)},
    {"collection", offsetof(struct record, fields.collection)},
    {"doc_type", offsetof(struct record, fields.doc_type)},
    {"published", offsetof(struct record, fields.published)},
    {"source_url", offsetof(struct record, fields.source_url)},
    {"context", offsetof(struct record, context)},
    {"body", offsetof(struct record, body)},
};

struct slice jsonl_without_mark(struct slice bytes)
{
    return slice_starts(bytes, SLICE_LIT("\xEF\xBB\xBF")) ? slice_skip(bytes, 3) : bytes;
}

bool jsonl_next(struct slice *bytes, uint64_t *line, struct slice *ret_text)
{
    while (bytes->n) {
        *ret_text = (struct slice){bytes->p, words_line(*bytes)};
        *bytes = slice_skip(*bytes, ret_text->n);
        ++*line;
        if (!slice_is_blank(*ret_text)) {
            return true;
        }
    }
    return false;
}

json_t *jsonl_parse(struct slice text, char ret_reason[FIELD_REASON_BYTES])
{
    json_error_t error;
    json_t *value = json_loadb(text.p, text.n, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &error);
    if (json_is_object(value)) {
        return value;
    }
    if (value) {
        snprintf(ret_reason, FIELD_REASON_BYTES, "not a JSON object");
    } else {
        snprintf(ret_reason, FIELD_REASON_BYTES, "broken JSON at column %d: %s", error.column,
                 error.text);
    }
    json_decref(value);
    return NULL;
}

void jsonl_each(struct slice bytes,
                void (*on_line)(void *arg, uint64_t line, const json_t *object, const char *reason),
                void *arg)
{
    struct slice text;
    char reason[FIELD_REASON_BYTES];
    for (uint64_t line = 0; jsonl_next(&bytes, &line, &text);) {
        json_t *object = jsonl_parse(text, reason);
        on_line(arg, line, object, reason);
        json_decref(object);
    }
}

static bool fail(char *ret_reason, const char *reason)
{
    snprintf(ret_reason, FIELD_REASON_BYTES, "%s", reason);
    return false;
}

/* A member that is a text without NUL, or absent. */
static bool take_text(const json_t *object, const char *key, struct arena *arena,
                      struct slice *ret_text, char *ret_reason)
{
    const json_t *value = json_object_get(object, key);
    *ret_text = SLICE_NONE;
    if (!value || json_is_null(value)) {
        return true;
    }
    struct slice text = {json_string_value(value), json_string_length(value)};
    if (!json_is_string(value) || memchr(text.p, 0, text.n)) {
        snprintf(ret_reason, FIELD_REASON_BYTES, "%s: has to be a text without NUL", key);
        return false;
    }
    *ret_text = arena_copy(arena, text);
    return true;
}

/* A ready chunk may be its title alone: the entry of a list, a tool without a description. */
static bool says_nothing(const struct record *r)
{
    return slice_is_blank(r->text.p ? r->text : r->body) &&
           (r->body.p || slice_is_blank(r->fields.title));
}

bool record_check(const struct record *r, char ret_reason[FIELD_REASON_BYTES])
{
    if (r->text.p && r->body.p) {
        return fail(ret_reason, "both `text` and `body`; a record is one or the other");
    }
    if (!r->text.p && !r->body.p) {
        return fail(ret_reason, "neither `text` (a ready chunk) nor `body` (a document); for a "
                                "title alone write \"text\": \"\"");
    }
    if (r->body.p && r->context.n) {
        return fail(ret_reason, "`context` goes with `text`, not with `body`");
    }
    if (says_nothing(r)) {
        return fail(ret_reason, "empty");
    }
    if (r->text.n > RECORD_TEXT_MAX_BYTES) {
        return fail(ret_reason, "text: larger than 256 KiB; give it as `body` to have it cut");
    }
    return r->context.n <= RECORD_CONTEXT_MAX_BYTES ||
           fail(ret_reason, "context: larger than 8 KiB");
}

enum record_format record_format_of(struct slice name)
{
    return slice_is(name, "markdown") ? RECORD_MARKDOWN
           : slice_is(name, "html")   ? RECORD_HTML
                                      : RECORD_TEXT;
}

/* Foreign members are passed over, but none that may have been meant to say who reads. */
static bool check_keys(const json_t *object, char *ret_reason)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)object, key, value)
    {
        const char *meant = key_meant(slice_of(key));
        if (meant) {
            snprintf(ret_reason, FIELD_REASON_BYTES, "%.64s: no field; write %s if that is meant",
                     key, meant);
            return false;
        }
    }
    return true;
}

/* A title and nothing that is not known: a text under another name is not to be lost in silence. */
static bool is_title_alone(const json_t *object, const struct record *r)
{
    size_t n = json_object_get(object, "labels") != NULL;
    n += json_object_get(object, "format") != NULL;
    for (size_t i = 0; i < RECORD_TEXTS_N; i++) {
        n += json_object_get(object, RECORD_TEXTS[i].key) != NULL;
    }
    return !r->text.p && !r->body.p && !slice_is_blank(r->fields.title) &&
           n == json_object_size(object);
}

bool record_from_json(const json_t *object, struct arena *arena, struct record *ret_record,
                      char ret_reason[FIELD_REASON_BYTES])
{
    struct record r = {0};
    if (!check_keys(object, ret_reason) ||
        !fields_from_json(object, arena, &r.fields, ret_reason) ||
        !take_text(object, "text", arena, &r.text, ret_reason) ||
        !take_text(object, "context", arena, &r.context, ret_reason) ||
        !take_text(object, "body", arena, &r.body, ret_reason)) {
        return false;
    }
    if (is_title_alone(object, &r)) {
        r.text = SLICE_LIT("");
    }
    if (!record_check(&r, ret_reason)) {
        return false;
    }
    r.format = record_format_of(slice_of(json_string_value(json_object_get(object, "format"))));
    *ret_record = r;
    return true;
}
