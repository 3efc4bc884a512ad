/* SPDX-License-Identifier: Apache-2.0 */
/* config_parts: what a config is made of, and how the parts of its file are read. Private to this
 * folder. */
#ifndef CONFIG_CONFIG_PARTS_H
#define CONFIG_CONFIG_PARTS_H

#include "service/base/arena.h"
#include "service/config/config.h"
#include "service/yaml/yaml.h"

struct config {
    struct yaml_doc *doc; /* most texts lie in it */
    struct arena arena;
    const char *folder; /* of the file, absolute, without a slash at its end */
    struct config_values values;
};

/* The file's rows that CONFIG_TABLE lists, as read. */
#define CONFIG_FILE_text(member) struct slice member;
#define CONFIG_FILE_path(member) struct slice member;
#define CONFIG_FILE_int(member) int64_t member;
#define CONFIG_FILE_flag(member) bool member;
#define CONFIG_FILE_list(member) struct yaml_texts member;
struct config_file {
#define X(key, member, type, standard, min, max, unit, reloadable, what) CONFIG_FILE_##type(member)
    CONFIG_TABLE(X)
#undef X
    const struct yaml_node *answer, *budgets;
};

/* What holds where the file says nothing, and what a limit may be. */
#define CONFIG_TENANT_LIMITS ((struct budget_limits){120, 20, 20000})
#define CONFIG_SUBJECT_LIMITS ((struct budget_limits){60, 10, 10000})
#define CONFIG_TOOL_LIMITS ((struct budget_limits){0, 10, 0})
#define CONFIG_MAX_PER_MINUTE INT64_C(1000000)
#define CONFIG_MAX_PER_DAY INT64_C(1000000000)

/* answer and budgets may be NULL. False with a reason. */
bool config_read_answer(struct config *c, const struct yaml_node *answer,
                        struct err_detail *detail);
bool config_read_budgets(struct config *c, const struct yaml_node *budgets,
                         struct err_detail *detail);

/* Whether the values make sense beyond their types. */
bool config_check(const struct config *c, struct err_detail *detail);

#endif
