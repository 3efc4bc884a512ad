/* SPDX-License-Identifier: Apache-2.0 */
/* gate_loop: what a gate keeps for one loop: its own connections to Redis, for these are never
 * shared between threads.
 *
 * Thread:    open before the loop runs or on its thread; close after it ended, or on its thread
 *            when no request is left.      Blocking: never. */
#ifndef PIPELINE_GATE_LOOP_H
#define PIPELINE_GATE_LOOP_H

enum { GATE_LOOP_CONNECTIONS = 2 }; /* cache and budgets */

struct gate;
struct gate_loop; /* opaque */
struct loop;

/* Every request of that loop is given it. Closed before the loop is freed and the gate closed. */
struct gate_loop *gate_loop_open(struct gate *g, struct loop *l);
void gate_loop_close(struct gate_loop *gl); /* NULL is fine */

#endif
