/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate search: the same outcome from three places, as text for a person or as JSON. */
#include "service/base/json_write.h"
#include "service/cli/options.h"
#include "service/cli/search_http.h"
#include "service/cli/search_local.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OUTCOME_MAX_BYTES = 8 * 1024 * 1024, TEXT_SHOWN_BYTES = 300 };

struct values {
    const char *store, *config, *url, *token;
    int64_t top_k;
    bool json;
};

static const struct cli_option OPTIONS[] = {
    {"store", "DIR", "read a store as its owner: sees everything, needs no token", OPTION_TEXT,
     offsetof(struct values, store), 0, 0},
    {"config", "FILE", "search as the holder of --token, in this process", OPTION_TEXT,
     offsetof(struct values, config), 0, 0},
    {"url", "URL", "ask a running service: its /mcp address", OPTION_TEXT,
     offsetof(struct values, url), 0, 0},
    {"token", "T", "bearer token, for --config and --url (default: KBGATE_TOKEN)", OPTION_TEXT,
     offsetof(struct values, token), 0, 0},
    {"top-k", "N", "passages wanted, 1 to 20 (default 6)", OPTION_INT,
     offsetof(struct values, top_k), 1, 20},
    {"json", NULL, "print the outcome as JSON", OPTION_FLAG, offsetof(struct values, json), 0, 0},
};

static const char *member(const json_t *object, const char *key)
{
    const char *value = json_string_value(json_object_get(object, key));
    return value ? value : "";
}

/* The beginning of a passage on lines of its own, cut between characters. */
static void print_text(const char *text)
{
    size_t n = strlen(text);
    bool cut = n > TEXT_SHOWN_BYTES;
    if (cut) {
        n = TEXT_SHOWN_BYTES;
        while (n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80) {
            n--;
        }
    }
    printf("   ");
    for (size_t i = 0; i < n; i++) {
        putchar(text[i]);
        if (text[i] == '\n') {
            printf("   ");
        }
    }
    puts(cut ? " …" : "");
}

static void print_outcome(const json_t *outcome)
{
    const json_t *error = json_object_get(outcome, "error");
    if (error) {
        printf("%s: %s\n", member(error, "type"), member(error, "message"));
    }
    size_t i;
    json_t *result;
    json_array_foreach(json_object_get(outcome, "results"), i, result)
    {
        printf("%zu. %s  [%s]\n   %s\n", i + 1, member(result, "title"),
               member(result, "collection"), member(result, "chunk_id"));
        print_text(member(result, "text"));
    }
    printf("index_version: %s\n", member(outcome, "index_version"));
}

/* The exit code of an outcome: found or honestly empty is done, anything else failed. */
static int print(struct slice outcome, bool json)
{
    json_t *parsed = json_loadb(outcome.p, outcome.n, 0, NULL);
    const char *type = member(json_object_get(parsed, "error"), "type");
    bool done = parsed && (!*type || strcmp(type, "empty") == 0);
    if (json) {
        printf("%.*s\n", (int)outcome.n, outcome.p);
    } else {
        print_outcome(parsed);
    }
    json_decref(parsed);
    return done ? EXIT_DONE : EXIT_FAILED;
}

static bool find(const struct values *v, const char *query, struct dynbuf *out,
                 struct err_detail *detail)
{
    if (v->store) {
        return search_store(v->store, query, (uint32_t)v->top_k, out, detail);
    }
    struct dynbuf arguments;
    dynbuf_init(&arguments, OUTCOME_MAX_BYTES);
    struct json_writer w = json_writer_on(&arguments);
    json_object_begin(&w);
    json_member_text_z(&w, "query", query);
    json_member_int(&w, "top_k", v->top_k);
    json_object_end(&w);
    bool good = v->config ? search_config(v->config, v->token ? v->token : "",
                                          dynbuf_get(&arguments), out, detail)
                          : search_http(v->url, v->token, dynbuf_get(&arguments), out, detail);
    dynbuf_done(&arguments);
    return good;
}

static int run_search(int argc, char **argv)
{
    struct values v = {.top_k = 6, .token = getenv("KBGATE_TOKEN")};
    int first;
    int result = options_parse(&COMMAND_SEARCH, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    if (!!v.store + !!v.config + !!v.url != 1 || argc - first != 1) {
        return options_usage_error(&COMMAND_SEARCH, "%s",
                                   argc - first != 1
                                       ? "one QUERY is needed; put it in quotes"
                                       : "one of --store, --config and --url is needed");
    }
    struct err_detail detail = {""};
    struct dynbuf outcome;
    dynbuf_init(&outcome, OUTCOME_MAX_BYTES);
    result = find(&v, argv[first], &outcome, &detail)
                 ? print(dynbuf_get(&outcome), v.json)
                 : command_failed(&COMMAND_SEARCH, detail.text);
    dynbuf_done(&outcome);
    return result;
}

const struct command COMMAND_SEARCH = {
    .name = "search",
    .arguments = "--store DIR | --config FILE | --url URL [--token T] [--top-k N] [--json] QUERY",
    .summary = "search a store, or ask a service",
    .description = "Prints the passages that match QUERY, best first. With --json it prints the "
                   "outcome as the service\n"
                   "words it (over --url the passages are fenced as a model gets them).\n"
                   "Exit code 1 also for the outcomes invalid_input and retryable.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_search,
};
