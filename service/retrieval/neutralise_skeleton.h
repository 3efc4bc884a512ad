/* SPDX-License-Identifier: Apache-2.0 */
/* neutralise_skeleton: what a line looks like to a reader who takes look-alikes for the real thing.
 *
 * Pure. One skeleton, one thread. */
#ifndef RETRIEVAL_NEUTRALISE_SKELETON_H
#define RETRIEVAL_NEUTRALISE_SKELETON_H

#include "service/retrieval/text_normal.h"

/* Printable ASCII in lower case, one entry for each character that a code point looks like; every
 * kind of blank is ' '; what looks like nothing in ASCII is SKELETON_OTHER; marks are left out. */
struct skeleton {
    struct codes looks;
    struct codes owners; /* of each entry: the index of its code point in the line */
};

enum { SKELETON_OTHER = 1 };

/* A zeroed struct is empty and ready. Replaces what it holds. */
void skeleton_make(struct skeleton *s, const int32_t *line, size_t n);
void skeleton_done(struct skeleton *s);

#endif
