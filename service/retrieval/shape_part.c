/* SPDX-License-Identifier: Apache-2.0 */
/* One way for every field that is no passage: whatever came with a document is neutralised, ids and
 * URLs too, since a client may show any of them to its model. */
#include "service/retrieval/shape_part.h"

#include "service/retrieval/neutralise.h"

void shape_member_line(struct json_writer *w, const char *key, struct slice value)
{
    struct dynbuf line;
    dynbuf_init(&line, SIZE_MAX);
    neutralise_line(&line, value, NULL);
    json_member_text(w, key, dynbuf_get(&line));
    dynbuf_done(&line);
}

size_t shape_reply_size(struct slice json, enum rendering rendering)
{
    return json.n + (rendering == RENDER_MCP ? json_text_size(json) : 0);
}

void shape_member_version(struct json_writer *w, const char *index_version)
{
    json_member_text_z(w, "index_version", index_version ? index_version : "unknown");
}
