/* SPDX-License-Identifier: Apache-2.0 */
/* Everything that makes a file unfit before its format matters is found here, so that the readers
 * see nothing but bounded, valid text. */
#include "service/ingest/file.h"

#include "service/base/small_file.h"
#include "service/base/utf8.h"
#include "service/ingest/ingest.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct {
    const char *ending;
    enum file_type type;
} TYPES[] = {{".md", FILE_MARKDOWN}, {".markdown", FILE_MARKDOWN}, {".txt", FILE_TEXT},
             {".text", FILE_TEXT},   {".html", FILE_HTML},         {".htm", FILE_HTML},
             {".jsonl", FILE_JSONL}};

enum file_type file_type_of(struct slice name)
{
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        size_t n = strlen(TYPES[i].ending);
        if (name.n > n && strncasecmp(name.p + name.n - n, TYPES[i].ending, n) == 0) {
            return TYPES[i].type;
        }
    }
    return FILE_OTHER;
}

static bool fail(char *ret_reason, const char *reason)
{
    snprintf(ret_reason, FIELD_REASON_BYTES, "%s", reason);
    return false;
}

static bool read_regular(int fd, struct dynbuf *bytes, char *ret_reason)
{
    struct stat st;
    if (fstat(fd, &st) != 0) {
        return fail(ret_reason, strerror(errno));
    }
    if (!S_ISREG(st.st_mode)) {
        return fail(ret_reason, "not a regular file");
    }
    if (st.st_size > INGEST_FILE_MAX_BYTES) {
        return fail(ret_reason, "larger than 64 MiB");
    }
    if (!fd_read_all(fd, bytes)) {
        return fail(ret_reason, errno == EFBIG ? "larger than 64 MiB" : strerror(errno));
    }
    if (bytes->n == 0) {
        return fail(ret_reason, "empty");
    }
    return !memchr(bytes->p, 0, bytes->n) || fail(ret_reason, "binary: it holds a NUL byte");
}

bool file_read(const char *path, struct dynbuf *ret_bytes, char ret_reason[FIELD_REASON_BYTES])
{
    /* O_NONBLOCK: opening a named pipe must not wait for its writer. */
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd < 0) {
        return fail(ret_reason, strerror(errno));
    }
    bool ok = read_regular(fd, ret_bytes, ret_reason);
    close(fd);
    return ok;
}

static size_t first_bad_byte(struct slice s)
{
    size_t at = 0;
    while (at < s.n) {
        uint32_t code;
        size_t n = utf8_decode(slice_skip(s, at), &code);
        if (code == UTF8_BAD) {
            break;
        }
        at += n;
    }
    return at;
}

bool file_to_text(struct dynbuf *bytes, char ret_reason[FIELD_REASON_BYTES])
{
    size_t bad = first_bad_byte(dynbuf_get(bytes));
    if (bad < bytes->n) {
        snprintf(ret_reason, FIELD_REASON_BYTES, "not valid UTF-8 at byte %zu", bad + 1);
        return false;
    }
    size_t from = slice_starts(dynbuf_get(bytes), SLICE_LIT("\xEF\xBB\xBF")) ? 3 : 0, to = 0;
    for (; from < bytes->n; from++) {
        char c = bytes->p[from];
        bool pair = c == '\r' && from + 1 < bytes->n && bytes->p[from + 1] == '\n';
        if (c == '\r') {
            c = '\n';
        }
        if (!pair) {
            bytes->p[to++] = c;
        }
    }
    dynbuf_cut(bytes, to);
    return true;
}
