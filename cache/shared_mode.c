/* SPDX-License-Identifier: Apache-2.0 */
/* A Redis that answers every command with an error is up, and yet no cache: it is said when that
 * begins and when it ends. What reads well may still refuse to write, so only a lock or an answer
 * that was written ends it, and not within a second, lest each of both kinds be told in turn. */
#include "cache/shared_private.h"
#include "service/base/clock.h"

#include <stdio.h>

enum { WHY_MAX_BYTES = 32, SETTLED_MS = 1000 };

static void set_mode(struct shared_cache *c, bool works, const char *why)
{
    bool refused = works;
    if (atomic_compare_exchange_strong(&c->is_refused, &refused, !works) && c->on_mode) {
        c->on_mode(c->who, works, why);
    }
}

void shared_note_error(struct shared_cache *c, struct slice error)
{
    char why[WHY_MAX_BYTES];
    struct slice code = redis_error_code(error);
    (void)snprintf(why, sizeof(why), "%.*s", (int)code.n, code.n ? code.p : "");
    c->refused_mono_ms = clock_mono_ms();
    set_mode(c, false, why);
}

void shared_note_written(struct shared_cache *c)
{
    if (c->is_refused && clock_mono_ms() - c->refused_mono_ms >= SETTLED_MS) {
        set_mode(c, true, "");
    }
}
