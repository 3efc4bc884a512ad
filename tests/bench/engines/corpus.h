/* SPDX-License-Identifier: Apache-2.0 */
/* corpus: documents in sections, partitions and questions, the same at every call.
 *
 * A chunk is a section: about 600 bytes (60..140 words) and indexed as a document of one ready
 * chunk. About ten neighbours share title, topics and partition. Chunk n is the same whatever the
 * number of chunks asked for. */
#ifndef TESTS_BENCH_ENGINES_CORPUS_H
#define TESTS_BENCH_ENGINES_CORPUS_H

#include "service/base/dynbuf.h"

enum { CORPUS_SEED = 20261130, CORPUS_PARTITION_STEP = 10, CORPUS_NAME_BYTES = 32 };

struct corpus; /* opaque */

struct chunk {
    uint32_t number;    /* from 0 */
    uint32_t partition; /* 0 .. n_partitions-1 */
    struct slice title, text;
};

/* n_partitions: a multiple of CORPUS_PARTITION_STEP. */
struct corpus *corpus_new(uint32_t n_chunks, uint32_t n_partitions);
void corpus_free(struct corpus *c);

/* The next chunk, valid until the next call; false after the last. */
bool corpus_next(struct corpus *c, struct chunk *ret_chunk);

/* Question n: 5..12 words, function words among them; half of the others are of one topic, half
 * drawn as the text is. Appended. */
void corpus_question(struct corpus *c, uint32_t n, struct dynbuf *out);

/* The partition of a chunk. */
uint32_t corpus_home(uint32_t number, uint32_t n_partitions);

/* Where a partition belongs: 5 (doc_type, label) pairs in each collection. */
struct partition_names {
    char collection[CORPUS_NAME_BYTES];
    const char *doc_type, *label;
};
struct partition_names corpus_partition(uint32_t partition);

/* The document id of a chunk, and back. */
void corpus_doc_id(uint32_t number, char ret_id[CORPUS_NAME_BYTES]);
uint32_t corpus_number(struct slice doc_id);

/* Callers: one sees every tenth partition, by collection, doc_type and label; one sees all. */
enum corpus_scope { SCOPE_TENTH, SCOPE_ALL, N_SCOPES };
extern const char *const CORPUS_SCOPES[N_SCOPES];
bool corpus_permits(enum corpus_scope scope, uint32_t partition);

/* The policy that gives these scopes, as YAML: scopes_all "kb:tenth" and "kb:all" of tenant t-1. */
void corpus_policy(uint32_t n_partitions, struct dynbuf *out);

#endif
