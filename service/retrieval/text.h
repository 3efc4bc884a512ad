/* SPDX-License-Identifier: Apache-2.0 */
/* text: the one text analysis for ingest and query on every engine (docs/design.md §6), and
 * canonical queries.
 *
 * NFKC case folding and diacritics stripped, Unicode words, English Snowball stems in American
 * spelling (stop words stay as they are). A word of several parts is indexed whole and in parts, at
 * one position: C++, C#, .NET, node.js, R&D and 38.101 as they stand; multi-agent, CVE-2023-44487
 * and snake_case with their parts joined, so that they meet multiagent and snakeCase; identifiers
 * are cut where digits, capitals and small letters meet. Han, kana, Hangul, Thai, Lao, Khmer and
 * Myanmar are written without spaces (or with particles): their runs are indexed as single
 * characters and as pairs of neighbours, and searched by the pairs, or by the character where a run
 * has only one. Other scripts are words without stemming. Pure: no locale, clock or global. Thread:
 * one analyser, one thread. */
#ifndef RETRIEVAL_TEXT_H
#define RETRIEVAL_TEXT_H

#include "service/base/arena.h"
#include "service/base/dynbuf.h"

enum {
    TEXT_ANALYSIS_VERSION = 2,
    TEXT_TERM_MAX_BYTES = 64, /* a longer term is cut at a character */
    TEXT_QUERY_MAX_CHARS = 2000,
    TEXT_QUERY_MAX_TERMS = 256, /* distinct terms of a query that are searched, the first ones */
};

struct text_analyser; /* opaque */

struct text_analyser *text_analyser_new(void);
void text_analyser_free(struct text_analyser *a);

/* Calls on_term(arg, term, position) for each term of valid UTF-8, in order; a term is borrowed
 * until on_term returns. One word may give several terms at one position (node.js: the whole and
 * its parts). Stop words are terms like any other: for indexing. */
void text_analyse(struct text_analyser *a, struct slice utf8,
                  void (*on_term)(void *arg, struct slice term, uint32_t position), void *arg);

/* Whether text_query_terms leaves this term out of a query that has others. */
bool text_is_stop_word(struct slice term);

/* How much a term of a query counts: TEXT_WEIGHT_ONE for a word that occurs once, and as the square
 * root of how often it occurs otherwise. A part of a longer word is half an occurrence, since the
 * whole is searched too. */
enum { TEXT_WEIGHT_ONE = 16, TEXT_WEIGHT_MAX = 64 };

struct text_query {
    struct slice *terms;
    uint32_t *weights; /* of each term */
    size_t n;
};

/* The terms to search: distinct, in first-seen order, at most TEXT_QUERY_MAX_TERMS; stop words only
 * where there is nothing else. None is possible (U+3164 is a letter that nobody can see). The
 * arrays and the terms are in `arena`. */
void text_query_terms(struct text_analyser *a, struct slice canonical_query, struct arena *arena,
                      struct text_query *ret_query);

enum text_query_result {
    TEXT_QUERY_OK,
    TEXT_QUERY_NOT_UTF8,
    TEXT_QUERY_CONTROL, /* holds U+0000 or another C0/C1 control that is no white space */
    TEXT_QUERY_BLANK,   /* nothing left after trimming */
    TEXT_QUERY_NO_WORD, /* no letter or digit (Unicode L*, N*) */
    TEXT_QUERY_TOO_LONG,
};

/* The canonical form of a query: NFC, runs of Unicode white space as one space, trimmed; appended
 * to out (on TEXT_QUERY_OK only). Its length (1..2000 characters) is counted after that. */
enum text_query_result text_canonical_query(struct slice query, struct dynbuf *out);

/* NFC of valid UTF-8, appended to out. */
void text_add_nfc(struct dynbuf *out, struct slice utf8);

/* NFC of valid UTF-8: the same bytes where they are ASCII, else a copy in `arena`. */
struct slice text_nfc(struct slice utf8, struct arena *arena);

#endif
