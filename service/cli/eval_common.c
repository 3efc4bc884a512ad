/* SPDX-License-Identifier: Apache-2.0 */
#include "service/cli/eval_common.h"

#include "service/cli/visible.h"
#include "service/eval/output.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
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

bool eval_shows_text(const char *json)
{
    return !json || strcmp(json, "-") != 0;
}

bool eval_write(const char *path, const struct dynbuf *bytes, struct err_detail *detail)
{
    return !path || output_write(path, dynbuf_get(bytes), detail);
}
