/* SPDX-License-Identifier: Apache-2.0 */
/* scan: marks passages that look like instructions to a model (docs/security.md).
 *
 * A hint beside the passage, never a boundary: it hides and alters nothing. The rules are one table
 * in scan_rules.c. Deterministic, in time linear in the text. Pure. Thread: any. */
#ifndef RETRIEVAL_SCAN_H
#define RETRIEVAL_SCAN_H

#include "service/base/slice.h"

#include <stdbool.h>

enum {
    SCAN_RULES_VERSION = 2
}; /* part of the answer profile: raise it with any change of a rule */

/* Whether a passage, as stored (not neutralised), valid UTF-8, looks like instructions to a model.
 * *ret_rule (may be NULL) names the rule that decided, NULL for none. */
bool scan_passage(struct slice text, const char **ret_rule);

#endif
