/* SPDX-License-Identifier: Apache-2.0 */
/* Hits own everything they point to, so they outlive the view and the segments they came from. */
#include "service/retrieval/backend.h"

#include <stdlib.h>

void hits_free(struct hits *h)
{
    if (h) {
        arena_done(&h->arena);
        free(h);
    }
}
