/* SPDX-License-Identifier: Apache-2.0 */
/* jwks_metrics: each issuer's keys in Prometheus' text format, by the issuer's name in the policy.
 * Thread: any. Blocking: never. */
#ifndef PIPELINE_JWKS_METRICS_H
#define PIPELINE_JWKS_METRICS_H

#include "service/base/dynbuf.h"
#include "service/pipeline/access_rules.h"

void jwks_metrics_write(const struct access_rules *rules, struct dynbuf *out);

#endif
