/* SPDX-License-Identifier: Apache-2.0 */
/* md4c calls back for every block and span; a block's text gathers in one buffer that is flushed
 * into the outline where the block ends or a nested one begins. Tight list items have no paragraph
 * of their own, hence the flushing at both ends. */
#include "service/ingest/reader.h"

#include "service/ingest/reader_tags.h"

#include <md4c.h>

enum { LIST_DEPTH_MAX = 8, LINK_DEPTH_MAX = 8 };

/* One list that is open: unordered, or the number of its next item. */
struct list {
    bool ordered;
    unsigned next;
};

struct link {
    struct dynbuf target;
    size_t at; /* where its text begins in the block */
};

struct markdown {
    struct outline *o;
    struct dynbuf block;
    enum block_kind kind;
    unsigned level; /* of a heading */
    struct list lists[LIST_DEPTH_MAX];
    unsigned depth;       /* of lists, also beyond LIST_DEPTH_MAX */
    bool item_begins;     /* its marker has not been written */
    bool in_html, broken; /* broken: a piece of HTML could not be read */
    struct link links[LINK_DEPTH_MAX];
    unsigned n_links;
    struct dynbuf tag; /* of inline HTML: a tag may come in several lines */
    struct tags tags;
    bool hidden_inline; /* what is hidden began inside a paragraph, and ends with it */
};

/* Only inside a list: depth is 1 or more. */
static struct list *innermost(struct markdown *m)
{
    unsigned known = m->depth < LIST_DEPTH_MAX ? m->depth : LIST_DEPTH_MAX;
    return &m->lists[known > 0 ? known - 1 : 0];
}

/* Indentation and marker, or the same width of spaces for the item's further blocks. */
static void add_marker(struct markdown *m, struct dynbuf *out)
{
    unsigned shown = m->depth < LIST_DEPTH_MAX ? m->depth : LIST_DEPTH_MAX;
    for (unsigned i = 1; i < shown; i++) {
        dynbuf_add_text(out, "  ");
    }
    struct list *list = innermost(m);
    if (!m->item_begins) {
        dynbuf_add_text(out, "  ");
    } else if (list->ordered) {
        dynbuf_add_int(out, list->next++);
        dynbuf_add_text(out, ". ");
    } else {
        dynbuf_add_text(out, "- ");
    }
    m->item_begins = false;
}

static bool is_hidden(const struct markdown *m)
{
    return m->tags.depth > 0 && !m->in_html;
}

static void flush_html(struct markdown *m, struct slice html)
{
    if (m->tags.depth) {
        html = slice_skip(html, tags_scan(&m->tags, html));
    }
    m->broken = !reader_html_fragment(m->o, html) || m->broken;
    tags_scan(&m->tags, html);
}

static void flush(struct markdown *m)
{
    enum block_kind kind = m->kind;
    struct slice text = dynbuf_get(&m->block);
    if (text.n && m->in_html) {
        flush_html(m, text);
    } else if (text.n && kind == BLOCK_PARAGRAPH && m->depth) {
        struct dynbuf item;
        dynbuf_init(&item, OUTLINE_MAX_BYTES);
        add_marker(m, &item);
        dynbuf_add(&item, text);
        outline_add(m->o, BLOCK_ITEM, 0, dynbuf_get(&item));
        dynbuf_done(&item);
    } else if (text.n) {
        outline_add(m->o, kind, m->level, text);
    }
    dynbuf_cut(&m->block, 0);
    m->kind = BLOCK_PARAGRAPH;
    m->in_html = false;
    if (m->hidden_inline) {
        m->hidden_inline = false;
        m->tags.depth = 0;
    }
    dynbuf_cut(&m->tag, 0);
}

static void begin_list(struct markdown *m, bool ordered, unsigned start)
{
    m->depth++;
    if (m->depth <= LIST_DEPTH_MAX) {
        m->lists[m->depth - 1] = (struct list){ordered, start};
    }
}

static int on_enter_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    struct markdown *m = arg;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
        dynbuf_add_byte(&m->block, ' ');
        return 0;
    }
    flush(m);
    if (type == MD_BLOCK_H) {
        m->kind = BLOCK_HEADING;
        m->level = ((MD_BLOCK_H_DETAIL *)detail)->level;
    } else if (type == MD_BLOCK_CODE) {
        m->kind = BLOCK_CODE;
    } else if (type == MD_BLOCK_TR) {
        m->kind = BLOCK_ROW;
        dynbuf_add_byte(&m->block, '|');
    } else if (type == MD_BLOCK_HTML) {
        m->in_html = true;
    } else if (type == MD_BLOCK_UL) {
        begin_list(m, false, 0);
    } else if (type == MD_BLOCK_OL) {
        begin_list(m, true, ((MD_BLOCK_OL_DETAIL *)detail)->start);
    } else if (type == MD_BLOCK_LI) {
        m->item_begins = true;
    }
    return 0;
}

static int on_leave_block(MD_BLOCKTYPE type, void *detail, void *arg)
{
    (void)detail;
    struct markdown *m = arg;
    if (type == MD_BLOCK_TH || type == MD_BLOCK_TD) {
        dynbuf_add_text(&m->block, " |");
        return 0;
    }
    flush(m);
    if (type == MD_BLOCK_UL || type == MD_BLOCK_OL) {
        m->depth--;
        m->item_begins = false;
    }
    return 0;
}

