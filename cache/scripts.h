/* SPDX-License-Identifier: Apache-2.0 */
/* scripts: the Lua of this folder, which Redis runs; kb_embed() puts the files' bytes in here. */
#ifndef CACHE_SCRIPTS_H
#define CACHE_SCRIPTS_H

extern const char budget_take_lua[], budget_refund_lua[];
extern const char shared_find_lua[], shared_release_lua[];

#endif
