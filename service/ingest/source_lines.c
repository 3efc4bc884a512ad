/* SPDX-License-Identifier: Apache-2.0 */
/* Parsing lines is most of the work of reading, so the lines are cut into pieces that a crew reads,
 * each into a list of its own. The lists are joined in the order of the pieces: what comes out does
 * not depend on the number of threads, nor on which of them was first. */
#include "service/ingest/source_lines.h"

#include "service/base/mem.h"
#include "service/ingest/chunker.h"
#include "service/ingest/crew.h"
#include "service/ingest/front_matter.h"
#include "service/ingest/jsonl.h"
#include "service/ingest/reader.h"
#include "service/ingest/record_plain.h"
#include "service/ingest/words.h"
#include "service/retrieval/text.h"

#include <stdlib.h>

enum { PIECE_BYTES = 256 * 1024 };

/* One record */

static void add_ready_chunk(const struct source *s, uint64_t line, const struct fields *f,
                            const struct record *record)
{
    struct arena *arena = &s->collect->arena;
    struct chunk_input *chunk = arena_alloc(arena, sizeof(*chunk));
    chunk->text = text_nfc(record->text, arena);
    chunk->context = record->context.n ? text_nfc(record->context, arena) : SLICE_NONE;
    source_add_document(s, line, f, NULL, chunk);
}

static void add_body(const struct source *s, uint64_t line, struct fields *f,
                     const struct record *record)
{
    static const enum file_type types[] = {
        [RECORD_TEXT] = FILE_TEXT, [RECORD_MARKDOWN] = FILE_MARKDOWN, [RECORD_HTML] = FILE_HTML};
    struct collect *c = s->collect;
    struct dynbuf body;
    struct outline o;
    char reason[FIELD_REASON_BYTES];
    const char *why = reason;
    uint64_t line_of_body;
    dynbuf_init(&body, INGEST_FILE_MAX_BYTES);
    dynbuf_add(&body, record->body);
    outline_init(&o);
    if (file_to_text(&body, reason) &&
        !front_matter_is_missed(dynbuf_get(&body), false, &line_of_body, reason) &&
        source_outline(types[record->format], dynbuf_get(&body), &o, &why)) {
        fields_default(f, &(struct fields){.title = outline_title(&o)});
        fields_default(f, &(struct fields){.title = f->id});
        source_add_document(s, line, f, &o, NULL);
    } else {
        collect_skip(c, s->file->relative.p, line, why);
    }
    outline_done(&o);
    dynbuf_done(&body);
}

static bool is_untitled(struct slice title)
{
    size_t n = 0;
    while (n < title.n && (title.p[n] == ' ' || (title.p[n] >= '\t' && title.p[n] <= '\r'))) {
        n++;
    }
    return n == title.n;
}

static void add_record(const struct source *s, uint64_t line, const struct record *record)
{
    struct fields f = s->entry ? s->entry->fields : (struct fields){0};
    struct slice url = f.source_url;
    f.id = f.title = f.source_url = SLICE_NONE;
    fields_default(&f, &record->fields);
    fields_default(&f, &(struct fields){.source_url = url});
    fields_default(&f, s->defaults);
    f.title = is_untitled(f.title) ? SLICE_NONE : f.title;
    if (record->text.p) {
        f.title = f.title.p ? f.title : f.id;
        add_ready_chunk(s, line, &f, record);
    } else {
        add_body(s, line, &f, record);
    }
}

static void read_line(const struct source *s, uint64_t line, struct slice text)
{
    struct arena *arena = &s->collect->arena;
    struct record record;
    char reason[FIELD_REASON_BYTES];
    if (record_read_plain(text, arena, &record)) {
        add_record(s, line, &record);
        return;
    }
    json_t *object = jsonl_parse(text, reason);
    if (object && record_from_json(object, arena, &record, reason)) {
        add_record(s, line, &record);
    } else {
        collect_skip(s->collect, s->file->relative.p, line, reason);
    }
    json_decref(object);
}

/* Pieces */

struct held_skip {
    uint64_t line;
    struct slice reason;
};

/* Whole lines, and what became of them; lines are counted from its first one. */
struct piece {
    struct slice lines;
    uint64_t n_lines;
    struct source source; /* into `collect` */
    struct collect collect;
    struct ingest_options options;
    struct ingest_report report;
    struct arena reasons;
    struct held_skip *skips;
    size_t n_skips, cap_skips;
};

static void hold_skip(void *arg, const struct ingest_skip *skip)
{
    struct piece *p = arg;
    if (p->n_skips == p->cap_skips) {
        p->cap_skips = p->cap_skips ? 2 * p->cap_skips : 16;
        p->skips = mem_realloc(p->skips, p->cap_skips * sizeof(*p->skips));
    }
    p->skips[p->n_skips++] =
        (struct held_skip){skip->line, arena_copy(&p->reasons, slice_of(skip->reason))};
}

static void piece_init(struct piece *p, const struct source *s, struct slice lines)
{
    *p = (struct piece){.lines = lines, .source = *s};
    p->options = (struct ingest_options){.on_skip = hold_skip, .arg = p};
    p->collect = (struct collect){.options = &p->options, .report = &p->report};
    p->source.collect = &p->collect;
}

static bool read_piece(void *arg, size_t task, struct err_detail *detail)
{
    (void)detail;
    struct piece *p = (struct piece *)arg + task;
    struct slice rest = p->lines, text;
    while (jsonl_next(&rest, &p->n_lines, &text)) {
        read_line(&p->source, p->n_lines, text);
    }
    return true;
}

/* Hands everything over to the source's own list, behind what is in it. */
static void piece_done(struct piece *p, const struct source *s, uint64_t lines_before)
{
    for (size_t i = 0; i < p->n_skips; i++) {
        collect_skip(s->collect, s->file->relative.p, lines_before + p->skips[i].line,
                     p->skips[i].reason.p);
    }
    for (size_t i = 0; i < p->collect.n; i++) {
        p->collect.docs[i].line += lines_before;
        collect_push(s->collect, &p->collect.docs[i]);
    }
    arena_join(&s->collect->arena, &p->collect.arena);
    collect_done(&p->collect);
    arena_done(&p->reasons);
    free(p->skips);
}

static size_t piece_length(struct slice lines)
{
    return lines.n > PIECE_BYTES ? PIECE_BYTES + words_line(slice_skip(lines, PIECE_BYTES))
                                 : lines.n;
}

static struct piece *cut(const struct source *s, struct slice lines, size_t *ret_n)
{
    struct piece *pieces = mem_array(lines.n / PIECE_BYTES + 1, sizeof(*pieces));
    *ret_n = 0;
    while (lines.n) {
        size_t length = piece_length(lines);
        piece_init(&pieces[(*ret_n)++], s, (struct slice){lines.p, length});
        lines = slice_skip(lines, length);
    }
    return pieces;
}

uint64_t source_read_lines(const struct source *s, struct slice lines, uint64_t lines_before)
{
    struct crew_tasks tasks = {.run = read_piece};
    struct piece *pieces = cut(s, lines, &tasks.n);
    struct err_detail none;
    tasks.arg = pieces;
    if (tasks.n == 1) {
        read_piece(pieces, 0, &none); /* not worth a thread */
    } else {
        (void)crew_run(&tasks, crew_size(tasks.n), &none);
    }
    uint64_t n_lines = 0;
    for (size_t i = 0; i < tasks.n; i++) {
        piece_done(&pieces[i], s, lines_before + n_lines);
        n_lines += pieces[i].n_lines;
    }
    free(pieces);
    return n_lines;
}
