/* SPDX-License-Identifier: Apache-2.0 */
/* The configuration as a Markdown table, made from the list that the reader is made from. */
#include "service/config/config_parts.h"

struct row {
    const char *key, *type;
    int64_t min, max; /* int */
    const char *unit, *text;
    int64_t number; /* int: the default; text the others' */
    bool reloadable;
    const char *what;
};

#define TEXT_text(value) value
#define TEXT_path(value) value
#define TEXT_int(value) NULL
#define TEXT_flag(value) ((value) ? "true" : "false")
#define TEXT_list(value) value
#define NUMBER_text(value) 0
#define NUMBER_path(value) 0
#define NUMBER_int(value) value
#define NUMBER_flag(value) 0
#define NUMBER_list(value) 0

static const struct row ROWS[] = {
#define X(key, member, type, standard, min, max, unit, reloadable, what)                           \
    {key, #type, min, max, unit, TEXT_##type(standard), NUMBER_##type(standard), reloadable, what},
    CONFIG_TABLE(X)
#undef X
};

static const struct row REDIS_ROWS[] = {
#define X(key, member, type, standard, min, max, unit, reloadable, what)                           \
    {"redis." key, #type, min, max, unit, TEXT_##type(standard), NUMBER_##type(standard),          \
     reloadable,   what},
    CONFIG_REDIS_TABLE(X)
#undef X
};

/* A bar would end the cell. */
static void add_cell(struct dynbuf *out, const char *text)
{
    for (; *text; text++) {
        dynbuf_add_text(out, *text == '|' ? "\\" : "");
        dynbuf_add_byte(out, *text);
    }
}

static void add_range(struct dynbuf *out, const struct row *row)
{
    dynbuf_add_byte(out, ' ');
    dynbuf_add_int(out, row->min);
    dynbuf_add_text(out, "..");
    dynbuf_add_int(out, row->max);
}

static void add_default(struct dynbuf *out, const struct row *row)
{
    if (!row->text) {
        if (row->number >= row->min) { /* else it must be written */
            dynbuf_add_int(out, row->number);
        }
    } else if (*row->text) {
        dynbuf_add_byte(out, '`');
        add_cell(out, row->text);
        dynbuf_add_byte(out, '`');
    }
}

static void add_row(struct dynbuf *out, const struct row *row)
{
    dynbuf_add_text(out, "| `");
    add_cell(out, row->key);
    dynbuf_add_text(out, "` | ");
    add_cell(out, row->type);
    if (!row->text) {
        add_range(out, row);
    }
    dynbuf_add_text(out, " | ");
    add_cell(out, row->unit);
    dynbuf_add_text(out, " | ");
    add_default(out, row);
    dynbuf_add_text(out, row->reloadable ? " | yes | " : " | no | ");
    add_cell(out, row->what);
    dynbuf_add_text(out, " |\n");
}

static void add_limits(struct dynbuf *out, const char *const keys[3], struct budget_limits limits)
{
    const struct row rows[] = {
        {keys[0], "int", 0, CONFIG_MAX_PER_MINUTE, "calls", NULL, limits.per_minute, true,
         "charged calls a minute; 0: no limit"},
        {keys[1], "int", 1, CONFIG_MAX_PER_MINUTE, "calls", NULL, limits.burst, true,
         "calls that may come at once within the minute's rate"},
        {keys[2], "int", 0, CONFIG_MAX_PER_DAY, "calls", NULL, limits.per_day, true,
         "charged calls a day; 0: no limit"},
    };
    for (size_t i = 0; i < 3; i++) {
        add_row(out, &rows[i]);
    }
}

static void add_tools_and_engine(struct dynbuf *out)
{
    static const struct row rows[] = {
        {"budgets.costs.TOOL", "int", 1, CONFIG_MAX_COST, "calls", NULL, 1, true,
         "how many calls one of this tool counts for"},
        {"budgets.paid", "list", 0, 0, "tool", "", 0, true,
         "tools that cost money: retryable while Redis is away"},
        {"backend.max_rate", "int", 0, CONFIG_MAX_PER_MINUTE, "calls", NULL, 0, true,
         "calls a minute that the engine stands; a budget above it is refused; 0: not checked"},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        add_row(out, &rows[i]);
    }
}

static void add_maps(struct dynbuf *out)
{
    static const struct row answer = {
        "answer.NAME",
        "int",
        0,
        UINT32_MAX,
        "",
        "",
        0,
        false,
        "a setting of the answer profile by its name; a change changes index_version"};
    static const struct row named = {
        "budgets.tenants.NAME.*",
        "int",
        0,
        0,
        "calls",
        "",
        0,
        true,
        "the same three for one tenant; what is left out is as in budgets.tenant"};
    static const char *const tenant[] = {"budgets.tenant.per_minute", "budgets.tenant.burst",
                                         "budgets.tenant.per_day"};
    static const char *const subject[] = {"budgets.subject.per_minute", "budgets.subject.burst",
                                          "budgets.subject.per_day"};
    static const char *const tool[] = {"budgets.tenants.NAME.tools.TOOL.per_minute",
                                       "budgets.tenants.NAME.tools.TOOL.burst",
                                       "budgets.tenants.NAME.tools.TOOL.per_day"};
    add_row(out, &answer);
    add_limits(out, tenant, CONFIG_TENANT_LIMITS);
    add_limits(out, subject, CONFIG_SUBJECT_LIMITS);
    add_row(out, &named);
    add_limits(out, tool, CONFIG_TOOL_LIMITS);
    add_tools_and_engine(out);
}

void config_describe(struct dynbuf *out)
{
    dynbuf_add_text(out, "| key | type | unit | default | reloadable | what |\n"
                         "|---|---|---|---|---|---|\n");
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        add_row(out, &ROWS[i]);
    }
    add_maps(out);
    for (size_t i = 0; i < sizeof(REDIS_ROWS) / sizeof(REDIS_ROWS[0]); i++) {
        add_row(out, &REDIS_ROWS[i]);
    }
}
