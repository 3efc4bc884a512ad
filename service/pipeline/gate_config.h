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

/* See gate_tick. A file that is refused changes nothing and is logged once. */
void gate_config_tick(struct gate *g, bool reload);

void gate_config_close(struct gate *g);

#endif
