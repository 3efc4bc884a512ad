/* SPDX-License-Identifier: Apache-2.0 */
/* Distances start at 0 for the chunk right behind the one before, so a dense list costs two bytes
 * a posting. */
#include "service/retrieval/postings_stream.h"

#include "service/retrieval/segment_format.h"

enum { VARINT_MAX_BYTES = 5 };

static void add_varint(struct dynbuf *b, uint32_t value)
{
    while (value >= 0x80) {
        dynbuf_add_byte(b, (char)((value & 0x7F) | 0x80));
        value >>= 7;
    }
    dynbuf_add_byte(b, (char)value);
}

static bool read_varint(struct slice *rest, uint32_t *ret_value)
{
    uint64_t value = 0;
    for (size_t i = 0; i < VARINT_MAX_BYTES && i < rest->n; i++) {
        unsigned char byte = (unsigned char)rest->p[i];
        value |= (uint64_t)(byte & 0x7F) << (7 * i);
        if (!(byte & 0x80)) {
            *rest = slice_skip(*rest, i + 1);
            *ret_value = (uint32_t)value;
            return value <= UINT32_MAX;
        }
    }
    return false;
}

void postings_writer_init(struct postings_writer *w, size_t max_bytes)
{
    *w = (struct postings_writer){0};
    dynbuf_init(&w->bytes, max_bytes);
}

void postings_writer_done(struct postings_writer *w)
{
    dynbuf_done(&w->bytes);
}

void postings_add(struct postings_writer *w, uint32_t chunk, uint32_t tf)
{
    add_varint(&w->bytes, chunk - w->next_chunk);
    add_varint(&w->bytes, tf);
    w->next_chunk = chunk + 1;
    w->df++;
}

void postings_reader_open(struct postings_reader *c, struct slice bytes, uint32_t df,
                          uint32_t n_chunks)
{
    *c = (struct postings_reader){.rest = bytes, .left = df, .n_chunks = n_chunks};
    c->bad = df == 0 || df > n_chunks;
}

bool postings_reader_next(struct postings_reader *c)
{
    if (c->bad) {
        return false;
    }
    if (c->left == 0) {
        c->bad = c->rest.n != 0;
        return false;
    }
    uint32_t distance = 0;
    bool good = read_varint(&c->rest, &distance) && read_varint(&c->rest, &c->tf) && c->tf >= 1 &&
                c->tf <= SEGMENT_TF_MAX && distance < c->n_chunks - c->next_chunk;
    if (!good) {
        c->bad = true;
        return false;
    }
    c->chunk = c->next_chunk + distance;
    c->next_chunk = c->chunk + 1;
    c->left--;
    return true;
}
