/* SPDX-License-Identifier: Apache-2.0 */
/* scan_words: a text as the words that a reader would see, for rules to be compared with.
 *
 * Pure, in time linear in the text. One scan_words, one thread. */
#ifndef RETRIEVAL_SCAN_WORDS_H
#define RETRIEVAL_SCAN_WORDS_H

#include "service/base/slice.h"
#include "service/retrieval/neutralise_skeleton.h"

enum {
    SCAN_WORD_BYTES = 40, /* a longer word is in no rule */
    SCAN_SPELLED_MIN = 4, /* letters with one separator between them that make a word */
    SCAN_CODE_MIN = 24,   /* characters of base64 that are worth decoding */
    SCAN_CODE_MAX = 4096, /* and as many as are looked at */
    SCAN_LINE_START = '\n',
};

struct scan_word {
    bool is_mark;     /* one character of punctuation, or SCAN_LINE_START */
    bool after_break; /* first of a sentence or paragraph */
    bool disguised;   /* parted by invisible characters, in tag characters, or spelled out */
    size_t n;         /* 0: too long */
    char text[SCAN_WORD_BYTES]; /* lower case, NFKD without marks; two characters where a script
                                   does not part words */
    size_t n_look;              /* 0: as text */
    char look[SCAN_WORD_BYTES]; /* ASCII that the word looks like */
    struct slice code;          /* what may be base64 and begins here, or SLICE_NONE */
};

struct scan_words {
    struct slice text;
    size_t at;
    size_t code_end;  /* of the last run of base64 that was handed out */
    size_t hidden;    /* tag characters seen so far, other than those of flags */
    size_t flag_left; /* tag characters that may still belong to a flag */
    bool started, after_break, blank_line, in_unspaced;
    struct skeleton skeleton;
};

/* The text is borrowed for the life of *w. Ill-formed parts of it end words. */
void scan_words_init(struct scan_words *w, struct slice text);
void scan_words_done(struct scan_words *w);

/* The next word or mark; false at the end. */
bool scan_words_next(struct scan_words *w, struct scan_word *ret_word);

#endif
