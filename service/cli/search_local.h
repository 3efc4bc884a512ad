/* SPDX-License-Identifier: Apache-2.0 */
/* search_local: one search without a running service. Blocking. */
#ifndef CLI_SEARCH_LOCAL_H
#define CLI_SEARCH_LOCAL_H

#include "service/base/dynbuf.h"
#include "service/base/err.h"

/* As the owner of the store's files: sees everything, needs no token. */
bool search_store(const char *store_dir, const char *query, uint32_t top_k, struct dynbuf *out,
                  struct err_detail *detail);

/* As the holder of a token, through the whole pipeline. arguments: a JSON object. */
bool search_config(const char *config_path, const char *token, struct slice arguments,
                   struct dynbuf *out, struct err_detail *detail);

#endif
