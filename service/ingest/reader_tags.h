/* SPDX-License-Identifier: Apache-2.0 */
/* reader_tags: which text between the HTML tags of a Markdown file is hidden.
 *
 * Markdown hands over tags and the text between them one by one, so that no tree says what stands
 * inside <span style="display:none">. Nesting is counted for elements of the same name. Pure. */
#ifndef INGEST_READER_TAGS_H
#define INGEST_READER_TAGS_H

#include "service/base/slice.h"

enum { TAG_NAME_MAX = 16 };

struct tags {
    char name[TAG_NAME_MAX]; /* of the hidden element, in lower case */
    unsigned depth;          /* how many of that name are open; 0: nothing is hidden */
};

/* Goes over the tags in html. Stops behind the tag that ends what was hidden at the beginning;
 * returns how many bytes it went. */
size_t tags_scan(struct tags *t, struct slice html);

#endif
