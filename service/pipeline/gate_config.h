/* SPDX-License-Identifier: Apache-2.0 */
/* gate_config: taking up a changed configuration file while serving: log_level and budgets. Private
 * to service/pipeline. Thread: main. */
#ifndef PIPELINE_GATE_CONFIG_H
#define PIPELINE_GATE_CONFIG_H

#include "service/pipeline/state.h"

/* Remembers the file as it is, before the gate is opened: what changes meanwhile is a change. */
void gate_config_look(struct gate *g);

/* Makes the budget of the configuration that the gate was opened with. */
void gate_config_open(struct gate *g);

/* See gate_tick; between these two the policy is looked at. The first reads a changed file, the
 * second takes it up where its budgets fit the policy in force. A file that is refused changes
 * nothing and is said once; one that does not fit is tried again with the next policy. */
void gate_config_propose(struct gate *g, bool reload);
void gate_config_settle(struct gate *g);

void gate_config_close(struct gate *g);

#endif
