/* SPDX-License-Identifier: Apache-2.0 */
/* json_limits: how big a JSON text may be, told without parsing it.
 *
 * Private to this folder. The scan follows strings and brackets only, so it says nothing about
 * whether the text is JSON. Pure. */
#ifndef MCP_JSON_LIMITS_H
#define MCP_JSON_LIMITS_H

#include "service/base/slice.h"

/* Bytes, depth and the number of members and elements are within the limits of message.h. */
bool json_within_limits(struct slice text);

#endif
