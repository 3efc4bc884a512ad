/* SPDX-License-Identifier: Apache-2.0 */
/* admin: what the admin port shows of a gate. Thread: any. Blocking: never. */
#ifndef PIPELINE_ADMIN_H
#define PIPELINE_ADMIN_H

#include "service/base/dynbuf.h"

struct gate;

/* The RFC 9728 document of the gate's resource (docs/design.md §8). */
void gate_resource_metadata(struct gate *g, struct dynbuf *out);

/* Prometheus text exposition format 0.0.4. */
void gate_metrics(struct gate *g, struct dynbuf *out);

/* Whether new requests should come here; appends one line a reason ("ok store"), for ?verbose. */
bool gate_is_ready(struct gate *g, struct dynbuf *reasons);

/* From now on not ready: SIGTERM came. Calls that still arrive are served. */
void gate_begin_drain(struct gate *g);

#endif
