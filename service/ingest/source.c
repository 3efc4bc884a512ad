/* SPDX-License-Identifier: Apache-2.0 */
/* What a file turns into depends on its type alone; what is wrong with it costs that file, or that
 * record, and is reported. */
#include "service/ingest/source.h"

#include "service/ingest/chunker.h"
#include "service/ingest/front_matter.h"
#include "service/ingest/jsonl.h"
#include "service/ingest/reader.h"
#include "service/ingest/source_lines.h"

/* Any document */

void source_add_document(const struct source *s, uint64_t line, const struct fields *f,
                         const struct outline *o, const struct chunk_input *ready)
{
    struct collect *c = s->collect;
    struct document d = {.path = s->file->relative.p, .line = line};
    char reason[FIELD_REASON_BYTES];
    if (!fields_resolve(f, &c->arena, &d.head, reason)) {
        collect_skip(c, d.path, line, reason);
        return;
    }
    d.chunks = ready;
    d.n_chunks = ready ? 1 : 0;
    if (!ready) {
        d.chunks = chunk_outline(o, d.head.title, &c->arena, &d.n_chunks);
    }
    if (d.n_chunks == 0) {
        collect_skip(c, d.path, line, "no text in it");
        return;
    }
    collect_push(c, &d);
}

/* Files that are one document */

static struct slice title_from_name(struct slice relative)
{
    size_t begin = relative.n, end = relative.n;
    while (begin && relative.p[begin - 1] != '/') {
        begin--;
    }
    for (size_t i = begin + 1; i < relative.n; i++) {
        end = relative.p[i] == '.' ? i : end;
    }
    return (struct slice){relative.p + begin, end - begin};
}

bool source_outline(enum file_type type, struct slice text, struct outline *o,
                    const char **ret_reason)
{
    switch (type) {
    case FILE_MARKDOWN: return reader_markdown(o, text, ret_reason);
    case FILE_HTML: return reader_html(o, text, ret_reason);
    case FILE_TEXT: reader_text(o, text); return true;
    case FILE_JSONL:
    case FILE_OTHER: break;
    }
    *ret_reason = "unsupported type";
    return false;
}

/* The size of the front matter, read into ret_fields. False with the reason for a head of a file
 * that cannot be told from one that says who may read it. */
static bool read_head(const struct source *s, struct slice text, struct fields *ret_fields,
                      size_t *ret_size)
{
    struct collect *c = s->collect;
    char reason[FIELD_REASON_BYTES];
    uint64_t line = 0;
    bool good;
    *ret_size = s->file->type == FILE_MARKDOWN ? front_matter_size(text) : 0;
    if (*ret_size) {
        good = front_matter_read((struct slice){text.p, *ret_size}, &c->arena, ret_fields, &line,
                                 reason);
    } else {
        good = !front_matter_is_missed(text, s->file->type == FILE_MARKDOWN, &line, reason);
    }
    if (!good) {
        collect_skip(c, s->file->relative.p, line, reason);
    }
    return good;
}

static void read_text_file(const struct source *s, struct slice text)
{
    struct collect *c = s->collect;
    struct fields front = {0}, f = s->entry ? s->entry->fields : (struct fields){0};
    const char *why = NULL;
    struct outline o;
    size_t n;
    if (!read_head(s, text, &front, &n)) {
        return;
    }
    outline_init(&o);
    if (source_outline(s->file->type, slice_skip(text, n), &o, &why)) {
        fields_default(&f, &front);
        fields_default(&f, s->defaults);
        fields_default(&f, &(struct fields){.id = s->file->relative, .title = outline_title(&o)});
        fields_default(&f, &(struct fields){.title = title_from_name(s->file->relative)});
        source_add_document(s, 0, &f, &o, NULL);
    } else {
        collect_skip(c, s->file->relative.p, 0, why);
    }
    outline_done(&o);
}

/* Files */

void source_read(const struct source *s)
{
    struct collect *c = s->collect;
    struct dynbuf bytes;
    char reason[FIELD_REASON_BYTES];
    dynbuf_init(&bytes, INGEST_FILE_MAX_BYTES);
    bool lines = s->file->type == FILE_JSONL;
    if (!file_read(s->file->path, &bytes, reason) || (!lines && !file_to_text(&bytes, reason))) {
        collect_skip(c, s->file->relative.p, 0, reason);
    } else {
        c->report->files++;
        if (lines) {
            source_read_lines(s, jsonl_without_mark(dynbuf_get(&bytes)), 0);
        } else {
            read_text_file(s, dynbuf_get(&bytes));
        }
    }
    dynbuf_done(&bytes);
}
