/* SPDX-License-Identifier: Apache-2.0 */
/* clock_watch: notices that the wall clock was set, by how it moves beside the monotonic one. Pure.
 */
#ifndef BASE_CLOCK_WATCH_H
#define BASE_CLOCK_WATCH_H

#include <stdbool.h>
#include <stdint.h>

/* A zeroed one is ready. */
struct clock_watch {
    int64_t offset_ms; /* wall - monotonic, when last looked at */
    bool started;
};

/* Milliseconds the wall clock jumped since the last look, forwards or (negative) back; 0 where that
 * is at most tolerance_ms, and at the first look. */
int64_t clock_watch_jump(struct clock_watch *w, int64_t unix_ms, int64_t mono_ms,
                         int64_t tolerance_ms);

#endif
