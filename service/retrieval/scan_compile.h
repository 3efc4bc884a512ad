/* SPDX-License-Identifier: Apache-2.0 */
/* scan_compile: the table of rules as an automaton (scan_match.c) and its vocabulary.
 *
 * Built once, then constant. Thread: any. */
#ifndef RETRIEVAL_SCAN_COMPILE_H
#define RETRIEVAL_SCAN_COMPILE_H

#include "service/base/slice.h"
#include "service/retrieval/scan_match.h"
#include "service/retrieval/scan_rules.h"

enum {
    SCAN_VOCABULARY_MAX = 1536, /* words of all patterns, marks too */
    SCAN_OPTIONAL_MAX = 15,     /* optional elements in a row, gaps counted word by word */
    SCAN_SLOTS = 8192,
    SCAN_POOL_BYTES = 24576,
    SCAN_TYPO_MIN = 8, /* letters of a word in which one wrong letter is forgiven */
};

struct scan_entry {
    uint16_t at, n;     /* in the pool */
    uint16_t next_typo; /* the next long word with the same first letter; 0: none */
};

struct scan_vocabulary {
    struct scan_entry entries[SCAN_VOCABULARY_MAX]; /* 0: whatever is in no rule */
    size_t n;
    uint16_t slots[SCAN_SLOTS];
    uint16_t first_typo[26];
    uint16_t marks[128]; /* of each ASCII character as a mark; 0: in no rule */
    char pool[SCAN_POOL_BYTES];
    size_t used;
};

struct scan_program {
    struct scan_vocabulary vocabulary;
    uint64_t takes[SCAN_VOCABULARY_MAX][SCAN_BLOCKS_MAX]; /* elements that a word satisfies */
    uint64_t begins[SCAN_VOCABULARY_MAX];                 /* blocks in which it begins a rule */
    uint64_t first[SCAN_BLOCKS_MAX], last[SCAN_BLOCKS_MAX];
    uint64_t optional[SCAN_BLOCKS_MAX], gap[SCAN_BLOCKS_MAX];
    uint64_t within[SCAN_BLOCKS_MAX]; /* elements that no first word of a sentence satisfies */
    uint8_t rule_at[SCAN_BLOCKS_MAX][64];
    const char *bad; /* the first rule or class that is malformed or too large */
};

const struct scan_program *scan_program(void);

/* The number of a folded word; 0: in no rule. */
unsigned scan_vocabulary_find(const struct scan_vocabulary *v, struct slice word);

/* The number of the one long word that differs in a single letter; 0: none. */
unsigned scan_vocabulary_find_typo(const struct scan_vocabulary *v, struct slice word);

/* The number of a folded word, added where it is new; 0: no room. */
unsigned scan_vocabulary_add(struct scan_vocabulary *v, struct slice word);

#endif
