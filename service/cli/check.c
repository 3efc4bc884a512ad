/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate check: opens everything `serve` would open, and shows what a token opens. */
#include "service/cli/options.h"
#include "service/pipeline/gate.h"

#include <stdio.h>

enum { OUTPUT_MAX_BYTES = 4 * 1024 * 1024, HOST_MAX_BYTES = 256, PLACE_MAX_BYTES = 300 };

struct values {
    const char *config, *token;
};

static const struct cli_option OPTIONS[] = {
    {"config", "FILE", "the configuration", OPTION_TEXT, offsetof(struct values, config), 0, 0},
    {"token", "T", "show the grants, the filter and the partitions of this token", OPTION_TEXT,
     offsetof(struct values, token), 0, 0},
};

static bool check_address(struct gate *gate, const struct config_values *c,
                          struct err_detail *detail)
{
    char host[HOST_MAX_BYTES];
    uint16_t port;
    if (!config_split_address(c->listen, host, sizeof(host), &port)) {
        err_detail_set(detail, "key `listen`: %s is no address; write HOST:PORT", c->listen);
        return false;
    }
    return gate_may_serve(gate, host, detail);
}

static int explain(struct gate *gate, const char *token)
{
    struct dynbuf out;
    dynbuf_init(&out, OUTPUT_MAX_BYTES);
    bool good = gate_explain_token(gate, slice_of(token), &out);
    printf("%.*s", (int)out.n, out.n ? out.p : "");
    dynbuf_done(&out);
    return good ? EXIT_DONE : command_failed(&COMMAND_CHECK, "the token is refused");
}

/* Without user and password. */
static void print_place(const char *what, const struct redis_address *address)
{
    char place[PLACE_MAX_BYTES];
    redis_address_describe(address, place, sizeof(place));
    printf("%s: in Redis at %s\n", what, place);
}

static int praise(const char *config_path, const struct config_values *c)
{
    printf("%s: good: `kbgate serve --config %s` would start\n", config_path, config_path);
    if (c->redis.is_configured) {
        print_place("cache", &c->redis.cache);
        print_place("budgets", &c->redis.budgets);
    }
    return EXIT_DONE;
}

static int run_check(int argc, char **argv)
{
    struct values v = {0};
    int first;
    int result = options_parse(&COMMAND_CHECK, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    if (!v.config || first != argc) {
        return options_usage_error(&COMMAND_CHECK, "--config FILE is needed");
    }
    struct err_detail detail = {""};
    struct config *config = config_load(v.config, &detail);
    struct gate *gate = config ? gate_open(config, v.config, &detail) : NULL;
    if (!gate || !check_address(gate, config_values(config), &detail)) {
        result = command_failed(&COMMAND_CHECK, detail.text);
    } else if (v.token) {
        result = explain(gate, v.token);
    } else {
        result = praise(v.config, config_values(config));
    }
    gate_close(gate);
    config_free(config);
    return result;
}

const struct command COMMAND_CHECK = {
    .name = "check",
    .arguments = "--config FILE [--token T]",
    .summary = "validate configuration and policy; explain a token",
    .description = "Opens everything `kbgate serve` would open and says what is wrong, with file, "
                   "line, key and fix.\n"
                   "With --token: whether it is accepted, which grant applies and why another does "
                   "not, the filter,\n"
                   "the partitions it opens and the index_version its holder sees.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_check,
};
