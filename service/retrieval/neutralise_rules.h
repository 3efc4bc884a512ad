/* SPDX-License-Identifier: Apache-2.0 */
/* neutralise_rules: what is broken in a line, and where.
 *
 * Every rule breaks by putting a middle dot behind the first character of a match. No rule matches
 * across a dot or a backquote that stands between its fixed characters, and none looks at what
 * follows a match, so a line whose matches are all broken has none left, cut off or not. Pure. */
#ifndef RETRIEVAL_NEUTRALISE_RULES_H
#define RETRIEVAL_NEUTRALISE_RULES_H

#include "service/retrieval/neutralise_skeleton.h"

/* What to insert beside a code point. */
enum { INSERT_DOT_AFTER = 1, INSERT_TICK_BEFORE = 2, INSERT_TICK_AFTER = 4 };

/* Sets in marks[0..n), zeroed by the caller, what to insert; returns how many dots. */
uint32_t rules_mark(const int32_t *line, size_t n, const struct skeleton *s, unsigned char *marks);

/* Whether a rule might match a line of printable ASCII and tabs; false is certain. */
bool rules_may_match(struct slice line);

#endif
