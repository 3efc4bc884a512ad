/* SPDX-License-Identifier: Apache-2.0 */
/* options: the command line of one command as a table: parsing, --help and usage errors. */
#ifndef CLI_OPTIONS_H
#define CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Exit codes of every command. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

enum option_kind {
    OPTION_FLAG,  /* bool */
    OPTION_TEXT,  /* const char *; the last one counts */
    OPTION_TEXTS, /* struct option_texts: may be repeated */
    OPTION_INT,   /* int64_t, within min..max */
};

enum { OPTION_TEXTS_MAX = 64 };

struct option_texts {
    const char *items[OPTION_TEXTS_MAX];
    size_t n;
};

struct cli_option {
    const char *name;     /* without the dashes */
    const char *argument; /* how --help names its value; NULL for a flag */
    const char *help;
    enum option_kind kind;
    size_t offset; /* in the command's struct */
    int64_t min, max;
};

struct command {
    const char *name, *arguments; /* arguments: as the usage line shows them */
    const char *summary;          /* one line */
    const char *description;      /* --help, below the usage line */
    const struct cli_option *options;
    size_t n_options;
    int (*run)(int argc, char **argv); /* argv[0] is the command's name */
};

/* Fills `values` (holding the defaults). What is no option is moved behind the options; *ret_first
 * is its index. Returns -1 to go on, else the exit code (--help: EXIT_DONE, a mistake: EXIT_USAGE).
 */
int options_parse(const struct command *c, int argc, char **argv, void *values, int *ret_first);

/* "kbgate NAME: message" and a hint at --help on stderr; returns EXIT_USAGE. */
int options_usage_error(const struct command *c, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* The same for what failed while running; returns EXIT_FAILED. */
int command_failed(const struct command *c, const char *reason);

extern const struct command COMMAND_SERVE, COMMAND_STDIO, COMMAND_INGEST, COMMAND_SEARCH,
    COMMAND_TOKEN, COMMAND_CHECK, COMMAND_EVAL, COMMAND_VERSION;

#endif
