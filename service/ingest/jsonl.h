/* SPDX-License-Identifier: Apache-2.0 */
/* jsonl: one JSON object a line.
 *
 * Duplicate keys are refused. Blank lines are passed over. Pure. */
#ifndef INGEST_JSONL_H
#define INGEST_JSONL_H

#include "service/ingest/fields.h"

/* A file without the byte order mark that it may begin with. */
struct slice jsonl_without_mark(struct slice bytes);

/* The next line that is not blank; false: there is none. Both go on behind it: *bytes to what is
 * left, *line by the lines passed. */
bool jsonl_next(struct slice *bytes, uint64_t *line, struct slice *ret_text);

/* The object that a line holds, to be released; NULL with a reason. */
json_t *jsonl_parse(struct slice text, char ret_reason[FIELD_REASON_BYTES]);

/* Calls on_line for each line, in order, from line 1. object is NULL for a broken line, with the
 * reason; both are borrowed until on_line returns. */
void jsonl_each(struct slice bytes,
                void (*on_line)(void *arg, uint64_t line, const json_t *object, const char *reason),
                void *arg);

enum {
    RECORD_TEXT_MAX_BYTES = 256 * 1024, /* a ready chunk */
    RECORD_CONTEXT_MAX_BYTES = 8 * 1024,
};

enum record_format { RECORD_TEXT, RECORD_MARKDOWN, RECORD_HTML };

/* A ready chunk (text, perhaps context) or a document to be cut (body); the others SLICE_NONE. */
struct record {
    struct fields fields;
    struct slice text, context, body;
    enum record_format format; /* of body: member `format`, "markdown" or "html"; else plain text */
};

/* The members of a record that are texts, and where they go; the others are `labels` and `format`.
 */
enum { RECORD_TEXTS_N = 9 };
extern const struct record_text {
    const char *key;
    size_t offset; /* in struct record */
} RECORD_TEXTS[RECORD_TEXTS_N];

/* Of member `format`, SLICE_NONE where there is none. */
enum record_format record_format_of(struct slice name);

/* Whether it is a chunk or a document, neither empty nor too large; false with a reason. */
bool record_check(const struct record *r, char ret_reason[FIELD_REASON_BYTES]);

/* Members it does not know are not looked at, unless their names are a slip away from labels,
 * collection or doc_type. False with a reason. */
bool record_from_json(const json_t *object, struct arena *arena, struct record *ret_record,
                      char ret_reason[FIELD_REASON_BYTES]);

#endif
