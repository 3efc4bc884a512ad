/* SPDX-License-Identifier: Apache-2.0 */
/* Maps below the top level: `answer`, whose names this folder does not know, `backend`, and
 * `budgets`, where what is named less closely holds for what is left out. */
#include "service/config/config_parts.h"

struct limits_file {
    struct budget_limits limits;
    const struct yaml_node *tools;
};

#define AT(member) offsetof(struct limits_file, member)
static const struct yaml_field LIMITS_FIELDS[] = {
    {"per_minute", YAML_INTEGER, false, AT(limits.per_minute), 0, CONFIG_MAX_PER_MINUTE},
    {"burst", YAML_INTEGER, false, AT(limits.burst), 1, CONFIG_MAX_PER_MINUTE},
    {"per_day", YAML_INTEGER, false, AT(limits.per_day), 0, CONFIG_MAX_PER_DAY},
    {"tools", YAML_SUBTREE, false, AT(tools), 0, 0},
};
#undef AT

enum { N_LIMITS_FIELDS = 3, N_TENANT_FIELDS = 4, N_TOOLS = 2 };

struct budgets_file {
    const struct yaml_node *tenant, *subject, *tenants, *costs;
    struct yaml_texts paid;
};

static const struct yaml_field BUDGETS_FIELDS[] = {
    {"costs", YAML_SUBTREE, false, offsetof(struct budgets_file, costs), 0, 0},
    {"paid", YAML_TEXT_LIST, false, offsetof(struct budgets_file, paid), 0, 0},
    {"tenant", YAML_SUBTREE, false, offsetof(struct budgets_file, tenant), 0, 0},
    {"subject", YAML_SUBTREE, false, offsetof(struct budgets_file, subject), 0, 0},
    {"tenants", YAML_SUBTREE, false, offsetof(struct budgets_file, tenants), 0, 0},
};

struct tools_file {
    const struct yaml_node *tools[N_TOOLS];
};

static const struct yaml_field TOOLS_FIELDS[N_TOOLS] = {
    {"search_kb", YAML_SUBTREE, false, offsetof(struct tools_file, tools[0]), 0, 0},
    {"read", YAML_SUBTREE, false, offsetof(struct tools_file, tools[1]), 0, 0},
};

struct costs_file {
    int64_t costs[N_TOOLS];
};

static const struct yaml_field COSTS_FIELDS[N_TOOLS] = {
    {"search_kb", YAML_INTEGER, false, offsetof(struct costs_file, costs[0]), 1, CONFIG_MAX_COST},
    {"read", YAML_INTEGER, false, offsetof(struct costs_file, costs[1]), 1, CONFIG_MAX_COST},
};

static const struct yaml_field BACKEND_FIELDS[] = {
    {"max_rate", YAML_INTEGER, false, offsetof(struct config_values, backend_max_rate), 0,
     CONFIG_MAX_PER_MINUTE},
};

bool config_read_backend(struct config *c, const struct yaml_node *backend,
                         struct err_detail *detail)
{
    return !backend || yaml_read(c->doc, backend, BACKEND_FIELDS, 1, &c->values, detail);
}

/* The table is the map itself: any key, and each a number. */
bool config_read_answer(struct config *c, const struct yaml_node *answer, struct err_detail *detail)
{
    size_t n = answer && answer->kind == YAML_MAP ? answer->n : 0;
    struct yaml_field *fields = arena_alloc(&c->arena, n * sizeof(*fields));
    int64_t *values = arena_alloc(&c->arena, n * sizeof(*values));
    struct config_setting *settings = arena_alloc(&c->arena, n * sizeof(*settings));
    const struct yaml_node *node = n ? answer->first : NULL;
    for (size_t i = 0; i < n; i++, node = node->next) {
        fields[i] = (struct yaml_field){.key = node->key.p,
                                        .type = YAML_INTEGER,
                                        .offset = i * sizeof(*values),
                                        .max = UINT32_MAX};
        settings[i] = (struct config_setting){.key = node->key, .line = node->line};
    }
    if (answer && !yaml_read(c->doc, answer, fields, n, values, detail)) {
        return false;
    }
    for (size_t i = 0; i < n; i++) {
        settings[i].value = values[i];
    }
    c->values.answer = settings;
    c->values.n_answer = n;
    return true;
}

