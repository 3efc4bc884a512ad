/* SPDX-License-Identifier: Apache-2.0 */
/* A cutter holds the passage that is being filled. Pieces (a block, or a sentence of a long one)
 * arrive in reading order; each either still fits or opens the next passage. Greedy, without a look
 * ahead: what stands further down never moves a cut further up, so an edit changes few passages. */
#include "service/ingest/chunker.h"

#include "service/base/mem.h"
#include "service/ingest/ingest.h"
#include "service/ingest/words.h"

#include <stdlib.h>

enum {
    HEADING_LEVELS = 6,
    PIECE_MAX_WORDS = 100, /* a longer block is handed on sentence by sentence */
    PIECE_MAX_BYTES = 4 * 1024,
};

struct cutter {
    struct arena *arena;
    struct slice title;
    struct slice headings[HEADING_LEVELS]; /* the path to here; SLICE_NONE: none at that level */
    unsigned level;                        /* of the last heading */
    bool heading_only;                     /* nothing came behind it so far */
    struct dynbuf path, written;           /* of the section, and the last one in the passage */
    struct dynbuf text;                    /* the passage so far */
    size_t quarters;
    struct chunk_input *chunks;
    size_t n, cap;
};

static size_t quarters_of(size_t words)
{
    return words * WORD_QUARTERS;
}

static struct slice trimmed(struct slice s)
{
    while (s.n && (s.p[s.n - 1] == ' ' || (s.p[s.n - 1] >= '\t' && s.p[s.n - 1] <= '\r'))) {
        s.n--;
    }
    return s;
}

static void close_chunk(struct cutter *c)
{
    struct slice text = trimmed(dynbuf_get(&c->text));
    if (text.n) {
        if (c->n == c->cap) {
            c->cap = c->cap ? c->cap * 2 : 16;
            c->chunks = mem_realloc(c->chunks, c->cap * sizeof(*c->chunks));
        }
        c->chunks[c->n] = (struct chunk_input){
            .position = (uint32_t)c->n, .text = arena_copy(c->arena, text), .context = SLICE_NONE};
        c->n++;
    }
    dynbuf_cut(&c->text, 0);
    dynbuf_cut(&c->written, 0);
    c->quarters = 0;
}

/* Whether the passage ends before a piece of that size: by its limits, or because here it is nearer
 * to the length aimed at than behind the piece. */
static bool is_full(const struct cutter *c, size_t quarters, size_t bytes)
{
    const size_t aim = quarters_of(INGEST_CHUNK_WORDS);
    size_t with = c->quarters + quarters;
    if (c->text.n == 0) {
        return false;
    }
    if (c->text.n + bytes + c->path.n + 4 > CHUNK_MAX_BYTES ||
        with > quarters_of(CHUNK_MAX_WORDS)) {
        return true;
    }
    return c->quarters >= quarters_of(CHUNK_CLOSE_WORDS) && with > aim &&
           (c->quarters >= aim || aim - c->quarters <= with - aim);
}

/* before: what separates the piece from the one before it in the same section. */
static void put(struct cutter *c, struct slice piece, const char *before)
{
    size_t quarters = words_quarters(piece);
    if (is_full(c, quarters, piece.n)) {
        close_chunk(c);
    }
    if (!slice_eq(dynbuf_get(&c->path), dynbuf_get(&c->written))) {
        dynbuf_add_text(&c->text, c->text.n ? "\n\n" : "");
        dynbuf_add(&c->text, dynbuf_get(&c->path));
        dynbuf_add_text(&c->text, c->path.n ? "\n" : "");
        c->quarters += words_quarters(dynbuf_get(&c->path));
        dynbuf_cut(&c->written, 0);
        dynbuf_add(&c->written, dynbuf_get(&c->path));
    } else if (c->text.n) {
        dynbuf_add_text(&c->text, before);
    }
    dynbuf_add(&c->text, piece);
    c->quarters += quarters;
}

