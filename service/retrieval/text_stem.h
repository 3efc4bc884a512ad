/* SPDX-License-Identifier: Apache-2.0 */
/* text_stem: the term of a word: its English stem.
 *
 * Thread: one object, one thread. */
#ifndef RETRIEVAL_TEXT_STEM_H
#define RETRIEVAL_TEXT_STEM_H

#include "service/base/slice.h"

struct stems; /* opaque */

struct stems *stems_new(void);
void stems_free(struct stems *s);

/* The Snowball stem of a folded word, in American spelling. The word itself where it is a stop word
 * or not of a-z alone, or where its stem would pass for a stop word (theses, these). Borrowed until
 * the next call. */
struct slice stems_of(struct stems *s, struct slice word);

#endif
