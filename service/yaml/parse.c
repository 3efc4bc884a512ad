/* SPDX-License-Identifier: Apache-2.0 */
/* libyaml's events become a tree, and what this subset leaves out is refused on the way.
 *
 * libyaml hands on duplicate keys, tags and several documents without a word, and its cost is
 * quadratic in the nesting depth: so the depth is watched while parsing, not afterwards. */
#include "service/base/mem.h"
#include "service/yaml/check.h"
#include "service/yaml/doc.h"

#include <yaml.h>

struct frame {
    struct yaml_node *container;
    struct yaml_node *last;
    struct slice key; /* map: the key that waits for its value */
    int key_line;
};

struct build {
    struct yaml_doc *doc;
    struct err_detail *detail;
    struct frame frames[YAML_MAX_DEPTH];
    size_t depth;
    size_t documents;
    bool over;
};

/* The key the reader of an error would look for: the one being given a value, or the list's own. */
static struct slice current_key(const struct build *b)
{
    for (size_t i = b->depth; i-- > 0;) {
        if (b->frames[i].key.p) {
            return b->frames[i].key;
        }
        if (b->frames[i].container->key.p) {
            return b->frames[i].container->key;
        }
    }
    return SLICE_NONE;
}

static bool refuse(const struct build *b, int line, const char *reason)
{
    yaml_error(b->doc, line, current_key(b), b->detail, "%s", reason);
    return false;
}

static int line_of(const yaml_event_t *event)
{
    return (int)event->start_mark.line + 1;
}

static struct yaml_node *add_node(struct build *b, enum yaml_kind kind, int line)
{
    struct yaml_node *node = arena_alloc(&b->doc->arena, sizeof(*node));
    node->kind = kind;
    node->line = line;
    if (b->depth == 0) {
        b->doc->root = node;
        return node;
    }
    struct frame *top = &b->frames[b->depth - 1];
    if (top->key.p) {
        node->key = top->key;
        node->line = top->key_line;
    }
    top->key = SLICE_NONE;
    if (top->last) {
        top->last->next = node;
    } else {
        top->container->first = node;
    }
    top->last = node;
    top->container->n++;
    return node;
}

static bool expects_key(const struct build *b)
{
    if (b->depth == 0) {
        return false;
    }
    const struct frame *top = &b->frames[b->depth - 1];
    return top->container->kind == YAML_MAP && !top->key.p;
}

static bool check_marks(const struct build *b, int line, const void *anchor, const void *tag)
{
    if (anchor) {
        return refuse(b, line, "anchors (&name) are not supported; write the value out");
    }
    if (tag) {
        return refuse(b, line, "tags (!name) are not supported; put the text in quotes");
    }
    return true;
}

static bool begin_container(struct build *b, enum yaml_kind kind, int line)
{
    if (expects_key(b)) {
        return refuse(b, line, "a key must be a text; it is a list or a map");
    }
    if (b->depth == 0 && kind != YAML_MAP) {
        return refuse(b, line, "the file must be a map of keys and values");
    }
    if (b->depth == YAML_MAX_DEPTH) {
        return refuse(b, line, "is nested more than 16 deep; write it flatter");
    }
    struct yaml_node *node = add_node(b, kind, line);
    b->frames[b->depth++] = (struct frame){.container = node};
    return true;
}

static struct slice key_of(const struct yaml_node *node)
{
    return node->key;
}

static bool end_container(struct build *b)
{
    if (b->depth == 0) {
        return refuse(b, 1, "not well-formed: an end without a beginning");
    }
    const struct yaml_node *node = b->frames[--b->depth].container;
    if (node->kind != YAML_MAP) {
        return true;
    }
    const struct yaml_node *repeated = yaml_find_repeated(node->first, node->n, key_of);
    if (repeated) {
        yaml_error(b->doc, repeated->line, repeated->key, b->detail,
                   "stands twice in this map; keep one");
    }
    return !repeated;
}

static bool is_null(struct slice text)
{
    static const char *const words[] = {"", "~", "null", "Null", "NULL"};
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        if (slice_is(text, words[i])) {
            return true;
        }
    }
    return false;
}

static bool take_key(struct build *b, int line, struct slice text)
{
    if (slice_is(text, "<<")) {
        return refuse(b, line, "merge keys (<<) are not supported; write the values out");
    }
    if (text.n == 0) {
        return refuse(b, line, "a key is empty; name it");
    }
    b->frames[b->depth - 1].key = text;
    b->frames[b->depth - 1].key_line = line;
    return true;
}

static bool take_scalar(struct build *b, const yaml_event_t *event)
{
    int line = line_of(event);
    struct slice raw = {(const char *)event->data.scalar.value, event->data.scalar.length};
    bool quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
    if (!check_marks(b, line, event->data.scalar.anchor, event->data.scalar.tag)) {
        return false;
    }
    if (b->depth == 0) {
        return refuse(b, line, "the file must be a map of keys and values");
    }
    if (!quoted && is_null(raw)) {
        return refuse(b, line, "has no value (empty, ~ or null); write one or remove the key");
    }
    const char *wrong = yaml_check_text(raw);
    if (wrong) {
        return refuse(b, line, wrong);
    }
    struct slice text = arena_copy(&b->doc->arena, raw);
    if (expects_key(b)) {
        return take_key(b, line, text);
    }
    struct yaml_node *node = add_node(b, YAML_SCALAR, line);
    node->text = text;
    node->quoted = quoted;
    return true;
}

