/* SPDX-License-Identifier: Apache-2.0 */
/* engine: one way to get from a question to ten passages that the caller may see.
 *
 * Every engine starts from the question's text and ends with title and text of its ten best chunks
 * copied out. Thread: one. Failure: what cannot be done ends the program with a reason. */
#ifndef TESTS_BENCH_ENGINES_ENGINE_H
#define TESTS_BENCH_ENGINES_ENGINE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { PASSAGES = 10, PASSAGE_ROOM = 256 * 1024 };

struct passages {
    size_t n;
    uint32_t numbers[PASSAGES]; /* of the chunks, best first */
    size_t n_bytes;
    char bytes[PASSAGE_ROOM]; /* titles and texts */
};

struct engine_place {
    const char *store; /* of kbgate */
    const char *dir;   /* the others' indexes are in it */
    uint32_t n_partitions;
};

struct engine {
    const char *name;
    void *(*open)(const struct engine_place *place);
    /* scope: enum corpus_scope */
    void (*search)(void *self, int scope, const char *question, struct passages *ret_passages);
    void (*close)(void *self);
};

/* kbgate's search as the service runs it, and the same with the answer's JSON written. */
extern const struct engine ENGINE_KBGATE, ENGINE_KBGATE_ANSWER;
/* One table: the filter as an indexed term, or joined through a table of who may read what. */
extern const struct engine ENGINE_FTS5_TERM, ENGINE_FTS5_JOINED;
extern const struct engine ENGINE_XAPIAN;

/* Index the whole corpus below `dir`. */
void engine_fts5_build(const char *dir, uint32_t n_chunks, uint32_t n_partitions);
void engine_xapian_build(const char *dir, uint32_t n_chunks, uint32_t n_partitions);
const char *engine_xapian_version(void);

/* What an engine without an analyser of ours searches for: lower-case words of letters and digits,
 * without stop words where there are others; each NUL-terminated in `ret_words`. */
enum { QUESTION_WORDS_MAX = 64, QUESTION_WORD_BYTES = 64 };
size_t question_words(const char *question,
                      char ret_words[QUESTION_WORDS_MAX][QUESTION_WORD_BYTES]);

void passages_add(struct passages *p, uint32_t number, const char *title, size_t title_bytes,
                  const char *text, size_t text_bytes);

/* Ends the program with a reason unless `good`. */
void engine_require(int good, const char *what, const char *why);

#ifdef __cplusplus
}
#endif

#endif
