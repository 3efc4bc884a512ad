/* SPDX-License-Identifier: Apache-2.0 */
/* A byte order mark at the start of a file belongs to no line; \r before \n to neither. */
#include "service/eval/lines.h"

#include "service/base/small_file.h"
#include "service/base/utf8.h"

bool eval_file_read(const char *path, struct dynbuf *out, struct err_detail *detail)
{
    dynbuf_init(out, EVAL_FILE_MAX_BYTES);
    if (!small_file_read(path, "cannot read", out, detail)) {
        return false;
    }
    if (out->n == 0) {
        err_detail_set(detail, "%s: the file is empty", path);
    }
    return out->n > 0;
}

struct slice line_next(struct slice *rest)
{
    const char *end = memchr(rest->p, '\n', rest->n);
    struct slice line = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
    *rest = slice_skip(*rest, line.n + (end != NULL));
    if (line.n && line.p[line.n - 1] == '\r') {
        line.n--;
    }
    return line;
}

const char *line_fault(struct slice line)
{
    if (line.n > EVAL_LINE_MAX_BYTES) {
        return "the line is longer than 16 MiB";
    }
    if (!utf8_is_valid(line)) {
        return "the line is not UTF-8";
    }
    return memchr(line.p, 0, line.n) ? "the line holds a NUL byte" : NULL;
}

bool line_refuse(struct err_detail *detail, const char *path, uint64_t line, const char *reason)
{
    err_detail_set(detail, "%s:%llu: %s", path, (unsigned long long)line, reason);
    return false;
}
