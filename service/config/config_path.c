/* SPDX-License-Identifier: Apache-2.0 */
/* A setting below the top level is named by its whole path: `burst` alone says nothing in a file
 * with a dozen of them. */
#include "service/config/config_parts.h"

#include <stdarg.h>
#include <stdio.h>

enum { NAME_SHOWN_BYTES = 64 };

struct config_path config_path_under(struct config_path at, const char *name)
{
    if (at.n < CONFIG_PATH_NAMES) {
        at.names[at.n++] = slice_of(name);
    }
    return at;
}

void config_path_text(const struct config_path *at, char ret_text[CONFIG_PATH_TEXT_BYTES])
{
    size_t n = 0;
    for (size_t i = 0; i < at->n; i++) {
        struct slice name = at->names[i];
        int shown = name.n < NAME_SHOWN_BYTES ? (int)name.n : NAME_SHOWN_BYTES;
        n += (size_t)snprintf(ret_text + n, CONFIG_PATH_TEXT_BYTES - n, "%s%.*s", i ? "." : "",
                              shown, name.p);
    }
}

static const struct yaml_node *child_of(const struct yaml_node *parent, struct slice name)
{
    const struct yaml_node *child = parent->kind == YAML_MAP ? parent->first : NULL;
    while (child && !slice_eq(child->key, name)) {
        child = child->next;
    }
    return child;
}

/* How many of its names the file has, and the last of these. */
static size_t walk(const struct config *c, const struct config_path *at,
                   const struct yaml_node **ret_node)
{
    *ret_node = yaml_root(c->doc);
    for (size_t i = 0; i < at->n; i++) {
        const struct yaml_node *child = child_of(*ret_node, at->names[i]);
        if (!child) {
            return i;
        }
        *ret_node = child;
    }
    return at->n;
}

const struct yaml_node *config_find(const struct config *c, const struct config_path *at)
{
    const struct yaml_node *node;
    return walk(c, at, &node) == at->n ? node : NULL;
}

bool config_refuse(const struct config *c, struct config_path at, struct err_detail *detail,
                   const char *format, ...)
{
    char reason[sizeof(detail->text)], key[CONFIG_PATH_TEXT_BYTES] = "";
    const struct yaml_node *node;
    size_t found = walk(c, &at, &node);
    va_list args;
    va_start(args, format);
    (void)vsnprintf(reason, sizeof(reason), format, args);
    va_end(args);
    config_path_text(&at, key);
    yaml_error(c->doc, found ? node->line : 1, SLICE_NONE, detail, "key `%s`: %s", key, reason);
    return false;
}
