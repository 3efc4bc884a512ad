/* SPDX-License-Identifier: Apache-2.0 */
/* json_write: JSON with the field order its caller writes (RFC 8259).
 *
 * Pure and deterministic: no locale, no hash order, no floats. Text is UTF-8 as it stands, escaped
 * only where RFC 8259 §7 demands it; ill-formed bytes become U+FFFD. Ceiling: the dynbuf's. */
#ifndef BASE_JSON_WRITE_H
#define BASE_JSON_WRITE_H

#include "service/base/dynbuf.h"

struct json_writer {
    struct dynbuf *out;
    bool comma; /* the next value or key needs one before it */
};

static inline struct json_writer json_writer_on(struct dynbuf *out)
{
    return (struct json_writer){.out = out};
}

void json_object_begin(struct json_writer *w);
void json_object_end(struct json_writer *w);
void json_array_begin(struct json_writer *w);
void json_array_end(struct json_writer *w);

/* key is one of ours: plain ASCII, written as it stands. */
void json_key(struct json_writer *w, const char *key);

void json_text(struct json_writer *w, struct slice value);
void json_text_z(struct json_writer *w, const char *value);
void json_int(struct json_writer *w, int64_t value);
void json_bool(struct json_writer *w, bool value);

/* value is complete JSON already. */
void json_raw_value(struct json_writer *w, struct slice value);

/* Key and value in one call, the common case. */
void json_member_text(struct json_writer *w, const char *key, struct slice value);
void json_member_text_z(struct json_writer *w, const char *key, const char *value);
void json_member_int(struct json_writer *w, const char *key, int64_t value);
void json_member_bool(struct json_writer *w, const char *key, bool value);
void json_member_raw(struct json_writer *w, const char *key, struct slice value);

/* How many bytes value takes inside a JSON text, without its quotes (ill-formed bytes as U+FFFD).
 */
size_t json_text_size(struct slice value);

#endif