static bool begin_document(struct build *b, const yaml_event_t *event)
{
    if (b->documents++ > 0) {
        return refuse(b, line_of(event), "a second document begins here; keep one in the file");
    }
    if (event->data.document_start.version_directive ||
        event->data.document_start.tag_directives.start !=
            event->data.document_start.tag_directives.end) {
        return refuse(b, line_of(event), "directives (%NAME) are not supported; remove the line");
    }
    return true;
}

static bool take_event(struct build *b, const yaml_event_t *event)
{
    switch (event->type) {
    case YAML_DOCUMENT_START_EVENT: return begin_document(b, event);
    case YAML_SCALAR_EVENT: return take_scalar(b, event);
    case YAML_SEQUENCE_START_EVENT:
        return check_marks(b, line_of(event), event->data.sequence_start.anchor,
                           event->data.sequence_start.tag) &&
               begin_container(b, YAML_LIST, line_of(event));
    case YAML_MAPPING_START_EVENT:
        return check_marks(b, line_of(event), event->data.mapping_start.anchor,
                           event->data.mapping_start.tag) &&
               begin_container(b, YAML_MAP, line_of(event));
    case YAML_SEQUENCE_END_EVENT:
    case YAML_MAPPING_END_EVENT: return end_container(b);
    case YAML_ALIAS_EVENT:
        return refuse(b, line_of(event),
                      "aliases (*name) are not supported; a text that begins with * goes in "
                      "quotes, as in \"*\"");
    case YAML_STREAM_END_EVENT: b->over = true; return true;
    case YAML_STREAM_START_EVENT:
    case YAML_DOCUMENT_END_EVENT:
    case YAML_NO_EVENT: break;
    }
    return true;
}

static bool refuse_syntax(const struct build *b, const yaml_parser_t *parser)
{
    int line = (int)parser->problem_mark.line + 1;
    if (parser->context && strcmp(parser->context, "while scanning an alias") == 0) {
        return refuse(b, line, "a bare * begins an alias; write \"*\" in quotes");
    }
    yaml_error(b->doc, line, SLICE_NONE, b->detail,
               "not well-formed: %s%s%s; mind indentation "
               "and quotes",
               parser->context ? parser->context : "", parser->context ? ", " : "",
               parser->problem ? parser->problem : "unreadable");
    return false;
}

static bool run_parser(struct build *b, yaml_parser_t *parser)
{
    while (!b->over) {
        yaml_event_t event;
        if (!yaml_parser_parse(parser, &event)) {
            return refuse_syntax(b, parser);
        }
        bool fine = take_event(b, &event);
        yaml_event_delete(&event);
        if (!fine) {
            return false;
        }
    }
    if (!b->doc->root) {
        return refuse(b, 1, "is empty; write a map of keys and values");
    }
    return true;
}

static bool parse_into(struct yaml_doc *doc, struct slice bytes, struct err_detail *detail)
{
    struct build b = {.doc = doc, .detail = detail};
    yaml_parser_t parser;
    if (!yaml_parser_initialize(&parser)) {
        return refuse(&b, 1, "no memory to parse it");
    }
    yaml_parser_set_encoding(&parser, YAML_UTF8_ENCODING);
    yaml_parser_set_input_string(&parser, (const unsigned char *)bytes.p, bytes.n);
    bool fine = run_parser(&b, &parser);
    yaml_parser_delete(&parser);
    return fine;
}

static bool check_bytes(const struct yaml_doc *doc, struct slice bytes, struct err_detail *detail)
{
    if (bytes.n > YAML_MAX_BYTES) {
        yaml_error(doc, 1, SLICE_NONE, detail, "is larger than %d KiB; split or shorten it",
                   YAML_MAX_BYTES / 1024);
        return false;
    }
    int line = 0;
    const char *wrong = yaml_check_file(bytes, &line);
    if (wrong) {
        yaml_error(doc, line, SLICE_NONE, detail, "%s", wrong);
    }
    return !wrong;
}

struct yaml_doc *yaml_parse(struct slice bytes, const char *file_name, struct err_detail *detail)
{
    struct yaml_doc *doc = mem_alloc(sizeof(*doc));
    arena_init(&doc->arena);
    doc->file_name = arena_copy(&doc->arena, slice_of(file_name));
    if (slice_starts(bytes, SLICE_LIT("\xEF\xBB\xBF"))) {
        bytes = slice_skip(bytes, 3); /* a byte order mark, as some editors write */
    }
    if (!check_bytes(doc, bytes, detail) || !parse_into(doc, bytes, detail)) {
        yaml_doc_free(doc);
        return NULL;
    }
    return doc;
}
