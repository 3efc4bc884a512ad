/* SPDX-License-Identifier: Apache-2.0 */
/* keys: slips of the pen in the names of the members that decide who may read a document.
 *
 * `lables: [hr]` that is passed over like a stranger's key would publish the document under the
 * labels of the command line. Pure. */
#ifndef INGEST_KEYS_H
#define INGEST_KEYS_H

#include "service/base/slice.h"

#include <stdbool.h>

/* Whether `key` is labels, collection or doc_type. */
bool key_decides(struct slice key);

/* Which of these three was meant by a key that is none of them but one slip away (a character
 * more, less or other, two swapped; case, hyphens, underscores, spaces and a plural do not count);
 * NULL: none. */
const char *key_meant(struct slice key);

#endif
