/* SPDX-License-Identifier: Apache-2.0 */
/* The error stands first, since some clients show only the beginning of an answer. */
#include "service/retrieval/shape_part.h"

const char SHAPE_EMPTY_MESSAGE[] =
    "Nothing that you may see is about this query. Say that you do not know, or ask again with "
    "other words or fewer filters.";

static void add_error(struct json_writer *w, const struct shape_error *e)
{
    json_key(w, "error");
    json_object_begin(w);
    json_member_text_z(w, "type", e->type);
    shape_member_line(w, "message", slice_of(e->message));
    if (e->field) {
        shape_member_line(w, "field", slice_of(e->field));
    }
    if (e->budget) {
        json_member_text_z(w, "budget", e->budget);
    }
    if (e->retry_after_ms >= 0) {
        json_member_int(w, "retry_after_ms", e->retry_after_ms);
    }
    json_object_end(w);
}

void shape_error(struct dynbuf *out, const struct shape_error *e, const char *index_version)
{
    struct json_writer w = json_writer_on(out);
    json_object_begin(&w);
    add_error(&w, e);
    shape_member_version(&w, index_version);
    json_key(&w, "results");
    json_array_begin(&w);
    json_array_end(&w);
    json_object_end(&w);
}
