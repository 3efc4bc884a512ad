/* SPDX-License-Identifier: Apache-2.0 */
/* The tables of both files number documents and chunks by their order, so the order is checked
 * before anything is written. */
#include "service/retrieval/segment_write.h"

#include "service/retrieval/segment_format.h"
#include "service/retrieval/store_files.h"

static bool refuse(struct err_detail *detail, struct slice doc_id, const char *why)
{
    err_detail_set(detail, "document %.*s: %s", (int)(doc_id.n < 300 ? doc_id.n : 300), doc_id.p,
                   why);
    return false;
}

static bool check_doc(const struct doc_input *doc, uint64_t *n_chunks, struct err_detail *detail)
{
    if (doc->n_chunks == 0) {
        return refuse(detail, doc->doc_id, "has no chunk");
    }
    for (size_t i = 1; i < doc->n_chunks; i++) {
        if (doc->chunks[i].position <= doc->chunks[i - 1].position) {
            return refuse(detail, doc->doc_id, "its chunks are not in order");
        }
    }
    *n_chunks += doc->n_chunks;
    return *n_chunks <= SEGMENT_MAX_CHUNKS ||
           refuse(detail, doc->doc_id, "one partition cannot hold so many chunks");
}

static bool check_input(const struct segment_input *in, struct err_detail *detail)
{
    uint64_t n_chunks = 0;
    for (size_t i = 0; i < in->n_docs; i++) {
        const struct doc_input *doc = &in->docs[i];
        if (i > 0 && slice_cmp(doc[-1].doc_id, doc->doc_id) >= 0) {
            return refuse(detail, doc->doc_id, "is there twice or out of order");
        }
        if (!check_doc(doc, &n_chunks, detail)) {
            return false;
        }
    }
    return true;
}

bool segment_write(const struct segment_input *in, const struct digest *content,
                   const struct segment_paths *paths, struct segment_files *ret_files,
                   struct err_detail *detail)
{
    return check_input(in, detail) &&
           segment_write_texts(in, content, paths->texts, &ret_files->texts, detail) &&
           segment_write_index(in, content, paths->index, &ret_files->index, detail) &&
           store_sync_parent(paths->index, detail);
}
