/* SPDX-License-Identifier: Apache-2.0 */
/* condition: `when` and `unless` of the policy file. Private to this folder. Pure. */
#ifndef SCOPE_CONDITION_H
#define SCOPE_CONDITION_H

#include "auth/claims.h"
#include "service/yaml/yaml.h"

enum condition_kind {
    CONDITION_SCOPES_ALL,
    CONDITION_SCOPES_ANY,
    CONDITION_GROUPS_ALL,
    CONDITION_GROUPS_ANY,
    CONDITION_CLIENT_IDS_ANY,
    CONDITION_COUNT /* also: none of them */
};

/* AND-ed. items NULL: not written, so always met. Written but empty: never met. */
struct condition {
    struct yaml_texts lists[CONDITION_COUNT];
};

/* Reads a map that holds at least one of them. */
bool condition_read(struct yaml_doc *doc, const struct yaml_node *map,
                    struct condition *ret_condition, struct err_detail *detail);

/* The first that the claims do not meet; CONDITION_COUNT: all are met. */
enum condition_kind condition_first_unmet(const struct condition *c, const struct claims *claims);

const char *condition_name(enum condition_kind kind);

#endif
