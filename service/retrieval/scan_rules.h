/* SPDX-License-Identifier: Apache-2.0 */
/* scan_rules: what the scanner looks for. One table; how its patterns read stands in scan_rules.c.
 *
 * Constant. Thread: any. */
#ifndef RETRIEVAL_SCAN_RULES_H
#define RETRIEVAL_SCAN_RULES_H

#include <stddef.h>

enum {
    SCAN_RULES_MAX = 256,
    SCAN_CLEAR = 4,      /* weight that marks a passage by itself */
    SCAN_DESCRIBES = -1, /* no weight: what it ends with or just after is told, not ordered */
};

/* A name for alternatives: @name in a pattern. */
struct scan_class {
    const char *name, *words; /* parted by spaces */
};

struct scan_rule {
    const char *name;
    int weight; /* 0: the passage speaks of attacks rather than makes one */
    const char *pattern;
};

extern const struct scan_class SCAN_CLASSES[];
extern const size_t SCAN_CLASSES_N;
extern const struct scan_rule SCAN_RULES[];
extern const size_t SCAN_RULES_N;

#endif
