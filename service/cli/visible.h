/* SPDX-License-Identifier: Apache-2.0 */
/* visible: text that others named, such as a file's path, for a terminal, a log or a JSON report.
 *
 * A name may hold escape sequences that rewrite a terminal, newlines that forge a line of a log,
 * and characters that turn what stands beside them around: such characters are shown as \x1b or
 * \u202e (\U000e0041 above U+FFFF), and a backslash as \\. Pure. */
#ifndef CLI_VISIBLE_H
#define CLI_VISIBLE_H

#include "service/base/dynbuf.h"

#include <stdio.h>

void visible_add(struct dynbuf *out, struct slice text);
void visible_print(FILE *file, const char *text);

/* A JSON string with its quotes, equal to text but with those characters escaped; ill-formed bytes
 * are U+FFFD. */
void visible_add_json(struct dynbuf *out, struct slice text);

#endif
