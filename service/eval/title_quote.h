/* SPDX-License-Identifier: Apache-2.0 */
/* title_quote: whether a query gives its document away by quoting the title. Pure. */
#ifndef EVAL_TITLE_QUOTE_H
#define EVAL_TITLE_QUOTE_H

#include "service/retrieval/text.h"

/* Whether the words of the title, as the text analysis has them (folded and stemmed), stand in the
 * query one behind the other. A title without a word is quoted by nothing. */
bool title_is_quoted(struct text_analyser *a, struct slice title, struct slice query);

#endif
