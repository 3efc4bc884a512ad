/* SPDX-License-Identifier: Apache-2.0 */
/* static_text: the names and texts that a model reads.
 *
 * Private to this folder. They are prompt engineering: static in the binary, never made from index
 * or tenant data, so that no document can speak through them. */
#ifndef MCP_STATIC_TEXT_H
#define MCP_STATIC_TEXT_H

#define SERVER_NAME "kbgate"
#define SERVER_TITLE "kbgate knowledge base"
#define TOOL_NAME "search_kb"
#define PROMPT_NAME "literature_summary"

extern const char SERVER_INSTRUCTIONS[];
extern const char TOOL_TITLE[], TOOL_DESCRIPTION[];

#endif
