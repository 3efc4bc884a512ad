/* SPDX-License-Identifier: Apache-2.0 */
/* doc: what a yaml_doc is made of. Private to this folder. */
#ifndef YAML_DOC_H
#define YAML_DOC_H

#include "service/base/arena.h"
#include "service/yaml/yaml.h"

struct yaml_doc {
    struct arena arena; /* every node and text */
    struct slice file_name;
    const struct yaml_node *root;
};

/* How many bytes of a name an error text shows: few, and never part of a character. */
int yaml_shown_bytes(struct slice name);

/* A node whose text stands twice in a chain, the first such in the file; NULL if all differ. */
typedef struct slice (*yaml_text_of)(const struct yaml_node *node);
const struct yaml_node *yaml_find_repeated(const struct yaml_node *first, size_t n,
                                           yaml_text_of text_of);

#endif
