/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cli/eval_common.h"

#include "service/cli/visible.h"
#include "service/eval/output.h"
#include "service/eval/test_set.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

struct eval_progress eval_progress_new(const char *what)
{
    return (struct eval_progress){.what = what, .terminal = isatty(STDERR_FILENO)};
}

void eval_progress_show(struct eval_progress *p, uint64_t done, uint64_t total)
{
    uint64_t percent = total ? done * 100 / total : 100;
    if (p->terminal && (done == 0 || percent != p->shown)) {
        p->shown = percent;
        fprintf(stderr, "\r\033[K%s %llu/%llu", p->what, (unsigned long long)done,
                (unsigned long long)total);
    }
}

void eval_progress_clear(const struct eval_progress *p)
{
    if (p->terminal) {
        fputs("\r\033[K", stderr);
    }
}

void eval_warn(const char *format, ...)
{
    char text[1024];
    va_list args;
    va_start(args, format);
    (void)vsnprintf(text, sizeof(text), format, args);
    va_end(args);
    fputs("warning: ", stderr);
    visible_print(stderr, text);
    fputc('\n', stderr);
}

static bool is_held_out(const char *path)
{
    struct err_detail ignored;
    json_t *root = json_file_read(path, &ignored);
    bool held_out = json_is_true(json_object_get(root, "held_out"));
    json_decref(root);
    return held_out;
}

bool eval_may_record(const char *path, bool held_out, bool force, struct err_detail *detail)
{
    if (held_out && (!path || strcmp(path, "-") == 0)) {
        err_detail_set(detail, "--held-out needs --json FILE: the result is to be recorded");
        return false;
    }
    if (!path || force || strcmp(path, "-") == 0 || access(path, F_OK) != 0) {
        return true;
    }
    if (held_out || is_held_out(path)) {
        err_detail_set(detail,
                       "%s: a held-out result is recorded there already; a second look at a "
                       "held-out set is no measurement. --force overwrites it",
                       path);
        return false;
    }
    return true;
}

bool eval_write(const char *path, const struct dynbuf *bytes, struct err_detail *detail)
{
    return !path || output_write(path, dynbuf_get(bytes), detail);
}
