/* SPDX-License-Identifier: Apache-2.0 */
/* uri: the names of what resources/read serves (RFC 3986, RFC 3987, RFC 6570).
 *
 *   kb://index
 *   kb://doc/<collection>/<doc_id>
 *   kb://chunk/<collection>/<doc_id>/<position>
 *
 * doc_id may hold slashes; reserved characters and those past ASCII may stand in it unescaped, as
 * the templates kb://doc/{collection}/{+doc_id} and kb://chunk/{+chunk_id} expand. Ids are opaque:
 * no dot segment, query or fragment is ever interpreted. Pure. */
#ifndef MCP_URI_H
#define MCP_URI_H

#include "service/base/arena.h"
#include "service/base/dynbuf.h"

#include <stdint.h>

enum resource_kind { RESOURCE_INDEX, RESOURCE_DOC, RESOURCE_CHUNK };

struct resource_uri {
    enum resource_kind kind;
    struct slice collection, doc_id; /* decoded, valid UTF-8, not empty; SLICE_NONE on the index */
    uint32_t position;               /* RESOURCE_CHUNK; at most INT32_MAX */
};

/* False for anything that is not exactly of one of these forms: other case, a broken escape, an
 * ASCII character that RFC 3986 wants escaped, a control character, ill-formed UTF-8, an empty
 * part, a slash inside the collection, a position that is not a plain decimal number. The parts
 * live in arena. */
bool resource_uri_parse(struct slice uri, struct arena *arena, struct resource_uri *ret_uri);

/* Appends kb://chunk/… as resource_uri_parse reads it back. */
void resource_uri_add_chunk(struct dynbuf *out, struct slice collection, struct slice doc_id,
                            uint32_t position);

#endif
