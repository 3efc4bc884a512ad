/* SPDX-License-Identifier: Apache-2.0 */
/* libxml2 builds the tree; it is walked by a loop, since its depth is the author's choice. White
 * space collapses as in a browser except inside <pre>. */
#include "service/ingest/reader.h"

#include "service/base/utf8.h"

#include <libxml/HTMLparser.h>
#include <libxml/HTMLtree.h>
#include <strings.h>

enum { LINK_MAX_BYTES = 200, LIST_INDENT_MAX = 8 };

struct html {
    struct outline *o;
    struct dynbuf block;
    enum block_kind kind;
    unsigned level;           /* of a heading */
    unsigned pre, row, depth; /* how many <pre>, <tr> and lists are open */
    bool space;               /* white space waits for the next character */
    bool keep_title;
};

enum element {
    OTHER, /* inline: its text flows on */
    SKIPPED,
    BLOCK,
    HEADING,
    PRE,
    LIST,
    ITEM,
    ROW,
    CELL,
    BREAK,
    LINK,
};

static const struct {
    const char *name;
    enum element element;
} ELEMENTS[] = {
    {"a", LINK},           {"address", BLOCK},    {"article", BLOCK},  {"aside", BLOCK},
    {"blockquote", BLOCK}, {"br", BREAK},         {"button", SKIPPED}, {"caption", BLOCK},
    {"datalist", SKIPPED}, {"dd", BLOCK},         {"details", BLOCK},  {"div", BLOCK},
    {"dl", BLOCK},         {"dt", BLOCK},         {"fieldset", BLOCK}, {"figcaption", BLOCK},
    {"figure", BLOCK},     {"footer", BLOCK},     {"form", BLOCK},     {"h1", HEADING},
    {"h2", HEADING},       {"h3", HEADING},       {"h4", HEADING},     {"h5", HEADING},
    {"h6", HEADING},       {"header", BLOCK},     {"hr", BLOCK},       {"iframe", SKIPPED},
    {"li", ITEM},          {"main", BLOCK},       {"nav", SKIPPED},    {"noscript", SKIPPED},
    {"object", SKIPPED},   {"ol", LIST},          {"p", BLOCK},        {"pre", PRE},
    {"script", SKIPPED},   {"section", BLOCK},    {"select", SKIPPED}, {"style", SKIPPED},
    {"summary", BLOCK},    {"svg", SKIPPED},      {"table", BLOCK},    {"td", CELL},
    {"template", SKIPPED}, {"textarea", SKIPPED}, {"th", CELL},        {"title", SKIPPED},
    {"tr", ROW},           {"ul", LIST},
};

static enum element element_of(const xmlNode *node)
{
    for (size_t i = 0; i < sizeof(ELEMENTS) / sizeof(ELEMENTS[0]); i++) {
        if (strcmp((const char *)node->name, ELEMENTS[i].name) == 0) {
            return ELEMENTS[i].element;
        }
    }
    return OTHER;
}

/* The attribute's text, owned by the tree; SLICE_NONE: none. */
static struct slice attribute(const xmlNode *node, const char *name)
{
    const xmlAttr *a = xmlHasProp(node, (const xmlChar *)name);
    if (!a) {
        return SLICE_NONE;
    }
    return a->children && a->children->content ? slice_of((const char *)a->children->content)
                                               : (struct slice){"", 0};
}

static bool is_true(struct slice value)
{
    return value.n == 4 && strncasecmp(value.p, "true", 4) == 0;
}

/* What a browser does not show or not read out. The parser has names in lower case. */
static bool is_hidden(const xmlNode *node)
{
    return attribute(node, "hidden").p || is_true(attribute(node, "aria-hidden")) ||
           reader_style_hides(attribute(node, "style")) ||
           slice_is(attribute(node, "class"), "headerlink") ||
           (strcmp((const char *)node->name, "dialog") == 0 && !attribute(node, "open").p);
}

static void flush(struct html *h)
{
    struct slice text = dynbuf_get(&h->block);
    if (text.n && h->kind == BLOCK_ITEM) {
        struct dynbuf item;
        dynbuf_init(&item, OUTLINE_MAX_BYTES);
        for (unsigned i = 1; i < h->depth && i < LIST_INDENT_MAX; i++) {
            dynbuf_add_text(&item, "  ");
        }
        dynbuf_add_text(&item, "- ");
        dynbuf_add(&item, text);
        outline_add(h->o, BLOCK_ITEM, 0, dynbuf_get(&item));
        dynbuf_done(&item);
    } else if (text.n) {
        outline_add(h->o, h->kind, h->level, text);
    }
    if (text.n) {
        h->kind = BLOCK_PARAGRAPH; /* else what was announced still comes: <li><p>text */
    }
    dynbuf_cut(&h->block, 0);
    h->space = false;
}

