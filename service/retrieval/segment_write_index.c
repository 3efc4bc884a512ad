/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the documents fills the tables and the inverted index in memory; then the terms'
 * records are encoded and the file is written in one go. */
#include "service/base/mem.h"
#include "service/retrieval/segment_format.h"
#include "service/retrieval/segment_write.h"
#include "service/retrieval/segment_write_terms.h"
#include "service/retrieval/store_files.h"
#include "service/retrieval/term_index.h"
#include "service/retrieval/text.h"

#include <stdlib.h>

#define TABLE_MAX_BYTES ((size_t)1 << 40)

struct writer {
    const struct segment_input *in;
    struct text_analyser *analyser;
    struct term_index terms;
    uint32_t weight;       /* of the field being analysed */
    uint32_t *title_terms; /* of the document at hand, as often as they occur */
    size_t n_title_terms, cap_title_terms;
    struct segment_header header;
    uint32_t *lengths;
    struct dynbuf chunks, docs, ids;
    struct term_sections sections;
};

static void count_term(void *arg, struct slice term, uint32_t position)
{
    (void)position;
    struct writer *w = arg;
    term_index_count(&w->terms, term_index_id(&w->terms, term), w->weight);
}

static void keep_title_term(void *arg, struct slice term, uint32_t position)
{
    (void)position;
    struct writer *w = arg;
    if (w->n_title_terms == w->cap_title_terms) {
        w->cap_title_terms = w->cap_title_terms ? 2 * w->cap_title_terms : 64;
        w->title_terms = mem_realloc(w->title_terms, w->cap_title_terms * sizeof(uint32_t));
    }
    w->title_terms[w->n_title_terms++] = term_index_id(&w->terms, term);
}

static void analyse(struct writer *w, struct slice text, uint32_t weight)
{
    w->weight = weight;
    if (text.n) {
        text_analyse(w->analyser, text, count_term, w);
    }
}

static uint32_t index_chunk(struct writer *w, const struct chunk_input *chunk)
{
    for (size_t i = 0; i < w->n_title_terms; i++) {
        term_index_count(&w->terms, w->title_terms[i], SEGMENT_TITLE_WEIGHT);
    }
    analyse(w, chunk->context, SEGMENT_CONTEXT_WEIGHT);
    analyse(w, chunk->text, SEGMENT_TEXT_WEIGHT);
    return term_index_end_chunk(&w->terms, w->header.n_chunks);
}

static void add_chunk(struct writer *w, uint32_t doc, const struct chunk_input *chunk)
{
    uint32_t length = index_chunk(w, chunk);
    char row[SEGMENT_CHUNK_BYTES];
    segment_put(row, doc, 4);
    segment_put(row + 4, chunk->position, 4);
    segment_put(row + 8, segment_hash(chunk->text.p ? chunk->text : SLICE_LIT("")), 8);
    dynbuf_add(&w->chunks, (struct slice){row, sizeof(row)});
    w->lengths[w->header.n_chunks++] = length;
    w->header.total_length += length;
}

/* Also the row behind the last one, which says where that ends. */
static void add_doc_row(struct writer *w, int32_t published)
{
    char row[SEGMENT_DOC_BYTES];
    segment_put(row, w->ids.n, 8);
    segment_put(row + 8, (uint32_t)published, 4);
    segment_put(row + 12, w->header.n_chunks, 4);
    dynbuf_add(&w->docs, (struct slice){row, sizeof(row)});
}

static void add_doc(struct writer *w, const struct doc_input *doc)
{
    add_doc_row(w, doc->published);
    dynbuf_add(&w->ids, doc->doc_id);
    w->n_title_terms = 0;
    if (doc->title.n) {
        text_analyse(w->analyser, doc->title, keep_title_term, w);
    }
    for (size_t i = 0; i < doc->n_chunks; i++) {
        add_chunk(w, w->header.n_docs, &doc->chunks[i]);
    }
    w->header.n_docs++;
}

static void add_docs(struct writer *w)
{
    size_t n_chunks = 0;
    for (size_t i = 0; i < w->in->n_docs; i++) {
        n_chunks += w->in->docs[i].n_chunks;
    }
    w->lengths = mem_array(n_chunks, sizeof(*w->lengths));
    for (size_t i = 0; i < w->in->n_docs; i++) {
        add_doc(w, &w->in->docs[i]);
    }
    add_doc_row(w, 0);
}

/* The file */

static void pad(struct dynbuf *b)
{
    while (b->n % 8) {
        dynbuf_add_byte(b, 0);
    }
}

