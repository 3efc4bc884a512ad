/* SPDX-License-Identifier: Apache-2.0 */
/* strict_json: JSON objects with exactly one reading (RFC 8725 §2.4). Private to auth/.
 *
 * Refused: anything but an object, a name twice at any depth, bytes after the value, NUL as a byte
 * or as \u0000, ill-formed UTF-8, numbers that overflow, nesting or members past their ceilings. */
#ifndef AUTH_STRICT_JSON_H
#define AUTH_STRICT_JSON_H

#include "service/base/slice.h"

#include <jansson.h>

enum { STRICT_JSON_MAX_DEPTH = 8 }; /* the outermost object is 1 */

/* max_members counts those of all objects together. NULL where it is refused; json_decref. */
json_t *strict_json_object(struct slice text, size_t max_members);

/* The bytes of a JSON string, borrowed from it; SLICE_NONE for NULL and for any other type. */
struct slice strict_json_text(const json_t *value);

#endif
