/* SPDX-License-Identifier: Apache-2.0 */
/* publish: from documents to a new generation of a store.
 *
 * Collections that the documents name are replaced as a whole, others carried over. A partition
 * whose content is live already, in a file that still has its SHA-256, is not built again.
 * Blocking: yes. */
#ifndef INGEST_PUBLISH_H
#define INGEST_PUBLISH_H

#include "service/ingest/collect.h"

/* Counts partitions and built, and names the generation. False with a reason: the store serves what
 * it served before. */
bool publish_documents(const struct collect *c, struct ingest_report *report,
                       struct err_detail *detail);

#endif