static void write_header(const struct segment_header *h, char ret_bytes[SEGMENT_HEADER_BYTES])
{
    static const char MAGIC[8] = SEGMENT_INDEX_MAGIC;
    memcpy(ret_bytes, MAGIC, sizeof(MAGIC));
    segment_put(ret_bytes + 8, SEGMENT_FORMAT, 4);
    segment_put(ret_bytes + 12, TEXT_ANALYSIS_VERSION, 4);
    memcpy(ret_bytes + 16, h->content.bytes, DIGEST_BYTES);
    segment_put(ret_bytes + 48, h->total_length, 8);
    segment_put(ret_bytes + 56, h->n_docs, 4);
    segment_put(ret_bytes + 60, h->n_chunks, 4);
    segment_put(ret_bytes + 64, h->n_buckets, 4);
    segment_put(ret_bytes + 68, h->record_bytes, 4);
    segment_put(ret_bytes + 72, h->id_bytes, 8);
    segment_put(ret_bytes + 80, h->posting_bytes, 8);
}

static struct dynbuf length_table(const struct writer *w)
{
    struct dynbuf b;
    dynbuf_init(&b, TABLE_MAX_BYTES);
    for (uint32_t i = 0; i < w->header.n_chunks; i++) {
        char row[SEGMENT_LENGTH_BYTES];
        segment_put(row, w->lengths[i], sizeof(row));
        dynbuf_add(&b, (struct slice){row, sizeof(row)});
    }
    pad(&b);
    return b;
}

static bool write_file(struct writer *w, const char *path, struct digest *ret_file,
                       struct err_detail *detail)
{
    char header[SEGMENT_HEADER_BYTES];
    struct dynbuf lengths = length_table(w);
    w->header.id_bytes = w->ids.n;
    w->header.n_buckets = segment_buckets_for(w->terms.n);
    w->header.record_bytes = (uint32_t)w->sections.records.n;
    pad(&w->ids);
    pad(&w->sections.directory);
    pad(&w->sections.records);
    pad(&w->sections.postings);
    w->header.posting_bytes = w->sections.postings.n;
    write_header(&w->header, header);
    const struct slice parts[] = {{header, sizeof(header)},
                                  dynbuf_get(&lengths),
                                  dynbuf_get(&w->chunks),
                                  dynbuf_get(&w->docs),
                                  dynbuf_get(&w->ids),
                                  dynbuf_get(&w->sections.directory),
                                  dynbuf_get(&w->sections.records),
                                  dynbuf_get(&w->sections.postings)};
    bool good = store_write_parts(path, parts, sizeof(parts) / sizeof(*parts), ret_file, detail);
    dynbuf_done(&lengths);
    return good;
}

static bool write_index(struct writer *w, const char *path, struct digest *ret_file,
                        struct err_detail *detail)
{
    add_docs(w);
    segment_write_terms(&w->terms, segment_seed(&w->header.content), w->lengths, w->header.n_chunks,
                        &w->sections);
    if (w->sections.records.failed) {
        err_detail_set(detail, "%s: too many different terms for one partition", path);
        return false;
    }
    if (w->terms.runs.failed || w->sections.postings.failed || w->ids.failed) {
        err_detail_set(detail, "%s: too much text for one partition", path);
        return false;
    }
    return write_file(w, path, ret_file, detail);
}

static void writer_done(struct writer *w)
{
    text_analyser_free(w->analyser);
    term_index_done(&w->terms);
    dynbuf_done(&w->chunks);
    dynbuf_done(&w->docs);
    dynbuf_done(&w->ids);
    dynbuf_done(&w->sections.directory);
    dynbuf_done(&w->sections.records);
    dynbuf_done(&w->sections.postings);
    free(w->title_terms);
    free(w->lengths);
}

bool segment_write_index(const struct segment_input *in, const struct digest *content,
                         const char *path, struct digest *ret_file, struct err_detail *detail)
{
    struct writer w = {.in = in, .analyser = text_analyser_new(), .header = {.content = *content}};
    term_index_init(&w.terms);
    dynbuf_init(&w.chunks, TABLE_MAX_BYTES);
    dynbuf_init(&w.docs, TABLE_MAX_BYTES);
    dynbuf_init(&w.ids, TABLE_MAX_BYTES);
    dynbuf_init(&w.sections.directory, TABLE_MAX_BYTES);
    dynbuf_init(&w.sections.records, SEGMENT_RECORDS_MAX_BYTES);
    dynbuf_init(&w.sections.postings, TABLE_MAX_BYTES);
    bool good = write_index(&w, path, ret_file, detail);
    writer_done(&w);
    return good;
}
