/* SPDX-License-Identifier: Apache-2.0 */
/* kbgate eval freeze: writes down what the files of a set are, before anything is measured on them.
 */
#include "service/cli/eval_common.h"
#include "service/eval/test_set.h"

#include <stdio.h>
#include <unistd.h>

enum { FROZEN_MAX_BYTES = 1024 * 1024, NAME_MAX_BYTES = 128 };

struct values {
    const char *set, *out;
    bool force;
};

static const struct cli_option OPTIONS[] = {
    {"set", "NAME", "what the set is called", OPTION_TEXT, offsetof(struct values, set), 0, 0},
    {"out", "FILE", "where the checksums go", OPTION_TEXT, offsetof(struct values, out), 0, 0},
    {"force", NULL, "overwrite FILE", OPTION_FLAG, offsetof(struct values, force), 0, 0},
};

static bool freeze(const struct values *v, char **paths, size_t n, struct err_detail *detail)
{
    if (!v->force && access(v->out, F_OK) == 0) {
        err_detail_set(detail, "%s: the file exists; --force overwrites it", v->out);
        return false;
    }
    struct test_set set = {.n = 0};
    bool good = true;
    for (size_t i = 0; good && i < n; i++) {
        struct dynbuf bytes;
        good = test_set_read(&set, "file", paths[i], &bytes, detail);
        dynbuf_done(&bytes);
    }
    struct dynbuf out;
    dynbuf_init(&out, FROZEN_MAX_BYTES);
    good = good && frozen_add(&out, v->set, &set, detail) && eval_write(v->out, &out, detail);
    dynbuf_done(&out);
    return good;
}

static int run_freeze(int argc, char **argv)
{
    struct values v = {0};
    int first;
    int result = options_parse(&EVAL_FREEZE, argc, argv, &v, &first);
    if (result >= 0) {
        return result;
    }
    const char *fault = !v.set || !*v.set || strlen(v.set) > NAME_MAX_BYTES
                            ? "--set NAME of 1 to 128 bytes is needed"
                        : !v.out        ? "--out FILE is needed"
                        : first == argc ? "name the files of the set"
                                        : NULL;
    if (fault) {
        return options_usage_error(&EVAL_FREEZE, "%s", fault);
    }
    struct err_detail detail = {""};
    for (int i = first; i < argc; i++) {
        const struct eval_file files[] = {{"the files of the set", argv[i], EVAL_FILE_READ},
                                          {"--out", v.out, EVAL_FILE_WRITTEN}};
        if (!eval_files_apart(files, 2, &detail)) {
            return options_usage_error(&EVAL_FREEZE, "%s", detail.text);
        }
    }
    if (!freeze(&v, argv + first, (size_t)(argc - first), &detail)) {
        return command_failed(&EVAL_FREEZE, detail.text);
    }
    return EXIT_DONE;
}

const struct command EVAL_FREEZE = {
    .name = "eval freeze",
    .arguments = "--set NAME --out FILE F…",
    .summary = "write down the checksums of a set's files",
    .description =
        "Writes name, size and SHA-256 of at most 64 files as JSON. With --frozen FILE the other "
        "parts of kbgate eval\n"
        "refuse files that differ from it, or that it does not name; a file is known by the last "
        "part of its path.\n"
        "A result measured with --frozen and --held-out is recorded once: its --json file is not "
        "overwritten without\n"
        "--force, whatever measures into it.",
    .options = OPTIONS,
    .n_options = sizeof(OPTIONS) / sizeof(OPTIONS[0]),
    .run = run_freeze,
};
