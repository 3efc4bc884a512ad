/* SPDX-License-Identifier: Apache-2.0 */
/* clock: wall time for claims and budgets, monotonic time for timers and durations.
 *
 * Pure code takes the time as an argument; only doors, steps and commands ask here. */
#ifndef BASE_CLOCK_H
#define BASE_CLOCK_H

#include <stdint.h>

/* Milliseconds since 1970-01-01 UTC. */
int64_t clock_unix_ms(void);

/* Microseconds since an arbitrary start that never jumps. */
int64_t clock_mono_us(void);

static inline int64_t clock_mono_ms(void)
{
    return clock_mono_us() / 1000;
}

#endif
