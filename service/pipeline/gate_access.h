/* SPDX-License-Identifier: Apache-2.0 */
/* gate_access: a gate's policy and keys: opening them, taking up changed ones. Private to
 * service/pipeline.
 *
 * Thread: gate_access_rules from any; the rest from the main thread. */
#ifndef PIPELINE_GATE_ACCESS_H
#define PIPELINE_GATE_ACCESS_H

#include "service/pipeline/state.h"

/* Loads, checks and enforces the configured policy. False with a reason. */
bool gate_access_open(struct gate *g, struct err_detail *detail);

/* Puts rules, taken, in force and keeps the key sets that they fetch. */
void gate_access_enforce(struct gate *g, struct access_rules *rules);

/* See gate_tick. */
void gate_access_tick(struct gate *g, bool reload);

/* Every loop that asks for keys has ended. */
void gate_access_close(struct gate *g);

/* For the fetcher: a fetched key set is another now. owner: the gate. */
void gate_access_on_keys(void *owner);

#endif
