/* SPDX-License-Identifier: Apache-2.0 */
/* The steps abstain, fuse and answer of the pipeline, for commands that ask an engine themselves.
 */
#include "service/cli/owner_answer.h"

#include "service/retrieval/abstain.h"
#include "service/retrieval/shape.h"

void owner_answer(struct dynbuf *out, struct hits *hits, uint32_t top_k,
                  const struct answer_profile *profile, const char *index_version)
{
    struct arena arena;
    arena_init(&arena);
    hits->n = abstain(hits, profile) ? 0 : hits->n;
    const struct leg legs[] = {{hits, profile->lexical_weight}};
    size_t n;
    const struct ranked *ranked = fuse_legs(legs, 1, profile, &arena, &n);
    const struct shape_options options = {.rendering = RENDER_REST,
                                          .top_k = top_k,
                                          .profile = profile,
                                          .index_version = index_version};
    shape_answer(out, ranked, n, &options);
    arena_done(&arena);
}
