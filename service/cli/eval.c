/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate eval: its sub-commands in a table. */
#include "service/cli/eval_common.h"

#include <stdio.h>
#include <string.h>

static const struct command *const PARTS[] = {&EVAL_RETRIEVAL, &EVAL_ABSTAIN, &EVAL_SCAN,
                                              &EVAL_FREEZE, &EVAL_LINT};

enum { N_PARTS = sizeof(PARTS) / sizeof(PARTS[0]) };

/* What follows "eval " in its name. */
static const char *part_name(const struct command *c)
{
    return c->name + strlen("eval ");
}

static void print_parts(FILE *to)
{
    fputs("Usage: kbgate eval PART [OPTION…]\n\nMeasures how good answers are. Parts:\n", to);
    for (size_t i = 0; i < N_PARTS; i++) {
        fprintf(to, "  %-10s %s\n", part_name(PARTS[i]), PARTS[i]->summary);
    }
    fputs("\nkbgate eval PART --help says more. Exit codes: 0 done, 1 failed or below a gate, "
          "2 usage.\n",
          to);
}

static int run_eval(int argc, char **argv)
{
    if (argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
        print_parts(stdout);
        return EXIT_DONE;
    }
    for (size_t i = 0; argc >= 2 && i < N_PARTS; i++) {
        if (strcmp(argv[1], part_name(PARTS[i])) == 0) {
            return PARTS[i]->run(argc - 1, argv + 1);
        }
    }
    if (argc >= 2) {
        fprintf(stderr, "kbgate eval: unknown part %s\n\n", argv[1]);
    }
    print_parts(stderr);
    return EXIT_USAGE;
}

const struct command COMMAND_EVAL = {
    .name = "eval",
    .arguments = "PART [OPTION…]",
    .summary = "measure retrieval and the scanner against judged sets",
    .description = "",
    .run = run_eval,
};
