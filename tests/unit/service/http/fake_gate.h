/* SPDX-License-Identifier: Apache-2.0 */
/* fake_gate: a pipeline whose requests do what their body says, so that a test of the door decides
 * when an answer comes.
 *
 * "wait": answers when fake_gate_release is called. "block": holds its loop until then. "full": an
 * answer with every field set. "big": an answer of FAKE_BIG_BYTES. "empty": 202 without a body.
 * "304": 304. Anything else: answers at once and describes the input. Thread: any. */
#ifndef TEST_FAKE_GATE_H
#define TEST_FAKE_GATE_H

#include "service/pipeline/admin.h"
#include "service/pipeline/request.h"

enum { FAKE_BIG_BYTES = 16 * 1024 * 1024 };

struct gate *fake_gate_new(void);

/* Checks that every request that began also ended. */
void fake_gate_free(struct gate *g);

void fake_gate_set_ready(struct gate *g, bool ready);

/* Waits until n requests have begun. */
void fake_gate_await_begun(struct gate *g, size_t n);

/* Waits until n requests wait or block. */
void fake_gate_await_waiting(struct gate *g, size_t n);

/* Lets those that wait or block go on, and all that come later. */
void fake_gate_release(struct gate *g);

/* Waits until n requests were cancelled. */
void fake_gate_await_cancelled(struct gate *g, size_t n);

size_t fake_gate_begun(struct gate *g);
size_t fake_gate_cancelled(struct gate *g);

#endif
