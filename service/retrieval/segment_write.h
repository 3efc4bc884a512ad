/* SPDX-License-Identifier: Apache-2.0 */
/* segment_write: the writers of a segment's two files, for segment_write. Blocking: yes. */
#ifndef RETRIEVAL_SEGMENT_WRITE_H
#define RETRIEVAL_SEGMENT_WRITE_H

#include "service/retrieval/segment.h"

/* As segment_write, one file each; the input was checked. */
bool segment_write_texts(const struct segment_input *in, const struct digest *content,
                         const char *path, struct digest *ret_file, struct err_detail *detail);
bool segment_write_index(const struct segment_input *in, const struct digest *content,
                         const char *path, struct digest *ret_file, struct err_detail *detail);

#endif
