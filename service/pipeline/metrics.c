/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/metrics.h"

#include "service/base/dynbuf.h"

static const char *const OUTCOMES[] = {
    [OUTCOME_OK] = "ok",
    [OUTCOME_EMPTY] = "empty",
    [OUTCOME_INVALID_INPUT] = "invalid_input",
    [OUTCOME_RETRYABLE] = "retryable",
    [OUTCOME_PERMANENT] = "permanent",
    [OUTCOME_PROTOCOL] = "protocol",
    [OUTCOME_UNAUTHORISED] = "unauthorised",
    [OUTCOME_CLIENT_GONE] = "client_gone",
};

static const char *const TOOLS[] = {
    [TOOL_NONE] = "none", [TOOL_SEARCH] = "search_kb", [TOOL_READ] = "read"};

const char *metrics_outcome_name(enum metrics_outcome outcome)
{
    return OUTCOMES[outcome];
}

const char *metrics_tool_name(enum metrics_tool tool)
{
    return TOOLS[tool];
}

void metrics_add_type(struct dynbuf *out, const char *name, const char *type)
{
    dynbuf_add_text(out, "# TYPE ");
    dynbuf_add_text(out, name);
    dynbuf_add_byte(out, ' ');
    dynbuf_add_text(out, type);
    dynbuf_add_byte(out, '\n');
}

void metrics_add_label(struct dynbuf *out, char before, const char *label, struct slice value)
{
    dynbuf_add_byte(out, before);
    dynbuf_add_text(out, label);
    dynbuf_add_text(out, "=\"");
    for (size_t i = 0; i < value.n; i++) {
        if (value.p[i] == '"' || value.p[i] == '\\') {
            dynbuf_add_byte(out, '\\');
        }
        dynbuf_add_byte(out, value.p[i]);
    }
    dynbuf_add_byte(out, '"');
}

static void add_value(struct dynbuf *out, int64_t value)
{
    dynbuf_add_byte(out, ' ');
    dynbuf_add_int(out, value);
    dynbuf_add_byte(out, '\n');
}

void metrics_end_sample(struct dynbuf *out, int64_t value)
{
    dynbuf_add_byte(out, '}');
    add_value(out, value);
}

void metrics_write_one(struct dynbuf *out, const char *name, const char *type, int64_t value)
{
    metrics_add_type(out, name, type);
    dynbuf_add_text(out, name);
    add_value(out, value);
}

/* name{label="value"} count */
static void add_labelled(struct dynbuf *out, const char *name, const char *label, const char *value,
                         unsigned long long count)
{
    dynbuf_add_text(out, name);
    metrics_add_label(out, '{', label, slice_of(value));
    metrics_end_sample(out, (int64_t)count);
}

static void write_requests(struct metrics *m, struct dynbuf *out)
{
    const char *name = "kbgate_requests_total";
    metrics_add_type(out, name, "counter");
    for (size_t tool = 0; tool < TOOL_COUNT; tool++) {
        for (size_t outcome = 0; outcome < OUTCOME_COUNT; outcome++) {
            dynbuf_add_text(out, name);
            metrics_add_label(out, '{', "tool", slice_of(TOOLS[tool]));
            metrics_add_label(out, ',', "outcome", slice_of(OUTCOMES[outcome]));
            metrics_end_sample(out, (int64_t)m->requests[tool][outcome]);
        }
    }
}

static void write_steps(struct metrics *m, const char *const *names, size_t n, struct dynbuf *out)
{
    metrics_add_type(out, "kbgate_step_total", "counter");
    for (size_t i = 0; i < n; i++) {
        add_labelled(out, "kbgate_step_total", "step", names[i], m->step_count[i]);
    }
    metrics_add_type(out, "kbgate_step_microseconds_total", "counter");
    for (size_t i = 0; i < n; i++) {
        add_labelled(out, "kbgate_step_microseconds_total", "step", names[i], m->step_us[i]);
    }
}

static void write_reasons(struct metrics *m, struct dynbuf *out)
{
    metrics_add_type(out, "kbgate_failures_total", "counter");
    for (size_t e = ERR_OK + 1; e < METRICS_ERRS; e++) {
        add_labelled(out, "kbgate_failures_total", "reason", err_name((enum err)e), m->failures[e]);
    }
    metrics_add_type(out, "kbgate_tokens_refused_total", "counter");
    for (size_t r = TOKEN_OK + 1; r < TOKEN_RESULT_COUNT; r++) {
        add_labelled(out, "kbgate_tokens_refused_total", "reason",
                     token_result_name((enum token_result)r), m->tokens_refused[r]);
    }
}

void metrics_write(struct metrics *m, const char *const *step_names, size_t n_steps,
                   struct dynbuf *out)
{
    write_requests(m, out);
    write_reasons(m, out);
    write_steps(m, step_names, n_steps, out);
    const struct {
        const char *name;
        unsigned long long value;
    } counters[] = {
        {"kbgate_cache_hits_total", m->cache_hits},
        {"kbgate_cache_misses_total", m->cache_misses},
        {"kbgate_budget_charged_total", m->charged},
        {"kbgate_budget_refunded_total", m->refunded},
        {"kbgate_scope_violations_total", m->scope_violations},
        {"kbgate_config_reloads_total", m->config_reloads},
        {"kbgate_config_reload_failures_total", m->config_reload_failures},
        {"kbgate_policy_reloads_total", m->policy_reloads},
        {"kbgate_policy_reload_failures_total", m->policy_reload_failures},
        {"kbgate_store_switches_total", m->store_switches},
        {"kbgate_store_failures_total", m->store_failures},
    };
    for (size_t i = 0; i < sizeof(counters) / sizeof(counters[0]); i++) {
        metrics_write_one(out, counters[i].name, "counter", (int64_t)counters[i].value);
    }
    metrics_write_one(out, "kbgate_requests_in_flight", "gauge", m->in_flight);
}
