/* SPDX-License-Identifier: Apache-2.0 */
/* Reading, refusing and describing the configuration file. */
#include "tests/unit/service/config/config_file.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#define folder config_file_folder
#define path config_file_path
#define detail config_file_detail
#define load_good config_file_load_good

TestSuite(config, .init = config_file_make, .fini = config_file_remove);

static struct config *load(const char *text)
{
    return config_file_load(slice_of(text));
}

Test(config, holds_every_default_where_the_file_says_nothing)
{
    struct config *c = load_good("log_level: warn\n");
    const struct config_values *v = config_values(c);
    cr_assert_str_eq(v->listen, "127.0.0.1:8080");
    cr_assert_str_eq(v->admin_listen, "127.0.0.1:9090");
    cr_assert_str_eq(v->log_level, "warn");
    const char *const empty[] = {v->public_url,     v->policy_file,    v->store,
                                 v->fence_key_file, v->audit_key_file, v->audit_file,
                                 v->token_key_file};
    for (size_t i = 0; i < sizeof(empty) / sizeof(empty[0]); i++) {
        cr_assert_str_eq(empty[i], "");
    }
    cr_assert(v->allowed_hosts.n == 0 && v->allowed_origins.n == 0);
    cr_assert(v->threads == 0 && v->workers == 0 && v->worker_queue == 256);
    cr_assert(v->deadline_ms == 10000 && v->drain_ms == 10000);
    cr_assert(v->max_connections == 10000 && v->max_in_flight == 1024);
    cr_assert(v->max_body_bytes == 1048576 && v->cache_bytes == 67108864);
    cr_assert(v->publish_output_schema);
    cr_assert(v->n_answer == 0 && v->n_budgets == 0);
    cr_assert(v->budget_tenant.per_minute == 120 && v->budget_tenant.burst == 20);
    cr_assert(v->budget_tenant.per_day == 20000 && v->budget_subject.per_day == 10000);
    cr_assert(v->budget_subject.per_minute == 60 && v->budget_subject.burst == 10);
    cr_assert(v->n_tools == 2 && slice_is(v->tools[0].tool, "search_kb"));
    cr_assert(slice_is(v->tools[1].tool, "read"));
    cr_assert(v->tools[0].cost == 1 && v->tools[1].cost == 1);
    cr_assert(!v->tools[0].is_paid && !v->tools[1].is_paid);
    cr_assert_eq(v->backend_max_rate, 0);
    cr_assert_not(v->redis.is_configured);
    config_free(c);
}

Test(config, reads_every_type)
{
    struct config *c = load_good("listen: \"[::1]:0\"\n"
                                 "public_url: https://kb.example.com/mcp\n"
                                 "allowed_hosts: [kb.example.com, \"kb:8443\"]\n"
                                 "allowed_origins: [\"https://app.example.com\"]\n"
                                 "cache_bytes: 68719476736\n"
                                 "publish_output_schema: false\n");
    const struct config_values *v = config_values(c);
    cr_assert_str_eq(v->listen, "[::1]:0");
    cr_assert_str_eq(v->public_url, "https://kb.example.com/mcp");
    cr_assert(v->allowed_hosts.n == 2 && slice_is(v->allowed_hosts.items[1], "kb:8443"));
    cr_assert(v->allowed_origins.n == 1);
    cr_assert_eq(v->cache_bytes, INT64_C(68719476736));
    cr_assert_not(v->publish_output_schema);
    config_free(c);
}

Test(config, makes_paths_absolute_from_the_files_folder)
{
    struct config *c = load_good("policy_file: policy.yaml\nstore: ../data/store\n"
                                 "fence_key_file: /etc/kb/fence.key\naudit_file: \"-\"\n");
    const struct config_values *v = config_values(c);
    char expected[256];
    (void)snprintf(expected, sizeof(expected), "%s/policy.yaml", folder);
    cr_assert_str_eq(v->policy_file, expected);
    (void)snprintf(expected, sizeof(expected), "%s/../data/store", folder);
    cr_assert_str_eq(v->store, expected);
    cr_assert_str_eq(v->fence_key_file, "/etc/kb/fence.key");
    cr_assert_str_eq(v->audit_file, "-");
    config_free(c);
}