static void add_text(struct html *h, struct slice text)
{
    if (h->pre) {
        dynbuf_add(&h->block, text);
        return;
    }
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];
        if (c == ' ' || (c >= '\t' && c <= '\r')) {
            h->space = h->block.n > 0;
            continue;
        }
        if (h->space && h->block.p[h->block.n - 1] != '\n') {
            dynbuf_add_byte(&h->block, ' ');
        }
        h->space = false;
        dynbuf_add_byte(&h->block, c);
    }
}

static void enter_row(struct html *h)
{
    flush(h);
    h->kind = BLOCK_ROW;
    h->row++;
    dynbuf_add_byte(&h->block, '|');
}

static void take_title(struct html *h, const xmlNode *node)
{
    const xmlNode *text = node->children;
    if (h->keep_title && text && text->content && h->o->title.n == 0) {
        outline_add_line(&h->o->title, slice_of((const char *)text->content));
    }
}

/* False: nothing below the element is wanted. */
static bool enter(struct html *h, const xmlNode *node)
{
    enum element e = is_hidden(node) ? SKIPPED : element_of(node);
    bool flows = h->row && e != SKIPPED && e != CELL && e != ROW && e != LINK; /* inside a cell */
    switch (flows ? OTHER : e) {
    case SKIPPED: return false;
    case BLOCK: flush(h); break;
    case HEADING:
        flush(h);
        h->kind = BLOCK_HEADING;
        h->level = (unsigned)(node->name[1] - '0');
        break;
    case PRE:
        flush(h);
        h->kind = BLOCK_CODE;
        h->pre++;
        break;
    case LIST:
        flush(h);
        h->depth++;
        break;
    case ITEM:
        flush(h);
        h->kind = BLOCK_ITEM;
        break;
    case ROW: enter_row(h); break;
    case CELL: h->space = h->row > 0; break;
    case BREAK:
        dynbuf_add_byte(&h->block, h->kind == BLOCK_HEADING ? ' ' : '\n');
        h->space = false;
        break;
    case OTHER: h->space = h->space || (flows && e != OTHER && h->block.n > 0); break;
    case LINK: break;
    }
    return true;
}

static void leave_link(struct html *h, const xmlNode *node)
{
    struct slice target = attribute(node, "href");
    const xmlNode *text = node->children;
    bool same = text && text->content && slice_is(target, (const char *)text->content);
    if (h->kind != BLOCK_HEADING && !same && reader_link_is_shown(target)) {
        dynbuf_add_text(&h->block, " (");
        dynbuf_add(&h->block, target);
        dynbuf_add_byte(&h->block, ')');
    }
}

static void leave(struct html *h, const xmlNode *node)
{
    enum element e = element_of(node);
    if (e == LINK) {
        leave_link(h, node);
    } else if (e == CELL && h->row) {
        dynbuf_add_text(&h->block, " |");
        h->space = false;
    } else if (e == ROW && h->row) {
        h->row--;
        flush(h);
    } else if (h->row == 0 && e != OTHER && e != BREAK && e != CELL && e != ROW) {
        flush(h);
        h->kind = BLOCK_PARAGRAPH;
    }
    if (e == PRE && h->pre) {
        h->pre--;
    }
    if (e == LIST && h->depth) {
        h->depth--;
    }
}

/* Whether the node's children are to be visited. */
static bool visit(struct html *h, const xmlNode *node)
{
    bool text = node->type == XML_TEXT_NODE || node->type == XML_CDATA_SECTION_NODE;
    if (text && node->content) {
        add_text(h, slice_of((const char *)node->content));
    }
    if (node->type != XML_ELEMENT_NODE || !enter(h, node)) {
        return false;
    }
    if (!node->children) {
        leave(h, node);
    }
    return node->children != NULL;
}

static void walk(struct html *h, const xmlNode *root)
{
    const xmlNode *node = root;
    while (node) {
        if (visit(h, node)) {
            node = node->children;
            continue;
        }
        while (node != root && !node->next) {
            node = node->parent;
            leave(h, node);
        }
        node = node == root ? NULL : node->next;
    }
    flush(h);
}

