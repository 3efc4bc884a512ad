/* SPDX-License-Identifier: Apache-2.0 */
/* cache_control: the one directive that says how long an answer stays good (RFC 9111 §5.2). */
#ifndef PIPELINE_CACHE_CONTROL_H
#define PIPELINE_CACHE_CONTROL_H

#include "service/base/slice.h"

#include <stdint.h>

/* Seconds of max-age in a Cache-Control value; -1: none, or not a number. At most 2^31 (§1.2.2). */
int64_t cache_control_max_age_s(struct slice value);

#endif
