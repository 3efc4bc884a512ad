/* SPDX-License-Identifier: Apache-2.0 */
/* The content digest names a partition's version everywhere: in the file name of its segment and in
 * index_version. The scope is in it: the same text under another label is other content, and must
 * not find the old file. */
#include "service/retrieval/segment.h"
#include "service/retrieval/segment_format.h"
#include "service/retrieval/text.h"

static void add_profile(struct hasher *h)
{
    static const uint32_t profile[] = {TEXT_ANALYSIS_VERSION,  SEGMENT_TITLE_WEIGHT,
                                       SEGMENT_CONTEXT_WEIGHT, SEGMENT_TEXT_WEIGHT,
                                       SEGMENT_TF_MAX,         SEGMENT_LENGTH_MAX};
    hasher_part(h, SLICE_LIT("kbgate-content/1"));
    for (size_t i = 0; i < sizeof(profile) / sizeof(*profile); i++) {
        hasher_part_u64(h, profile[i]);
    }
}

static void add_scope(struct hasher *h, const struct doc_scope *scope)
{
    hasher_part(h, scope->collection);
    hasher_part(h, scope->doc_type);
    hasher_part_u64(h, scope->n_labels);
    for (size_t i = 0; i < scope->n_labels; i++) {
        hasher_part(h, scope->labels[i]);
    }
}

/* Absent and empty differ. */
static void add_optional(struct hasher *h, struct slice s)
{
    hasher_part_u64(h, s.p != NULL);
    hasher_part(h, s);
}

static void add_doc(struct hasher *h, const struct doc_input *doc)
{
    hasher_part(h, doc->doc_id);
    hasher_part(h, doc->title);
    add_optional(h, doc->source_url);
    hasher_part_u64(h, (uint64_t)(int64_t)doc->published);
    hasher_part_u64(h, doc->n_chunks);
    for (size_t i = 0; i < doc->n_chunks; i++) {
        hasher_part_u64(h, doc->chunks[i].position);
        hasher_part(h, doc->chunks[i].text);
        hasher_part(h, doc->chunks[i].context); /* an empty one is indexed as an absent one */
    }
}

void segment_content_digest(const struct segment_input *in, struct digest *ret_content)
{
    struct hasher h;
    hasher_init(&h);
    add_profile(&h);
    add_scope(&h, &in->scope);
    hasher_part_u64(&h, in->n_docs);
    for (size_t i = 0; i < in->n_docs; i++) {
        add_doc(&h, &in->docs[i]);
    }
    hasher_done(&h, ret_content);
}
