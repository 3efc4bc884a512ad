/* SPDX-License-Identifier: Apache-2.0 */
/* The last four bytes of a piece name the next one. */
#include "service/retrieval/byte_runs.h"

#include "service/base/mem.h"

#include <stdlib.h>

enum { UNIT = 8, LINK_BYTES = 4, PIECE_MIN = 8, PIECE_MAX = 512, FIRST_CAP = 1 << 16 };

static char *at(const struct byte_runs *b, uint32_t piece)
{
    return b->p + (size_t)(piece - 1) * UNIT;
}

static uint16_t next_size(uint16_t size)
{
    size_t whole = size ? 2 * (size_t)(size + LINK_BYTES) : PIECE_MIN;
    return (uint16_t)((whole < PIECE_MAX ? whole : PIECE_MAX) - LINK_BYTES);
}

static bool make_room(struct byte_runs *b, size_t n)
{
    if ((b->n + n) / UNIT >= UINT32_MAX) {
        b->failed = true;
        return false;
    }
    if (b->cap - b->n < n) {
        b->cap = b->cap ? 2 * b->cap : FIRST_CAP;
        b->p = mem_realloc(b->p, b->cap);
    }
    return true;
}

static bool add_piece(struct byte_runs *b, struct byte_run *run)
{
    uint16_t size = next_size(run->size);
    if (!make_room(b, (size_t)size + LINK_BYTES)) {
        return false;
    }
    uint32_t piece = (uint32_t)(b->n / UNIT) + 1;
    b->n += (size_t)size + LINK_BYTES;
    if (run->last) {
        memcpy(at(b, run->last) + run->size, &piece, LINK_BYTES);
    } else {
        run->first = piece;
    }
    run->last = piece;
    run->used = 0;
    run->size = size;
    return true;
}

void byte_runs_done(struct byte_runs *b)
{
    free(b->p);
    *b = (struct byte_runs){0};
}

void byte_runs_add(struct byte_runs *b, struct byte_run *run, char byte)
{
    if (run->used == run->size && !add_piece(b, run)) {
        return;
    }
    at(b, run->last)[run->used++] = byte;
}

void byte_runs_add_varint(struct byte_runs *b, struct byte_run *run, uint32_t value)
{
    for (; value >= 0x80; value >>= 7) {
        byte_runs_add(b, run, (char)((value & 0x7F) | 0x80));
    }
    byte_runs_add(b, run, (char)value);
}

struct byte_run_reader byte_run_read(const struct byte_runs *b, const struct byte_run *run)
{
    return (struct byte_run_reader){.runs = b, .piece = run->first, .size = next_size(0)};
}

char byte_run_next(struct byte_run_reader *r)
{
    if (r->used == r->size) {
        memcpy(&r->piece, at(r->runs, r->piece) + r->size, LINK_BYTES);
        r->used = 0;
        r->size = next_size(r->size);
    }
    return at(r->runs, r->piece)[r->used++];
}

uint32_t byte_run_next_varint(struct byte_run_reader *r)
{
    uint32_t value = 0;
    for (unsigned shift = 0;; shift += 7) {
        unsigned char byte = (unsigned char)byte_run_next(r);
        value |= (uint32_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) {
            return value;
        }
    }
}
