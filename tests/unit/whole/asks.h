/* SPDX-License-Identifier: Apache-2.0 */
/* asks: the requests of one case, made before it runs, so that both versions are asked the same. */
#ifndef TESTS_WHOLE_ASKS_H
#define TESTS_WHOLE_ASKS_H

#include "service/pipeline/request.h"
#include "tests/unit/whole/world.h"

enum { MAX_ASKS = 128 };

struct ask {
    struct request_input in;
    bool searches;     /* and may find something */
    bool names_veiled; /* repeats a hidden id, so the answer may too */
    /* Another ask for what nobody has: the answers are the same, but for the name where an answer
     * repeats what was asked. 0: none. */
    size_t twin;
    struct slice name; /* SLICE_NONE: it does not */
};

struct asks {
    struct ask items[MAX_ASKS];
    size_t n;
    struct author *author;
    struct slice authorization;
};

/* A printed text in the arena of the case. */
struct slice asks_text(struct asks *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* One call of search_kb, or of POST /v1/search. arguments: JSON members. */
struct ask *asks_search(struct asks *list, enum surface surface, bool modern,
                        struct slice arguments);

/* items[0] reads kb://index. */
void asks_draw(struct asks *list, const struct world *before, const struct world *after);

#endif
