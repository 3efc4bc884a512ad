/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/clock_watch.h"

int64_t clock_watch_jump(struct clock_watch *w, int64_t unix_ms, int64_t mono_ms,
                         int64_t tolerance_ms)
{
    int64_t offset_ms = unix_ms - mono_ms;
    int64_t jump_ms = w->started ? offset_ms - w->offset_ms : 0;
    w->offset_ms = offset_ms;
    w->started = true;
    return jump_ms > tolerance_ms || jump_ms < -tolerance_ms ? jump_ms : 0;
}
