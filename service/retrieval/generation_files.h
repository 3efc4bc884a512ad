/* SPDX-License-Identifier: Apache-2.0 */
/* generation_files: the names of a store's files, and which generations it has.
 *
 * Blocking: where a folder is read. */
#ifndef RETRIEVAL_GENERATION_FILES_H
#define RETRIEVAL_GENERATION_FILES_H

#include "service/retrieval/generation.h"
#include "service/retrieval/store_files.h"

enum { GENERATION_NAME_MAX = 32 };

/* n of "<n>.json" as it is written (no sign, no leading zero); 0 for any other name. */
uint64_t generation_number(struct slice name);

/* What CURRENT names; "" where there is none. */
bool generation_current_name(const char *store_dir, char ret_name[GENERATION_NAME_MAX],
                             struct err_detail *detail);

/* The first name above all that are there. */
bool generation_next_name(const char *store_dir, char ret_name[GENERATION_NAME_MAX],
                          struct err_detail *detail);

/* STORE/generations/name */
bool generation_file_path(const char *store_dir, const char *name, char ret_path[STORE_PATH_MAX]);

bool generation_read_named(const char *store_dir, const char *name,
                           struct generation *ret_generation, struct err_detail *detail);

#endif
