/* SPDX-License-Identifier: Apache-2.0 */
/* check: which bytes a file and a value may hold. Private to this folder. Pure. */
#ifndef YAML_CHECK_H
#define YAML_CHECK_H

#include "service/base/slice.h"

/* NULL, or what is wrong with the raw file and on which line (1-based). */
const char *yaml_check_file(struct slice bytes, int *ret_line);

/* NULL, or what is wrong with one key or value after its escapes were undone. */
const char *yaml_check_text(struct slice text);

#endif
