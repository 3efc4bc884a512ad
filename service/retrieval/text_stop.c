/* SPDX-License-Identifier: Apache-2.0 */
/* English words that say nothing of a topic. They are indexed like any other, so that "to be or not
 * to be" finds something; text_query_terms leaves them out of a query that has better words. */
#include "service/retrieval/text.h"

#include <stdlib.h>

/* Sorted bytewise. */
static const char *const STOP_WORDS[] = {
    "a",      "about",   "am",    "an",    "and",   "are",   "aren",   "as",    "at",    "be",
    "been",   "being",   "but",   "by",    "can",   "could", "couldn", "did",   "didn",  "do",
    "does",   "doesn",   "doing", "for",   "from",  "had",   "has",    "have",  "he",    "her",
    "his",    "how",     "i",     "if",    "in",    "into",  "is",     "isn",   "it",    "its",
    "me",     "my",      "no",    "not",   "of",    "on",    "or",     "our",   "shall", "she",
    "should", "shouldn", "so",    "such",  "than",  "that",  "the",    "their", "them",  "then",
    "there",  "these",   "they",  "this",  "those", "to",    "us",     "was",   "wasn",  "we",
    "were",   "what",    "when",  "where", "which", "who",   "whose",  "why",   "will",  "with",
    "would",  "wouldn",  "you",   "your",
};

static int compare(const void *key, const void *member)
{
    return slice_cmp(*(const struct slice *)key, slice_of(*(const char *const *)member));
}

bool text_is_stop_word(struct slice term)
{
    return bsearch(&term, STOP_WORDS, sizeof(STOP_WORDS) / sizeof(STOP_WORDS[0]),
                   sizeof(STOP_WORDS[0]), compare) != NULL;
}