static void add_attribute(struct dynbuf *out, const MD_ATTRIBUTE *a)
{
    for (size_t i = 0; a->text && a->substr_offsets[i] < a->size; i++) {
        MD_OFFSET at = a->substr_offsets[i];
        struct slice part = {a->text + at, a->substr_offsets[i + 1] - at};
        if (a->substr_types[i] == MD_TEXT_ENTITY) {
            reader_add_entity(out, part);
        } else {
            dynbuf_add(out, part);
        }
    }
}

static int on_enter_span(MD_SPANTYPE type, void *detail, void *arg)
{
    struct markdown *m = arg;
    if (type == MD_SPAN_A && m->n_links++ < LINK_DEPTH_MAX) {
        struct link *link = &m->links[m->n_links - 1];
        dynbuf_init(&link->target, OUTLINE_MAX_BYTES);
        add_attribute(&link->target, &((MD_SPAN_A_DETAIL *)detail)->href);
        link->at = m->block.n;
    }
    return 0;
}

static bool says_target(struct slice text, struct slice target)
{
    struct slice scheme = SLICE_LIT("mailto:");
    return slice_eq(text, target) ||
           (slice_starts(target, scheme) && slice_eq(text, slice_skip(target, scheme.n)));
}

/* "text (target)", unless the text is the target already or a heading would grow by it. */
static void end_link(struct markdown *m, const struct link *link)
{
    struct slice target = dynbuf_get(&link->target);
    struct slice text = slice_skip(dynbuf_get(&m->block), link->at);
    if (m->kind != BLOCK_HEADING && !is_hidden(m) && reader_link_is_shown(target) &&
        !says_target(text, target)) {
        dynbuf_add_text(&m->block, text.n ? " (" : "(");
        dynbuf_add(&m->block, target);
        dynbuf_add_byte(&m->block, ')');
    }
}

static int on_leave_span(MD_SPANTYPE type, void *detail, void *arg)
{
    (void)detail;
    struct markdown *m = arg;
    if (type == MD_SPAN_A && --m->n_links < LINK_DEPTH_MAX) {
        end_link(m, &m->links[m->n_links]);
        dynbuf_done(&m->links[m->n_links].target);
    }
    return 0;
}

static bool is_line_break(struct slice tag)
{
    return slice_starts(tag, SLICE_LIT("<br")) || slice_starts(tag, SLICE_LIT("<BR"));
}

static void take_inline_tag(struct markdown *m, struct slice text)
{
    bool hidden = m->tags.depth > 0;
    dynbuf_add(&m->tag, text);
    if (text.n && text.p[text.n - 1] == '>') {
        tags_scan(&m->tags, dynbuf_get(&m->tag));
        m->hidden_inline = m->tags.depth > 0 && (m->hidden_inline || !hidden);
        dynbuf_cut(&m->tag, 0);
    }
}

static int on_text(MD_TEXTTYPE type, const MD_CHAR *p, MD_SIZE n, void *arg)
{
    struct markdown *m = arg;
    struct slice text = {p, n};
    const char *newline = m->kind == BLOCK_ROW || m->kind == BLOCK_HEADING ? " " : "\n";
    if (type == MD_TEXT_HTML && !m->in_html) {
        take_inline_tag(m, text);
    }
    if (is_hidden(m)) {
        return 0;
    }
    switch (type) {
    case MD_TEXT_BR:
    case MD_TEXT_SOFTBR: dynbuf_add_text(&m->block, newline); break;
    case MD_TEXT_ENTITY: reader_add_entity(&m->block, text); break;
    case MD_TEXT_NULLCHAR: dynbuf_add_text(&m->block, "\xEF\xBF\xBD"); break;
    case MD_TEXT_HTML:
        if (m->in_html) {
            dynbuf_add(&m->block, text);
        } else if (is_line_break(text)) {
            dynbuf_add_text(&m->block, newline);
        }
        break;
    case MD_TEXT_NORMAL:
    case MD_TEXT_CODE:
    case MD_TEXT_LATEXMATH: dynbuf_add(&m->block, text); break;
    }
    return 0;
}

bool reader_markdown(struct outline *o, struct slice bytes, const char **ret_reason)
{
    static const MD_PARSER parser = {
        .flags = MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH,
        .enter_block = on_enter_block,
        .leave_block = on_leave_block,
        .enter_span = on_enter_span,
        .leave_span = on_leave_span,
        .text = on_text,
    };
    struct markdown m = {.o = o, .kind = BLOCK_PARAGRAPH};
    dynbuf_init(&m.block, OUTLINE_MAX_BYTES);
    dynbuf_init(&m.tag, OUTLINE_MAX_BYTES);
    bool parsed = md_parse(bytes.p, (MD_SIZE)bytes.n, &parser, &m) == 0;
    dynbuf_done(&m.block);
    dynbuf_done(&m.tag);
    *ret_reason = parsed ? "HTML inside that is nested too deeply or too long"
                         : "the Markdown parser gave up";
    return parsed && !m.broken;
}