/* The first element of that name at or below root, and whether there is another. */
static const xmlNode *find(const xmlNode *root, const char *name, bool *ret_several)
{
    const xmlNode *found = NULL;
    *ret_several = false;
    for (const xmlNode *node = root; node;) {
        if (node->type == XML_ELEMENT_NODE && strcmp((const char *)node->name, name) == 0) {
            *ret_several = found != NULL;
            found = found ? found : node;
        }
        if (node->children && node->type == XML_ELEMENT_NODE) {
            node = node->children;
            continue;
        }
        while (node != root && !node->next) {
            node = node->parent;
        }
        node = node == root ? NULL : node->next;
    }
    return found;
}

/* *ret_whole: the parser reached the end instead of one of its limits (depth, text length). */
static htmlDocPtr parse(struct slice bytes, bool *ret_whole)
{
    htmlParserCtxtPtr context = htmlNewParserCtxt();
    *ret_whole = false;
    if (!context) {
        return NULL;
    }
    htmlDocPtr doc =
        htmlCtxtReadMemory(context, bytes.p, (int)bytes.n, NULL, "UTF-8",
                           HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING |
                               HTML_PARSE_NONET | HTML_PARSE_NODEFDTD | HTML_PARSE_COMPACT);
    *ret_whole = !context->disableSAX;
    htmlFreeParserCtxt(context);
    return doc;
}

static void read_tree(struct html *h, const xmlNode *root)
{
    dynbuf_init(&h->block, OUTLINE_MAX_BYTES);
    bool several;
    const xmlNode *title = h->keep_title ? find(root, "title", &several) : NULL;
    if (title) {
        take_title(h, title);
    }
    const xmlNode *main_part = find(root, "main", &several);
    walk(h, main_part && !several ? main_part : root);
    dynbuf_done(&h->block);
}

void reader_start(void)
{
    xmlInitParser();
}

/* An empty tree is no error: a fragment may be a comment, a page a blank one. */
static bool read_html(struct html *h, struct slice bytes)
{
    bool whole;
    htmlDocPtr doc = parse(bytes, &whole);
    const xmlNode *root = doc ? xmlDocGetRootElement(doc) : NULL;
    if (root && whole) {
        read_tree(h, root);
    }
    xmlFreeDoc(doc);
    return whole;
}

bool reader_html(struct outline *o, struct slice bytes, const char **ret_reason)
{
    struct html h = {.o = o, .kind = BLOCK_PARAGRAPH, .keep_title = true};
    *ret_reason = "HTML that is nested too deeply, or one text in it is over 10 MB";
    return read_html(&h, bytes);
}

bool reader_html_fragment(struct outline *o, struct slice bytes)
{
    struct html h = {.o = o, .kind = BLOCK_PARAGRAPH};
    return read_html(&h, bytes);
}

bool reader_link_is_shown(struct slice target)
{
    bool absolute = slice_starts(target, SLICE_LIT("https://")) ||
                    slice_starts(target, SLICE_LIT("http://")) ||
                    slice_starts(target, SLICE_LIT("mailto:"));
    for (size_t i = 0; i < target.n; i++) {
        absolute = absolute && (unsigned char)target.p[i] > ' ';
    }
    return absolute && target.n <= LINK_MAX_BYTES;
}

/* "#8364" or "#x20AC"; UTF8_BAD if it is no scalar value. */
static uint32_t numeric(struct slice digits)
{
    bool hex = digits.n > 1 && (digits.p[1] | 0x20) == 'x';
    uint32_t code = 0;
    for (size_t i = hex ? 2 : 1; i < digits.n && code <= 0x10FFFF; i++) {
        unsigned char c = (unsigned char)digits.p[i];
        uint32_t digit = c <= '9' ? (uint32_t)(c - '0') : (uint32_t)((c | 0x20) - 'a' + 10);
        code = code * (hex ? 16 : 10) + digit;
    }
    bool valid = code && code <= 0x10FFFF && (code < 0xD800 || code > 0xDFFF);
    return valid ? code : UTF8_BAD;
}

void reader_add_entity(struct dynbuf *out, struct slice entity)
{
    char name[16] = "";
    struct slice inner = {entity.p + 1, entity.n > 2 ? entity.n - 2 : 0};
    uint32_t code = UTF8_BAD;
    if (inner.n && inner.p[0] == '#') {
        code = numeric(inner);
    } else if (inner.n && inner.n < sizeof(name)) {
        memcpy(name, inner.p, inner.n);
        const htmlEntityDesc *known = htmlEntityLookup((const xmlChar *)name);
        code = known ? known->value : UTF8_BAD;
    }
    if (code == UTF8_BAD) {
        dynbuf_add(out, entity);
    } else {
        utf8_add(out, code);
    }
}
