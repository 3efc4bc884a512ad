/* SPDX-License-Identifier: Apache-2.0 */
/* sink: lines to a file descriptor without ever waiting for it.
 *
 * Thread:    any.        Blocking: sink_put never; a thread of the sink's own does the writing.
 * Ceiling:   max_bytes wait in memory; what comes on top is dropped and counted.
 * Failure:   a write error drops the line and counts it (disk full must not stop the service). */
#ifndef BASE_SINK_H
#define BASE_SINK_H

#include "service/base/slice.h"

#include <stdint.h>

struct sink;

/* fd stays the caller's. */
struct sink *sink_new(int fd, size_t max_bytes);

/* Queues one whole line (its newline included); false when it was dropped. */
bool sink_put(struct sink *s, struct slice line);

uint64_t sink_dropped(struct sink *s);

/* Writes what waits (at most wait_ms), ends the thread; NULL is fine. False: whoever reads the
 * descriptor stalls, and the thread goes on writing to it until the process ends, so it may not be
 * closed. */
bool sink_free(struct sink *s, int wait_ms);

#endif