static bool read_limits(struct config *c, const struct yaml_node *node,
                        struct budget_limits *limits, struct err_detail *detail)
{
    struct limits_file file = {.limits = *limits};
    bool fine = !node || yaml_read(c->doc, node, LIMITS_FIELDS, N_LIMITS_FIELDS, &file, detail);
    *limits = file.limits;
    return fine;
}

static bool read_tools(struct config *c, struct slice tenant, const struct yaml_node *node,
                       struct tenant_budget *ret_budgets, struct err_detail *detail)
{
    struct tools_file file = {0};
    if (!yaml_read(c->doc, node, TOOLS_FIELDS, N_TOOLS, &file, detail)) {
        return false;
    }
    for (size_t i = 0; i < N_TOOLS; i++) {
        struct tenant_budget b = {tenant, slice_of(TOOLS_FIELDS[i].key), CONFIG_TOOL_LIMITS};
        if (file.tools[i]) {
            if (!read_limits(c, file.tools[i], &b.limits, detail)) {
                return false;
            }
            ret_budgets[c->values.n_budgets++] = b;
        }
    }
    return true;
}

static bool read_tenant(struct config *c, const struct yaml_node *node,
                        struct tenant_budget *budgets, struct err_detail *detail)
{
    struct limits_file file = {.limits = c->values.budget_tenant};
    if (!yaml_read(c->doc, node, LIMITS_FIELDS, N_TENANT_FIELDS, &file, detail)) {
        return false;
    }
    budgets[c->values.n_budgets++] = (struct tenant_budget){node->key, SLICE_NONE, file.limits};
    return !file.tools || read_tools(c, node->key, file.tools, budgets, detail);
}

static bool read_tenants(struct config *c, const struct yaml_node *map, struct err_detail *detail)
{
    if (map->kind != YAML_MAP) {
        yaml_error(c->doc, map->line, map->key, detail,
                   "must be a map of tenants' names to their limits");
        return false;
    }
    struct tenant_budget *budgets =
        arena_alloc(&c->arena, map->n * (1 + N_TOOLS) * sizeof(*budgets));
    c->values.budgets = budgets;
    for (const struct yaml_node *node = map->first; node; node = node->next) {
        if (!read_tenant(c, node, budgets, detail)) {
            return false;
        }
    }
    return true;
}

static bool mark_paid(struct config *c, struct config_tool *tools, struct slice name,
                      struct err_detail *detail)
{
    for (size_t i = 0; i < N_TOOLS; i++) {
        if (slice_eq(tools[i].tool, name)) {
            tools[i].is_paid = true;
            return true;
        }
    }
    return config_refuse(c, config_path_under(CONFIG_PATH("budgets"), "paid"), detail,
                         "lists `%.64s`, which is no tool; the tools are search_kb and read",
                         name.p);
}

static bool read_tool_settings(struct config *c, const struct budgets_file *budgets,
                               struct err_detail *detail)
{
    struct costs_file file = {{1, 1}};
    if (budgets->costs &&
        !yaml_read(c->doc, budgets->costs, COSTS_FIELDS, N_TOOLS, &file, detail)) {
        return false;
    }
    struct config_tool *tools = arena_alloc(&c->arena, N_TOOLS * sizeof(*tools));
    for (size_t i = 0; i < N_TOOLS; i++) {
        tools[i] = (struct config_tool){slice_of(COSTS_FIELDS[i].key), file.costs[i], false};
    }
    bool good = true;
    for (size_t i = 0; good && i < budgets->paid.n; i++) {
        good = mark_paid(c, tools, budgets->paid.items[i], detail);
    }
    c->values.tools = tools;
    c->values.n_tools = N_TOOLS;
    return good;
}

bool config_read_budgets(struct config *c, const struct yaml_node *budgets,
                         struct err_detail *detail)
{
    struct budgets_file file = {0};
    c->values.budget_tenant = CONFIG_TENANT_LIMITS;
    c->values.budget_subject = CONFIG_SUBJECT_LIMITS;
    if (budgets && !yaml_read(c->doc, budgets, BUDGETS_FIELDS,
                              sizeof(BUDGETS_FIELDS) / sizeof(BUDGETS_FIELDS[0]), &file, detail)) {
        return false;
    }
    return read_limits(c, file.tenant, &c->values.budget_tenant, detail) &&
           read_limits(c, file.subject, &c->values.budget_subject, detail) &&
           read_tool_settings(c, &file, detail) &&
           (!file.tenants || read_tenants(c, file.tenants, detail));
}
