/* SPDX-License-Identifier: Apache-2.0 */
/* Claim names may be URLs or hold colons, so only the dot separates, and it can be escaped. */
#include "auth/claim_path.h"

/* Cuts the first step off and unescapes it. */
static struct slice next_step(struct slice *rest, struct arena *arena)
{
    char *step = arena_alloc(arena, rest->n + 1);
    size_t n = 0, at = 0;
    while (at < rest->n && rest->p[at] != '.') {
        if (slice_starts(slice_skip(*rest, at), SLICE_LIT("\\."))) {
            at++;
        }
        step[n++] = rest->p[at++];
    }
    bool is_last = at == rest->n;
    *rest = is_last ? SLICE_NONE : slice_skip(*rest, at + 1);
    return (struct slice){step, n};
}

const json_t *claim_path_get(const json_t *payload, struct slice path, struct arena *arena,
                             bool *ret_blocked)
{
    const json_t *at = payload;
    *ret_blocked = false;
    while (at && path.p) {
        struct slice step = next_step(&path, arena);
        *ret_blocked = !json_is_object(at);
        at = json_object_getn(at, step.p, step.n); /* NULL unless `at` is an object */
    }
    return at;
}
