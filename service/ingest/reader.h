/* SPDX-License-Identifier: Apache-2.0 */
/* reader: from the bytes of one file type to an outline.
 *
 * Pure: bytes in, outline out; nothing is fetched, whatever the bytes name. bytes: valid UTF-8
 * without NUL, at most INGEST_FILE_MAX_BYTES. */
#ifndef INGEST_READER_H
#define INGEST_READER_H

#include "service/ingest/outline.h"

/* Once, before several threads read: the HTML parser sets itself up on first use, without a lock.
 */
void reader_start(void);

/* Paragraphs between blank lines; a line underlined with =, - or ~ is a heading of level 1 to 3. */
void reader_text(struct outline *o, struct slice bytes);

/* CommonMark with tables and strike-through; bytes begin behind the front matter. Markup is
 * dropped, text, list markers, code and absolute links stay. False with a static reason. */
bool reader_markdown(struct outline *o, struct slice bytes, const char **ret_reason);

/* HTML as browsers read it, however broken. Scripts, styles, navigation and hidden elements are
 * left out; one <main> is taken for the whole. False with a static reason. */
bool reader_html(struct outline *o, struct slice bytes, const char **ret_reason);

/* A piece of HTML inside Markdown: its title is nobody's. False: too deep or too long. */
bool reader_html_fragment(struct outline *o, struct slice bytes);

/* Appends the text of one entity ("&amp;", "&#8364;"), or the entity as it stands. */
void reader_add_entity(struct dynbuf *out, struct slice entity);

/* Whether a link target is worth showing: absolute http, https or mailto, of moderate length. */
bool reader_link_is_shown(struct slice target);

/* Whether a style attribute hides its element: display none, visibility hidden or collapse,
 * font-size or opacity 0, however it is spelt. */
bool reader_style_hides(struct slice style);

#endif
