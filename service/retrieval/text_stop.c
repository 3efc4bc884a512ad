/* SPDX-License-Identifier: Apache-2.0 */
/* English words that say nothing of a topic. They are indexed like any other, so that "to be or not
 * to be" finds something; text_query_terms leaves them out of a query that has better words. */
#include "service/retrieval/text.h"

#include <stdlib.h>

/* Sorted bytewise. */
static const char *const STOP_WORDS[] = {
    "a",     "about",   "after",  "again",     "against",    "ain",     "all",     "also",
    "am",    "an",      "and",    "any",       "are",        "aren",    "as",      "at",
    "be",    "because", "been",   "before",    "being",      "between", "both",    "but",
    "by",    "can",     "cannot", "could",     "couldn",     "did",     "didn",    "do",
    "does",  "doesn",   "doing",  "don",       "during",     "each",    "few",     "for",
    "from",  "further", "had",    "hadn",      "has",        "hasn",    "have",    "haven",
    "he",    "her",     "here",   "hers",      "herself",    "him",     "himself", "his",
    "how",   "however", "i",      "if",        "in",         "into",    "is",      "isn",
    "it",    "its",     "itself", "just",      "like",       "me",      "might",   "more",
    "most",  "must",    "mustn",  "my",        "myself",     "need",    "needs",   "no",
    "not",   "now",     "of",     "on",        "once",       "only",    "or",      "other",
    "ought", "our",     "ours",   "ourselves", "own",        "please",  "same",    "shall",
    "shan",  "she",     "should", "shouldn",   "so",         "some",    "such",    "than",
    "that",  "the",     "their",  "them",      "themselves", "then",    "there",   "these",
    "they",  "this",    "those",  "through",   "to",         "too",     "us",      "use",
    "used",  "uses",    "using",  "very",      "want",       "was",     "wasn",    "we",
    "were",  "weren",   "what",   "when",      "where",      "which",   "while",   "who",
    "whom",  "whose",   "why",    "will",      "with",       "won",     "would",   "wouldn",
    "you",   "your",    "yours",  "yourself",  "yourselves",
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
