/* SPDX-License-Identifier: Apache-2.0 */
/* mem: allocation that ends the process when memory is gone.
 *
 * libh2o aborts on a failed allocation, so recovering elsewhere would be fiction. What keeps kbgate
 * alive is that every size a caller controls is bounded before it is allocated. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include "service/base/slice.h"

/* n zeroed bytes, never NULL; release with free(). */
void *mem_alloc(size_t n);

/* Grows p (or NULL) to n bytes; the new part is not zeroed. */
void *mem_realloc(void *p, size_t n);

/* count * size zeroed bytes; a product that overflows ends the process. */
void *mem_array(size_t count, size_t size);

/* A NUL-terminated copy; NULL for SLICE_NONE. */
char *mem_text(struct slice s);

#endif