Test(config, a_relative_file_name_counts_from_the_working_directory)
{
    config_free(load_good("policy_file: policy.yaml\naudit_file: audit.log\n"));
    char expected[256];
    (void)snprintf(expected, sizeof(expected), "%s/policy.yaml", folder);
    cr_assert_eq(chdir(folder), 0);
    struct config *c = config_load("kbgate.yaml", &detail);
    cr_assert(c, "%s", detail.text);
    cr_assert_eq(chdir("/"), 0);
    cr_assert_str_eq(config_values(c)->policy_file, expected);
    config_free(c);
    c = config_load(path + 1, &detail);
    cr_assert(c, "%s", detail.text);
    cr_assert_str_eq(config_values(c)->policy_file, expected);
    (void)snprintf(expected, sizeof(expected), "%s/audit.log", folder);
    cr_assert_str_eq(config_values(c)->audit_file, expected);
    config_free(c);
}

Test(config, takes_integers_at_both_limits_and_none_beyond)
{
    static const struct {
        const char *key;
        int64_t min, max;
    } rows[] = {{"threads", 0, 64},
                {"workers", 0, 64},
                {"worker_queue", 1, 100000},
                {"deadline_ms", 100, 120000},
                {"drain_ms", 0, 120000},
                {"max_connections", 1, 1000000},
                {"max_in_flight", 1, 100000},
                {"max_body_bytes", 1024, 1048576},
                {"cache_bytes", 0, INT64_C(68719476736)}};
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const int64_t tries[] = {rows[i].min - 1, rows[i].min, rows[i].max, rows[i].max + 1};
        for (size_t k = 0; k < 4; k++) {
            char text[128];
            (void)snprintf(text, sizeof(text), "%s: %lld\n", rows[i].key, (long long)tries[k]);
            struct config *c = load(text);
            cr_assert_eq(c != NULL, k == 1 || k == 2, "%s", text);
            cr_assert(c || strstr(detail.text, rows[i].key), "%s", detail.text);
            config_free(c);
        }
    }
}

