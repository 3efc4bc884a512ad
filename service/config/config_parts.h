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

/* What a row's type makes: its place in what is read into, the reader's type, the default. */
#define CONFIG_FILE_text(member) struct slice member;
#define CONFIG_FILE_path(member) struct slice member;
#define CONFIG_FILE_int(member) int64_t member;
#define CONFIG_FILE_flag(member) bool member;
#define CONFIG_FILE_list(member) struct yaml_texts member;
#define CONFIG_TYPE_text YAML_TEXT
#define CONFIG_TYPE_path YAML_TEXT
#define CONFIG_TYPE_int YAML_INTEGER
#define CONFIG_TYPE_flag YAML_FLAG
#define CONFIG_TYPE_list YAML_TEXT_LIST
#define CONFIG_STANDARD_text(value) SLICE_LIT(value)
#define CONFIG_STANDARD_path(value) SLICE_LIT(value)
#define CONFIG_STANDARD_int(value) value
#define CONFIG_STANDARD_flag(value) value
#define CONFIG_STANDARD_list(value)                                                                \
    {                                                                                              \
        NULL, 0                                                                                    \
    }

/* The file's rows that CONFIG_TABLE lists, as read. */
struct config_file {
#define X(key, member, type, standard, min, max, unit, reloadable, what) CONFIG_FILE_##type(member)
    CONFIG_TABLE(X)
#undef X
    const struct yaml_node *answer, *budgets, *redis, *backend;
};

/* What holds where the file says nothing, and what a limit may be. */
#define CONFIG_TENANT_LIMITS ((struct budget_limits){120, 20, 20000})
#define CONFIG_SUBJECT_LIMITS ((struct budget_limits){60, 10, 10000})
#define CONFIG_TOOL_LIMITS ((struct budget_limits){0, 10, 0})
#define CONFIG_MAX_PER_MINUTE INT64_C(1000000)
#define CONFIG_MAX_PER_DAY INT64_C(1000000000)

#define CONFIG_MAX_COST INT64_C(1000)

/* Empty and "-" are no paths: nothing, and standard output. */
const char *config_absolute(struct config *c, struct slice path);

/* Each section may be NULL. False with a reason. */
bool config_read_answer(struct config *c, const struct yaml_node *answer,
                        struct err_detail *detail);
bool config_read_backend(struct config *c, const struct yaml_node *backend,
                         struct err_detail *detail);
bool config_read_budgets(struct config *c, const struct yaml_node *budgets,
                         struct err_detail *detail);
bool config_read_redis(struct config *c, const struct yaml_node *redis, struct err_detail *detail);

/* Whether the values make sense beyond their types: those of the top level; budgets among
 * themselves and beside backend. */
bool config_check(const struct config *c, struct err_detail *detail);
bool config_check_budgets(const struct config *c, struct err_detail *detail);

/* Where a setting stands in the file: names from the top down, as in budgets, tenant, burst. */
enum { CONFIG_PATH_NAMES = 6, CONFIG_PATH_TEXT_BYTES = 400 };
struct config_path {
    struct slice names[CONFIG_PATH_NAMES];
    size_t n;
};
#define CONFIG_PATH(name) ((struct config_path){{SLICE_LIT(name)}, 1})

struct config_path config_path_under(struct config_path at, const char *name);

/* Its names joined by dots, long ones cut. */
void config_path_text(const struct config_path *at, char ret_text[CONFIG_PATH_TEXT_BYTES]);

/* NULL where the file does not say it. */
const struct yaml_node *config_find(const struct config *c, const struct config_path *at);

/* Always false, with the reason: file, line (of what is nearest above it in the file where it is
 * not written), key, and what the format says. */
bool config_refuse(const struct config *c, struct config_path at, struct err_detail *detail,
                   const char *format, ...) __attribute__((format(printf, 4, 5)));

#endif
