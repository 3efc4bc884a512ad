/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate: one binary, its commands in a table. */
#include "service/cli/options.h"

#include <jansson.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static const struct command *const COMMANDS[] = {
    &COMMAND_SERVE, &COMMAND_STDIO, &COMMAND_INGEST, &COMMAND_SEARCH,
    &COMMAND_TOKEN, &COMMAND_CHECK, &COMMAND_EVAL,   &COMMAND_VERSION,
};

enum { N_COMMANDS = sizeof(COMMANDS) / sizeof(COMMANDS[0]) };

static void print_usage(FILE *to)
{
    fputs("kbgate: one knowledge base behind one MCP tool, search_kb\n\nUsage: kbgate COMMAND "
          "[OPTION…]\n\n"
          "Commands:\n",
          to);
    for (size_t i = 0; i < N_COMMANDS; i++) {
        fprintf(to, "  %-10s %s\n", COMMANDS[i]->name, COMMANDS[i]->summary);
    }
    fputs("\nkbgate COMMAND --help says more. Exit codes: 0 done, 1 failed, 2 usage.\n", to);
}

static int run_version(int argc, char **argv)
{
    int first;
    int result = options_parse(&COMMAND_VERSION, argc, argv, NULL, &first);
    if (result >= 0) {
        return result;
    }
    if (first != argc) {
        return options_usage_error(&COMMAND_VERSION, "it takes no argument");
    }
    puts("kbgate " KB_VERSION);
    return EXIT_DONE;
}

const struct command COMMAND_VERSION = {
    .name = "version",
    .arguments = "",
    .summary = "print the version",
    .description = "Prints \"kbgate VERSION\".",
    .run = run_version,
};

/* Each segment costs descriptors, one a worker: the soft limit is often 1,024. */
static void raise_file_limit(void)
{
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
        limit.rlim_cur = limit.rlim_max;
        (void)setrlimit(RLIMIT_NOFILE, &limit);
    }
}

int main(int argc, char **argv)
{
    signal(SIGPIPE, SIG_IGN);
    raise_file_limit();
    json_object_seed(0); /* random, and before any thread: no caller can aim at one hash bucket */
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_usage(stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; argc >= 2 && i < N_COMMANDS; i++) {
        if (strcmp(argv[1], COMMANDS[i]->name) == 0) {
            return COMMANDS[i]->run(argc - 1, argv + 1);
        }
    }
    if (argc >= 2) {
        fprintf(stderr, "kbgate: unknown command %s\n\n", argv[1]);
    }
    print_usage(stderr);
    return EXIT_USAGE;
}
