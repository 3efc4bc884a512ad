/* SPDX-License-Identifier: Apache-2.0 */
/* caller: places a document can have, and a policy for one caller with a judge of its own that
 * shares no code with scope/. */
#ifndef TESTS_WHOLE_CALLER_H
#define TESTS_WHOLE_CALLER_H

#include "service/base/dynbuf.h"
#include "service/retrieval/view.h"
#include "tests/unit/whole/draw.h"

enum { N_COLLECTIONS = 5, N_DOC_TYPES = 3, N_LABELS = 4, MAX_RULES = 4, MAX_PLACES = 6 };

/* What a partition is named by: indices into the names below, and a set of labels as bits. */
struct place {
    unsigned collection, doc_type, labels;
};

extern const char *const COLLECTIONS[N_COLLECTIONS];
extern const char *const DOC_TYPES[N_DOC_TYPES];

bool place_eq(struct place a, struct place b);

/* The same as the engine names it; the labels point to static storage. */
struct doc_scope place_scope(struct place p);

/* A set of bits, or "*". */
struct values {
    bool all;
    unsigned bits;
};

struct rule {
    struct values collections, doc_types, labels;
    bool in_force; /* a grant that the caller holds, a deny that it is not exempt from */
};

struct caller {
    struct rule grants[MAX_RULES], denies[MAX_RULES];
    size_t n_grants, n_denies;
    struct place seen[MAX_PLACES], hidden[MAX_PLACES]; /* where this case's documents are */
    size_t n_seen, n_hidden;
};

#define CALLER_ISSUER "https://issuer.test/"
#define CALLER_AUDIENCE "http://127.0.0.1/mcp"
/* The claims of the one token: grants need "yes", and nobody has "no". */
#define CALLER_CLAIMS                                                                              \
    "\"sub\":\"ann\",\"tid\":\"T1\",\"scope\":\"yes perhaps\",\"groups\":[\"staff\"]"

/* A policy under which something can be seen and something hidden, and places for both. */
void caller_draw(struct caller *c, struct draw *d);

/* Whether that caller sees a document there. */
bool caller_sees(const struct caller *c, struct place p);

/* The policy as its file. */
void caller_write_policy(const struct caller *c, struct dynbuf *out);

#endif
