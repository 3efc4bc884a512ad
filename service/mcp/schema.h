/* SPDX-License-Identifier: Apache-2.0 */
/* schema: JSON Schema in the few keywords that every client's dialect accepts: type, properties,
 * required, additionalProperties, description, enum, items, minimum, maximum.
 *
 * Private to this folder. */
#ifndef MCP_SCHEMA_H
#define MCP_SCHEMA_H

#include "service/base/json_write.h"

/* {"type":"object","properties":{ — and what closes it. required: a JSON array. */
void schema_object_begin(struct json_writer *w);
void schema_object_end(struct json_writer *w, struct slice required);

/* "key":{"type":type,"description":description — left open for more keywords. */
void schema_property_begin(struct json_writer *w, const char *key, const char *type,
                           const char *description);
void schema_range(struct json_writer *w, int64_t minimum, int64_t maximum);
void schema_property_end(struct json_writer *w);

/* A property without more keywords. */
void schema_property(struct json_writer *w, const char *key, const char *type,
                     const char *description);

#endif
