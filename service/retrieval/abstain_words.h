/* SPDX-License-Identifier: Apache-2.0 */
/* abstain_words: English words that people wrap around a question. Pure. */
#ifndef RETRIEVAL_ABSTAIN_WORDS_H
#define RETRIEVAL_ABSTAIN_WORDS_H

#include "service/base/slice.h"

/* Whether an analysed term says what is wanted of an answer, or how much or which of something,
 * rather than what the question is about. */
bool abstain_is_generic(struct slice term);

#endif
