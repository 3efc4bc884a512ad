/* SPDX-License-Identifier: Apache-2.0 */
/* claim_path: the value that a policy's claim path names in a token. Private to auth/. */
#ifndef AUTH_CLAIM_PATH_H
#define AUTH_CLAIM_PATH_H

#include "service/base/arena.h"

#include <jansson.h>

/* "realm_access.roles" is two steps; `\.` is a dot inside a step. Borrowed from payload. NULL:
 * not there. *ret_blocked: something on the way is there and is no object. */
const json_t *claim_path_get(const json_t *payload, struct slice path, struct arena *arena,
                             bool *ret_blocked);

#endif
