/* SPDX-License-Identifier: Apache-2.0 */
/* fields: what is said about a document by a manifest, its front matter, its record or the options,
 * and what follows from all of them.
 *
 * Pure. Texts live in the arena they were read into. */
#ifndef INGEST_FIELDS_H
#define INGEST_FIELDS_H

#include "service/retrieval/segment.h"

#include <jansson.h>

enum {
    FIELD_ID_MAX_BYTES = 512,
    FIELD_TITLE_MAX_BYTES = 512, /* a longer title is cut */
    FIELD_URL_MAX_BYTES = 2048,
    FIELD_LABELS_MAX = 16,
    FIELD_REASON_BYTES = 256,
};

/* SLICE_NONE, has_labels false: not said. */
struct fields {
    struct slice id, title, source_url, collection, doc_type, published;
    const struct slice *labels;
    size_t n_labels;
    bool has_labels;
};

/* Reads the members of a JSON object that have these names; others are not looked at, null means
 * not said. False with a reason for a value of the wrong type. */
bool fields_from_json(const json_t *object, struct arena *arena, struct fields *ret_fields,
                      char ret_reason[FIELD_REASON_BYTES]);

/* Fills what `f` does not say from `fallback`; labels as a whole, never mixed. */
void fields_default(struct fields *f, const struct fields *fallback);

/* Whether each field that is said obeys its rule, so that whoever says it can be named. False with
 * a reason as in fields_resolve. */
bool fields_check(const struct fields *f, struct arena *arena, char ret_reason[FIELD_REASON_BYTES]);

/* A document without its text. */
struct document_head {
    struct doc_scope scope;
    struct slice doc_id, title, source_url;
    int32_t published;
};

/* Checks every field against its rule and brings texts to NFC, labels to sorted and distinct. id is
 * required here, and one that an answer would show otherwise (neutralise.h) is refused, since
 * nobody could ask for it; title may be missing (empty then); source_url is http, https or mailto.
 * False with a reason that names the field and the fix. */
bool fields_resolve(const struct fields *f, struct arena *arena, struct document_head *ret_head,
                    char ret_reason[FIELD_REASON_BYTES]);

#endif
