/* SPDX-License-Identifier: Apache-2.0 */
/* Stop words leave a query altogether. These stay in it, since "level" and "report" may be all
 * there is to find a passage by; but a passage that holds them is not yet about the question, and
 * one that lacks them may well be. */
#include "service/retrieval/abstain_words.h"

#include <stdlib.h>

/* As the analyser gives them: stems. Sorted bytewise. */
static const char *const GENERIC[] = {
    "abl",       "abov",       "across",     "advis",   "affect",   "after",      "again",
    "against",   "all",        "allow",      "along",   "alreadi",  "also",       "among",
    "amount",    "analysi",    "ani",        "anoth",   "answer",   "anyon",      "anyth",
    "appli",     "approach",   "around",     "articl",  "ask",      "avail",      "becaus",
    "becom",     "befor",      "begin",      "believ",  "below",    "best",       "better",
    "between",   "big",        "both",       "call",    "cannot",   "case",       "caus",
    "certain",   "chang",      "come",       "common",  "compar",   "comparison", "concern",
    "consid",    "contain",    "continu",    "could",   "curious",  "current",    "day",
    "dear",      "decreas",    "describ",    "detail",  "determin", "differ",     "difficult",
    "discuss",   "do",         "down",       "dure",    "each",     "easi",       "effect",
    "either",    "enabl",      "end",        "even",    "everi",    "everyon",    "everyth",
    "exampl",    "explain",    "fact",       "feel",    "few",      "find",       "first",
    "form",      "friend",     "further",    "general", "get",      "give",       "go",
    "good",      "great",      "happen",     "hard",    "hello",    "help",       "here",
    "hey",       "hi",         "high",       "higher",  "hope",     "howev",      "idea",
    "impact",    "import",     "improv",     "includ",  "increas",  "inform",     "interest",
    "involv",    "issu",       "itself",     "just",    "keep",     "kind",       "know",
    "larg",      "last",       "latest",     "learn",   "least",    "less",       "let",
    "level",     "like",       "long",       "look",    "low",      "lower",      "main",
    "major",     "make",       "mani",       "may",     "me",       "mean",       "mention",
    "method",    "might",      "mine",       "more",    "most",     "much",       "must",
    "my",        "myself",     "name",       "need",    "neither",  "new",        "next",
    "nor",       "now",        "number",     "occur",   "off",      "offer",      "ok",
    "okay",      "onc",        "one",        "onli",    "other",    "out",        "over",
    "paper",     "part",       "particular", "peopl",   "person",   "plan",       "pleas",
    "point",     "possibl",    "prefer",     "problem", "produc",   "provid",     "purpos",
    "put",       "question",   "quit",       "rather",  "realli",   "reason",     "recent",
    "recommend", "reduc",      "regard",     "relat",   "report",   "requir",     "research",
    "result",    "right",      "role",       "said",    "say",      "search",     "second",
    "seek",      "sever",      "shall",      "short",   "should",   "show",       "simpl",
    "sinc",      "small",      "solut",      "some",    "someon",   "someth",     "sort",
    "specif",    "start",      "still",      "stop",    "studi",    "subject",    "suggest",
    "support",   "sure",       "take",       "tell",    "thank",    "them",       "themselv",
    "therefor",  "thing",      "think",      "third",   "three",    "through",    "thus",
    "time",      "today",      "too",        "topic",   "tri",      "two",        "type",
    "under",     "understand", "until",      "up",      "use",      "user",       "various",
    "veri",      "want",       "way",        "well",    "whether",  "while",      "wish",
    "within",    "without",    "wonder",     "work",    "would",    "wrong",      "yes",
    "your",      "yours",      "yourself",
};

static int compare(const void *key, const void *member)
{
    return slice_cmp(*(const struct slice *)key, slice_of(*(const char *const *)member));
}

bool abstain_is_generic(struct slice term)
{
    return bsearch(&term, GENERIC, sizeof(GENERIC) / sizeof(GENERIC[0]), sizeof(GENERIC[0]),
                   compare) != NULL;
}
