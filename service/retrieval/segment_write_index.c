/* SPDX-License-Identifier: Apache-2.0 */
/* One pass over the documents fills the tables and the inverted index in memory; then the terms'
 * records are encoded and the file is written in one go. Records are in the order in which terms
 * are first seen: the same on every machine, and frequent terms lie together. */
#include "service/base/mem.h"
#include "service/retrieval/segment_format.h"
#include "service/retrieval/segment_write.h"
#include "service/retrieval/store_files.h"
#include "service/retrieval/term_index.h"
#include "service/retrieval/text.h"

#include <limits.h>
#include <stdlib.h>

#define TABLE_MAX_BYTES ((size_t)1 << 40)

_Static_assert(TEXT_TERM_MAX_BYTES <= UCHAR_MAX, "a record has one byte for the length");

struct writer {
    const struct segment_input *in;
    struct text_analyser *analyser;
    struct term_index terms;
    uint32_t weight;       /* of the field being analysed */
    uint32_t *title_terms; /* of the document at hand, as often as they occur */
    size_t n_title_terms, cap_title_terms;
    struct segment_header header;
    uint32_t *lengths;
    struct dynbuf chunks, docs, ids, records;
    char *slots;
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

/* Terms */

static void add_slot(struct writer *w, struct slice term, uint64_t place)
{
    uint64_t hash = segment_hash(term);
    const uint32_t n = w->header.n_slots;
    uint32_t at = segment_slot_of(hash, segment_seed(&w->header.content), n);
    while (segment_get_u64(w->slots + (size_t)at * SEGMENT_SLOT_BYTES)) {
        at = at + 1 == n ? 0 : at + 1;
    }
    segment_put(w->slots + (size_t)at * SEGMENT_SLOT_BYTES,
                (place + 1) << SEGMENT_FINGERPRINT_BITS | segment_fingerprint(hash),
                SEGMENT_SLOT_BYTES);
}

static void add_record(struct writer *w, const struct term_entry *e, struct slice postings)
{
    add_slot(w, e->term, w->records.n);
    dynbuf_add_byte(&w->records, (char)e->term.n);
    segment_add_varint(&w->records, e->df);
    segment_add_varint(&w->records, (uint32_t)postings.n);
    dynbuf_add(&w->records, e->term);
    dynbuf_add(&w->records, postings);
}

static void add_records(struct writer *w)
{
    struct posting *list = mem_array(w->header.n_chunks, sizeof(*list));
    struct dynbuf bytes;
    dynbuf_init(&bytes, UINT32_MAX);
    for (uint32_t i = 0; i < w->terms.n; i++) {
        const struct term_entry *e = &w->terms.entries[i];
        term_index_postings(&w->terms, i, list);
        dynbuf_cut(&bytes, 0);
        postings_encode(&bytes, list, e->df, w->lengths);
        add_record(w, e, dynbuf_get(&bytes));
    }
    w->records.failed = w->records.failed || bytes.failed;
    dynbuf_done(&bytes);
    free(list);
}

/* Five slots for three terms. */
static bool size_slots(struct writer *w)
{
    uint64_t n = (uint64_t)w->terms.n * 5 / 3 + (w->terms.n > 0);
    if (n > UINT32_MAX) {
        return false;
    }
    w->header.n_terms = (uint32_t)w->terms.n;
    w->header.n_slots = (uint32_t)n;
    w->slots = mem_array((size_t)n, SEGMENT_SLOT_BYTES);
    return true;
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
    memcpy(ret_bytes, SEGMENT_INDEX_MAGIC, 8);
    segment_put(ret_bytes + 8, SEGMENT_FORMAT, 4);
    segment_put(ret_bytes + 12, TEXT_ANALYSIS_VERSION, 4);
    memcpy(ret_bytes + 16, h->content.bytes, DIGEST_BYTES);
    segment_put(ret_bytes + 48, h->total_length, 8);
    segment_put(ret_bytes + 56, h->n_docs, 4);
    segment_put(ret_bytes + 60, h->n_chunks, 4);
    segment_put(ret_bytes + 64, h->n_terms, 4);
    segment_put(ret_bytes + 68, h->n_slots, 4);
    segment_put(ret_bytes + 72, h->id_bytes, 8);
    segment_put(ret_bytes + 80, h->record_bytes, 8);
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
    pad(&w->ids);
    pad(&w->records);
    w->header.record_bytes = w->records.n;
    write_header(&w->header, header);
    const struct slice parts[] = {{header, sizeof(header)},
                                  dynbuf_get(&lengths),
                                  dynbuf_get(&w->chunks),
                                  dynbuf_get(&w->docs),
                                  dynbuf_get(&w->ids),
                                  dynbuf_get(&w->records),
                                  {w->slots, (size_t)w->header.n_slots * SEGMENT_SLOT_BYTES}};
    bool good = store_write_parts(path, parts, sizeof(parts) / sizeof(*parts), ret_file, detail);
    dynbuf_done(&lengths);
    return good;
}

static bool write_index(struct writer *w, const char *path, struct digest *ret_file,
                        struct err_detail *detail)
{
    add_docs(w);
    if (!size_slots(w)) {
        err_detail_set(detail, "%s: too many different terms for one partition", path);
        return false;
    }
    add_records(w);
    if (w->terms.runs.failed || w->records.failed || w->ids.failed) {
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
    dynbuf_done(&w->records);
    free(w->title_terms);
    free(w->lengths);
    free(w->slots);
}

bool segment_write_index(const struct segment_input *in, const struct digest *content,
                         const char *path, struct digest *ret_file, struct err_detail *detail)
{
    struct writer w = {.in = in, .analyser = text_analyser_new(), .header = {.content = *content}};
    term_index_init(&w.terms);
    dynbuf_init(&w.chunks, TABLE_MAX_BYTES);
    dynbuf_init(&w.docs, TABLE_MAX_BYTES);
    dynbuf_init(&w.ids, TABLE_MAX_BYTES);
    dynbuf_init(&w.records, TABLE_MAX_BYTES);
    bool good = write_index(&w, path, ret_file, detail);
    writer_done(&w);
    return good;
}