Test(config, refuses_with_file_line_key_and_fix)
{
    static const struct {
        const char *text, *line, *reason;
    } cases[] = {
        {"store: a\nlisten_on: x\n", ":2: key `listen_on`", "nearest known key is `listen`"},
        {"polcy_file: x\n", ":1: key `polcy_file`", "`policy_file`"},
        {"listen: 8080\n", ":1: key `listen`", "HOST:PORT"},
        {"listen: \":8080\"\n", ":1: key `listen`", "HOST:PORT"},
        {"admin_listen: 127.0.0.1:65536\n", ":1: key `admin_listen`", "HOST:PORT"},
        {"listen: a:1\nadmin_listen: a:1\n", ":2: key `admin_listen`", "port of its own"},
        {"log_level: INFO\n", ":1: key `log_level`", "debug, info, warn or error"},
        {"threads: many\n", ":1: key `threads`", "0 to 64"},
        {"publish_output_schema: yes\n", ":1: key `publish_output_schema`", "true or false"},
        {"public_url: kb.example.com\n", ":1: key `public_url`", "http(s)://"},
        {"public_url: https://kb.example.com/mcp/\n", ":1: key `public_url`", "slash"},
        {"public_url: https://kb.example.com/mcp?a\n", ":1: key `public_url`", "query"},
        {"public_url: \"https://kb.example.com/mcp#a\"\n", ":1: key `public_url`", "fragment"},
        {"public_url: https://u@kb.example.com/mcp\n", ":1: key `public_url`", "user"},
        {"public_url: https:///mcp\n", ":1: key `public_url`", "HOST"},
        {"public_url: https://\n", ":1: key `public_url`", "HOST"},
        {"public_url: \"https://kb example/mcp\"\n", ":1: key `public_url`", "HOST"},
        {"allowed_hosts: [\"*\"]\n", ":1: key `allowed_hosts`", "hosts"},
        {"allowed_hosts: [\"https://a\"]\n", ":1: key `allowed_hosts`", "hosts"},
        {"allowed_hosts: a\n", ":1: key `allowed_hosts`", "must be a list"},
        {"allowed_origins: [\"*\"]\n", ":1: key `allowed_origins`", "origins"},
        {"allowed_origins: [\"https://a/b\"]\n", ":1: key `allowed_origins`", "without a path"},
        {"allowed_origins: [\"https://a/\"]\n", ":1: key `allowed_origins`", "without a path"},
        {"store: \"\"\n", ":1: key `store`", "empty"},
        {"store:\n", ":1: key `store`", "no value"},
        {"store: a\nstore: b\n", ":2: key `store`", "twice"},
        {"answer: [a]\n", ":1: key `answer`", "must be a map"},
        {"answer: {rrf_k: x}\n", ":1: key `rrf_k`", "whole number"},
        {"answer: {rrf_k: -1}\n", ":1: key `rrf_k`", "whole number"},
        {"answer: {rrf_k: 4294967296}\n", ":1: key `rrf_k`", "4294967295"},
        {"budgets: 1\n", ":1: key `budgets`", "must be a map"},
        {"budgets: {tenat: {}}\n", ":1: key `tenat`", "`tenant`"},
        {"budgets: {tenant: {burst: 0}}\n", ":1: key `burst`", "from 1"},
        {"budgets: {tenant: {per_day: -1}}\n", ":1: key `per_day`", "from 0"},
        {"budgets: {tenant: {per_minute: 1000001}}\n", ":1: key `per_minute`", "1000000"},
        {"budgets: {subject: {per_day: 1000000001}}\n", ":1: key `per_day`", "1000000000"},
        {"budgets: {tenant: {tools: {read: {}}}}\n", ":1: key `tools`", "unknown"},
        {"budgets: {tenants: [acme]}\n", ":1: key `tenants`", "map of tenants"},
        {"budgets: {tenants: {acme: 5}}\n", ":1: key `acme`", "must be a map"},
        {"budgets:\n  tenants:\n    acme:\n      tools: {search: {burst: 1}}\n", ":4: key `search`",
         "`search_kb`"},
        {"budgets: {tenants: {acme: {tools: {read: {burst: 0}}}}}\n", ":1: key `burst`", "from 1"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        cr_expect_null(load(cases[i].text), "accepted: %s", cases[i].text);
        cr_expect(strncmp(detail.text, path, strlen(path)) == 0, "%s", detail.text);
        cr_expect_not_null(strstr(detail.text, cases[i].line), "%s\nlacks %s", detail.text,
                           cases[i].line);
        cr_expect_not_null(strstr(detail.text, cases[i].reason), "%s\nlacks %s", detail.text,
                           cases[i].reason);
    }
}

Test(config, keeps_answer_settings_by_name)
{
    struct config *c = load_good("answer:\n  rrf_k: 10\n  byte_budget: 4294967295\n");
    const struct config_values *v = config_values(c);
    cr_assert_eq(v->n_answer, 2);
    cr_assert(slice_is(v->answer[0].key, "rrf_k") && v->answer[0].value == 10);
    cr_assert(v->answer[0].line == 2 && v->answer[1].line == 3);
    cr_assert_eq(v->answer[1].value, INT64_C(4294967295));
    config_free(c);
}

static void expect_budget(const struct tenant_budget *b, const char *tenant, const char *tool,
                          struct budget_limits limits)
{
    cr_expect(slice_is(b->tenant, tenant), "%.*s", (int)b->tenant.n, b->tenant.p);
    cr_expect(tool ? slice_is(b->tool, tool) : !b->tool.p);
    cr_expect_eq(b->limits.per_minute, limits.per_minute);
    cr_expect_eq(b->limits.burst, limits.burst);
    cr_expect_eq(b->limits.per_day, limits.per_day);
}

Test(config, named_budgets_fill_their_gaps_from_the_default)
{
    struct config *c = load_good("budgets:\n"
                                 "  tenants:\n"
                                 "    acme:\n"
                                 "      per_minute: 600\n"
                                 "      tools:\n"
                                 "        read: {per_day: 5}\n"
                                 "        search_kb: {per_minute: 30, burst: 3}\n"
                                 "    globex: {per_day: 0}\n"
                                 "  tenant: {burst: 7, per_day: 70}\n"
                                 "  subject: {per_minute: 0}\n");
    const struct config_values *v = config_values(c);
    cr_assert(v->budget_tenant.per_minute == 120 && v->budget_tenant.burst == 7);
    cr_assert(v->budget_subject.per_minute == 0 && v->budget_subject.burst == 10);
    cr_assert_eq(v->n_budgets, 4);
    expect_budget(&v->budgets[0], "acme", NULL, (struct budget_limits){600, 7, 70});
    expect_budget(&v->budgets[1], "acme", "search_kb", (struct budget_limits){30, 3, 0});
    expect_budget(&v->budgets[2], "acme", "read", (struct budget_limits){0, 10, 5});
    expect_budget(&v->budgets[3], "globex", NULL, (struct budget_limits){120, 7, 0});
    config_free(c);
}

Test(config, says_which_file_it_cannot_read_and_what_to_do)
{
    static const char missing[] = "/tmp/no such folder/kbgate.yaml";
    cr_assert_null(config_load(missing, &detail));
    cr_assert_not_null(strstr(detail.text, missing), "%s", detail.text);
    cr_assert_not_null(strstr(detail.text, "--config"), "%s", detail.text);
    cr_assert_null(config_load(folder, &detail));
    cr_assert_not_null(strstr(detail.text, "name the file in it"), "%s", detail.text);
    config_free(load_good("store: x\n"));
    cr_assert_eq(chmod(path, 0), 0);
    struct config *c = config_load(path, &detail);
    cr_assert(c || strstr(detail.text, "readable"), "%s", detail.text);
    cr_assert_eq(c != NULL, geteuid() == 0, "root alone reads what nobody may");
    config_free(c);
}

Test(config, caps_the_file_at_256_kib)
{
    for (size_t over = 0; over <= 2; over++) {
        struct dynbuf text;
        dynbuf_init(&text, CONFIG_MAX_BYTES + 2);
        dynbuf_add_text(&text, "store: x\n#");
        while (text.n < CONFIG_MAX_BYTES - 1 + over) {
            dynbuf_add_byte(&text, '-');
        }
        struct config *c = config_file_load(dynbuf_get(&text));
        cr_assert_eq(c != NULL, over < 2, "%zu bytes: %s", text.n, detail.text);
        config_free(c);
        dynbuf_done(&text);
    }
    cr_assert_not_null(strstr(detail.text, "larger than 256 KiB"), "%s", detail.text);
}

Test(config, survives_what_nobody_asks_about)
{
    config_free(NULL);
    cr_assert_null(config_load("/tmp/no such folder/x", NULL));
}

Test(config, describes_every_key_in_one_row_each)
{
    struct dynbuf out;
    dynbuf_init(&out, 64 * 1024);
    config_describe(&out);
    dynbuf_add_byte(&out, '\0');
    cr_assert_not(out.failed);
    static const char *const rows[] = {
        "| key | type | unit | default | reloadable | what |\n",
        "| `listen` | text | address | `127.0.0.1:8080` | no | ",
        "| `log_level` | text | debug\\|info\\|warn\\|error | `info` | yes | ",
        "| `threads` | int 0..64 | threads | 0 | no | ",
        "| `publish_output_schema` | flag |  | `true` | no | ",
        "| `policy_file` | path | path |  | no | ",
        "| `budgets.tenant.burst` | int 1..1000000 | calls | 20 | yes | ",
        "| `budgets.subject.per_day` | int 0..1000000000 | calls | 10000 | yes | ",
        "| `budgets.costs.TOOL` | int 1..1000 | calls | 1 | yes | ",
        "| `budgets.paid` | list | tool |  | yes | ",
        "| `backend.max_rate` | int 0..1000000 | calls | 0 | yes | ",
        "| `redis.replicas_max` | int 1..1000 | replicas |  | no | ",
        "| `redis.command_ms` | int 1..5000 | ms | 50 | no | ",
        "| `redis.key_prefix` | text | text | `kbgate:` | no | ",
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_expect_not_null(strstr(out.p, rows[i]), "lacks %s in\n%s", rows[i], out.p);
    }
#define X(key, member, type, standard, min, max, unit, reloadable, what)                           \
    cr_expect_not_null(strstr(out.p, "| `" key "` | " #type), key);
    CONFIG_TABLE(X)
#undef X
#define X(key, member, type, standard, min, max, unit, reloadable, what)                           \
    cr_expect_not_null(strstr(out.p, "| `redis." key "` | " #type), key);
    CONFIG_REDIS_TABLE(X)
#undef X
    for (const char *line = out.p; *line; line = strchr(line, '\n') + 1) {
        size_t bars = 0;
        for (const char *at = line; *at != '\n'; at++) {
            bars += *at == '|' && (at == line || at[-1] != '\\');
        }
        cr_expect_eq(bars, 7, "%.60s", line);
    }
    dynbuf_done(&out);
}
