/* SPDX-License-Identifier: Apache-2.0 */
/* profile: everything beside the data that can change a byte of an answer (docs/design.md §2).
 *
 * Integers only. Every member goes into index_version. */
#ifndef RETRIEVAL_PROFILE_H
#define RETRIEVAL_PROFILE_H

#include "service/digest/digest.h"

/* member, default, smallest, largest, what it is. The one list: defaults, digest and configuration
 * are made from it. */
#define ANSWER_PROFILE_TABLE(X)                                                                    \
    X(bm25_k1_milli, 1500, 0, 10000, "BM25 k1 in thousandths")                                     \
    X(bm25_b_milli, 600, 0, 1000, "BM25 b in thousandths")                                         \
    X(candidate_depth, 50, 20, 200, "distinct texts a leg returns, whatever top_k is")             \
    X(rrf_k, 60, 1, 1000, "reciprocal rank fusion constant")                                       \
    X(lexical_weight, 1, 1, 100, "weight of the lexical leg in the fusion")                        \
    X(abstain_coverage, 285, 0, 1000,                                                              \
      "thousandths of a usual query that a passage must hold; 0: whatever is found is an answer")  \
    X(chunks_per_document, 0, 0, 20, "most passages of one document in an answer; 0: no cap")      \
    X(also_in_max, 5, 0, 5, "most other places listed for a text that stands in several")          \
    X(byte_budget, 49152, 4096, 1048576, "bytes of an answer, both copies of the JSON counted")

struct answer_profile {
#define X(member, standard, low, high, what) uint32_t member;
    ANSWER_PROFILE_TABLE(X)
#undef X
    uint32_t analysis_version;   /* TEXT_ANALYSIS_VERSION */
    uint32_t title_weight;       /* SEGMENT_TITLE_WEIGHT */
    uint32_t context_weight;     /* SEGMENT_CONTEXT_WEIGHT */
    uint32_t text_weight;        /* SEGMENT_TEXT_WEIGHT */
    uint32_t scoring_version;    /* LEXICAL_SCORING_VERSION */
    uint32_t abstain_version;    /* ABSTAIN_VERSION */
    uint32_t neutralise_version; /* NEUTRALISE_VERSION */
    uint32_t fence_version;      /* FENCE_VERSION */
    uint32_t scan_version;       /* SCAN_RULES_VERSION */
    char fence_epoch[9];         /* of the fence key: 8 hexadecimal digits */
};

/* The defaults above; versions of this binary; the epoch empty. */
void answer_profile_init(struct answer_profile *p);

/* SHA-256 over every member by name and value. */
void answer_profile_digest(const struct answer_profile *p, struct digest *ret_digest);

#endif
