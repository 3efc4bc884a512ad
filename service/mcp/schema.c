/* SPDX-License-Identifier: Apache-2.0 */
/* Some hosts refuse a whole tool list for one keyword they do not know (exclusiveMinimum, const,
 * $ref, a root anyOf), so there is no way here to write another one. */
#include "service/mcp/schema.h"

void schema_object_begin(struct json_writer *w)
{
    json_object_begin(w);
    json_member_text_z(w, "type", "object");
    json_key(w, "properties");
    json_object_begin(w);
}

void schema_object_end(struct json_writer *w, struct slice required)
{
    json_object_end(w);
    json_member_raw(w, "required", required);
    json_member_bool(w, "additionalProperties", false);
    json_object_end(w);
}

void schema_property_begin(struct json_writer *w, const char *key, const char *type,
                           const char *description)
{
    json_key(w, key);
    json_object_begin(w);
    json_member_text_z(w, "type", type);
    json_member_text_z(w, "description", description);
}

void schema_range(struct json_writer *w, int64_t minimum, int64_t maximum)
{
    json_member_int(w, "minimum", minimum);
    json_member_int(w, "maximum", maximum);
}

void schema_property_end(struct json_writer *w)
{
    json_object_end(w);
}

void schema_property(struct json_writer *w, const char *key, const char *type,
                     const char *description)
{
    schema_property_begin(w, key, type, description);
    schema_property_end(w);
}
