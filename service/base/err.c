/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/err.h"

#include <stdarg.h>
#include <stdio.h>

struct row {
    const char *name, *text;
    enum err_kind kind;
    int status;
};

static const struct row ROWS[] = {
#define X(name, log_name, kind, status, text) {log_name, text, ERR_KIND_##kind, status},
    ERR_TABLE(X)
#undef X
};

enum err_kind err_kind(enum err e)
{
    return ROWS[e].kind;
}

int err_http_status(enum err e)
{
    return ROWS[e].status;
}

const char *err_public_text(enum err e)
{
    return ROWS[e].text;
}

const char *err_name(enum err e)
{
    return ROWS[e].name;
}

void err_detail_set(struct err_detail *detail, const char *format, ...)
{
    if (!detail) {
        return;
    }
    va_list args;
    va_start(args, format);
    (void)vsnprintf(detail->text, sizeof(detail->text), format, args);
    va_end(args);
}
