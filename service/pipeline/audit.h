/* SPDX-License-Identifier: Apache-2.0 */
/* audit: one JSON line a request that got as far as a caller: who asked, under which filter, what
 * came back. No token byte and no query text; arguments appear as a keyed hash. */
#ifndef PIPELINE_AUDIT_H
#define PIPELINE_AUDIT_H

struct request;

void audit_write(struct request *r);

#endif
