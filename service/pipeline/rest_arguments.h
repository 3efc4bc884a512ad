/* SPDX-License-Identifier: Apache-2.0 */
/* rest_arguments: the query string of GET /v1/search as the same JSON object that POST sends. Pure.
 */
#ifndef PIPELINE_REST_ARGUMENTS_H
#define PIPELINE_REST_ARGUMENTS_H

#include "service/base/slice.h"

#include <jansson.h>

enum { REST_QUERY_MAX_BYTES = 32 * 1024 };

/* q is short for query; every value is a string (RFC 3986 percent-encoding, '+' a space). NULL for
 * a broken escape, a name twice, ill-formed UTF-8 or a query string over the limit. */
json_t *rest_arguments_parse(struct slice query_string);

#endif
