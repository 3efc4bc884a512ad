/* SPDX-License-Identifier: Apache-2.0 */
/* English words that say nothing of a topic. They are indexed like any other, so that "to be or not
 * to be" finds something; text_query_terms leaves them out of a query that has better words. */
#include "service/retrieval/text.h"

#include <endian.h>

enum { STOP_WORD_BYTES = 16 };

/* Sorted bytewise; all of one length, so that a comparison takes two steps. */
static const char STOP_WORDS[][STOP_WORD_BYTES] = {
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

/* The words' order as numbers. */
struct padded {
    uint64_t high, low;
};

static struct padded pad(const char word[STOP_WORD_BYTES])
{
    struct padded p;
    memcpy(&p.high, word, sizeof(p.high));
    memcpy(&p.low, word + sizeof(p.high), sizeof(p.low));
    return (struct padded){be64toh(p.high), be64toh(p.low)};
}

bool text_is_stop_word(struct slice term)
{
    char word[STOP_WORD_BYTES] = {0};
    if (term.n == 0 || term.n >= sizeof(word) || !term.p[term.n - 1]) {
        return false;
    }
    memcpy(word, term.p, term.n);
    const struct padded key = pad(word);
    size_t low = 0, high = sizeof(STOP_WORDS) / sizeof(STOP_WORDS[0]);
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        struct padded at = pad(STOP_WORDS[middle]);
        bool behind = at.high < key.high || (at.high == key.high && at.low < key.low);
        low = behind ? middle + 1 : low;
        high = behind ? high : middle;
    }
    return low < sizeof(STOP_WORDS) / sizeof(STOP_WORDS[0]) &&
           memcmp(STOP_WORDS[low], word, sizeof(word)) == 0;
}
