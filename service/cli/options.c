/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cli/options.h"

#include "service/base/mem.h"
#include "service/cli/visible.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HELP_WIDTH = 26 };

static void print_help(const struct command *c)
{
    printf("Usage: kbgate %s%s%s\n\n%s\n\nOptions:\n", c->name, *c->arguments ? " " : "",
           c->arguments, c->description);
    for (size_t i = 0; i < c->n_options; i++) {
        const struct cli_option *o = &c->options[i];
        char left[80];
        (void)snprintf(left, sizeof(left), "--%s%s%s", o->name, o->argument ? " " : "",
                       o->argument ? o->argument : "");
        printf("  %-*s %s\n", HELP_WIDTH, left, o->help);
    }
    printf("  %-*s %s\n\nExit codes: 0 done, 1 failed, 2 usage.\n", HELP_WIDTH, "--help",
           "this text");
}

int options_usage_error(const struct command *c, const char *format, ...)
{
    char text[512];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fprintf(stderr, "kbgate %s: ", c->name);
    visible_print(stderr, text);
    fprintf(stderr, "; see kbgate %s --help\n", c->name);
    return EXIT_USAGE;
}

int command_failed(const struct command *c, const char *reason)
{
    fprintf(stderr, "kbgate %s: ", c->name);
    visible_print(stderr, reason);
    fputc('\n', stderr);
    return EXIT_FAILED;
}

static bool read_int(const struct cli_option *o, const char *text, int64_t *ret_value)
{
    char *end;
    errno = 0;
    long long value = strtoll(text, &end, 10);
    *ret_value = value;
    return errno == 0 && end != text && *end == '\0' && value >= o->min && value <= o->max;
}

/* -1, or the exit code of a mistake. */
static int store(const struct command *c, const struct cli_option *o, char *text, void *values)
{
    void *at = (char *)values + o->offset;
    switch (o->kind) {
    case OPTION_FLAG: *(bool *)at = true; break;
    case OPTION_TEXT: *(const char **)at = text; break;
    case OPTION_TEXTS: {
        struct option_texts *texts = at;
        if (texts->n == OPTION_TEXTS_MAX) {
            return options_usage_error(c, "--%s may be given %d times", o->name, OPTION_TEXTS_MAX);
        }
        texts->items[texts->n++] = text;
        break;
    }
    case OPTION_INT:
        if (!read_int(o, text, at)) {
            return options_usage_error(c, "--%s takes a whole number from %lld to %lld", o->name,
                                       (long long)o->min, (long long)o->max);
        }
        break;
    }
    return -1;
}

/* Names the option without its value: that may be a token. */
static int refuse(const struct command *c, bool lacks_value, const char *option)
{
    int n = (int)strcspn(option, "=");
    return lacks_value ? options_usage_error(c, "%.*s needs a value", n, option)
                       : options_usage_error(c, "unknown option %.*s", n, option);
}

int options_parse(const struct command *c, int argc, char **argv, void *values, int *ret_first)
{
    struct option *table = mem_array(c->n_options + 2, sizeof(*table));
    for (size_t i = 0; i < c->n_options; i++) {
        table[i] =
            (struct option){.name = c->options[i].name,
                            .has_arg = c->options[i].argument ? required_argument : no_argument};
    }
    table[c->n_options] = (struct option){.name = "help"};
    int result = -1, index = 0, got;
    opterr = 0;
    while (result < 0 && (got = getopt_long(argc, argv, ":h", table, &index)) != -1) {
        if (got == ':' || got == '?') {
            result = refuse(c, got == ':', argv[optind - 1]);
        } else if (got == 'h' || (size_t)index == c->n_options) {
            print_help(c);
            result = EXIT_DONE;
        } else {
            result = store(c, &c->options[index], optarg, values);
        }
    }
    *ret_first = optind;
    free(table);
    return result;
}