/* A heading without text of its own is still something to find, unless a deeper one follows. */
static void put_lone_heading(struct cutter *c)
{
    if (c->heading_only && c->path.n) {
        put(c, (struct slice){"", 0}, "");
    }
    c->heading_only = false;
}

static struct slice shortened(struct slice heading)
{
    if (heading.n > CHUNK_HEADING_MAX_BYTES) {
        heading.n = words_fit(heading, SIZE_MAX, CHUNK_HEADING_MAX_BYTES);
    }
    return trimmed(heading);
}

static void put_heading(struct cutter *c, unsigned level, struct slice heading)
{
    if (level <= c->level) {
        put_lone_heading(c);
    }
    if (c->quarters >= quarters_of(CHUNK_MIN_WORDS)) {
        close_chunk(c);
    }
    for (unsigned i = level - 1; i < HEADING_LEVELS; i++) {
        c->headings[i] = SLICE_NONE;
    }
    c->headings[level - 1] = slice_eq(heading, c->title) ? SLICE_NONE : shortened(heading);
    c->level = level;
    c->heading_only = true;
    dynbuf_cut(&c->path, 0);
    for (unsigned i = 0; i < HEADING_LEVELS; i++) {
        if (c->headings[i].n) {
            dynbuf_add_text(&c->path, c->path.n ? " > " : "");
            dynbuf_add(&c->path, c->headings[i]);
        }
    }
}

/* The next part of a block that is too long to be one piece. The window comes first: a search for
 * the end of a sentence that never ends must not run to the end of the file for each part. */
static size_t next_part(enum block_kind kind, struct slice rest)
{
    struct slice window = {rest.p, words_fit(rest, quarters_of(PIECE_MAX_WORDS), PIECE_MAX_BYTES)};
    return kind == BLOCK_CODE ? words_line(window) : words_sentence(window);
}

static void put_block(struct cutter *c, const struct block *b, struct slice text,
                      const char *before)
{
    c->heading_only = false;
    if (text.n <= PIECE_MAX_BYTES && words_quarters(text) <= quarters_of(PIECE_MAX_WORDS)) {
        put(c, text, before);
        return;
    }
    while (text.n) {
        size_t n = next_part(b->kind, text);
        put(c, (struct slice){text.p, n}, before);
        text = slice_skip(text, n);
        before = "";
    }
}

/* Items and rows of one list or table stay close together. */
static const char *separator(const struct block *before, const struct block *b)
{
    bool close =
        before && before->kind == b->kind && (b->kind == BLOCK_ITEM || b->kind == BLOCK_ROW);
    return close ? "\n" : "\n\n";
}

const struct chunk_input *chunk_outline(const struct outline *o, struct slice title,
                                        struct arena *arena, size_t *ret_n)
{
    struct cutter c = {.arena = arena, .title = title};
    dynbuf_init(&c.path, OUTLINE_MAX_BYTES);
    dynbuf_init(&c.written, OUTLINE_MAX_BYTES);
    dynbuf_init(&c.text, OUTLINE_MAX_BYTES);
    for (size_t i = 0; i < o->n; i++) {
        const struct block *b = &o->blocks[i];
        if (b->kind == BLOCK_HEADING) {
            put_heading(&c, b->level, outline_text(o, b));
        } else {
            put_block(&c, b, outline_text(o, b), separator(i ? b - 1 : NULL, b));
        }
    }
    put_lone_heading(&c);
    close_chunk(&c);
    struct chunk_input *chunks = arena_alloc(arena, c.n * sizeof(*chunks));
    if (c.n) {
        memcpy(chunks, c.chunks, c.n * sizeof(*chunks));
    }
    free(c.chunks);
    dynbuf_done(&c.path);
    dynbuf_done(&c.written);
    dynbuf_done(&c.text);
    *ret_n = c.n;
    return chunks;
}
