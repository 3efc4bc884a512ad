/* SPDX-License-Identifier: Apache-2.0 */
#include "service/eval/output.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

int64_t millionths(double value)
{
    return llround(value * 1e6);
}

void fraction_add(struct dynbuf *out, int64_t value, int digits)
{
    static const int64_t SCALE[] = {1, 10, 100, 1000, 10000, 100000, 1000000};
    int64_t step = SCALE[6 - digits], scale = SCALE[digits];
    int64_t rounded = (llabs(value) + step / 2) / step;
    if (value < 0 && rounded) {
        dynbuf_add_byte(out, '-');
    }
    dynbuf_add_int(out, rounded / scale);
    dynbuf_add_byte(out, '.');
    for (int64_t at = scale / 10; at > 0; at /= 10) {
        dynbuf_add_byte(out, (char)('0' + rounded / at % 10));
    }
}

void json_member_fraction(struct json_writer *w, const char *key, double value)
{
    char room[32];
    struct dynbuf text;
    dynbuf_init(&text, sizeof(room));
    fraction_add(&text, millionths(value), 6);
    json_member_raw(w, key, dynbuf_get(&text));
    dynbuf_done(&text);
}

static void add_column(struct dynbuf *out, struct slice id)
{
    for (size_t i = 0; i < id.n; i++) {
        if (id.p[i] == ' ' || (id.p[i] >= '\t' && id.p[i] <= '\r')) {
            char escape[4];
            (void)snprintf(escape, sizeof(escape), "%%%02X", (unsigned char)id.p[i]);
            dynbuf_add_text(out, escape);
        } else {
            dynbuf_add_byte(out, id.p[i]);
        }
    }
}

void run_add(struct dynbuf *out, struct slice query, const struct ranking *ranking)
{
    for (uint32_t i = 0; i < ranking->docs.n; i++) {
        add_column(out, query);
        dynbuf_add_text(out, " Q0 ");
        add_column(out, ranking->docs.ids[i]);
        dynbuf_add_byte(out, ' ');
        dynbuf_add_int(out, (int64_t)i + 1);
        dynbuf_add_byte(out, ' ');
        dynbuf_add_int(out, (int64_t)ranking->docs.n - i);
        dynbuf_add_text(out, " kbgate\n");
    }
}

static bool write_all(FILE *file, struct slice bytes)
{
    return fwrite(bytes.p, 1, bytes.n, file) == bytes.n && fflush(file) == 0;
}

static bool write_beside(const char *path, const char *beside, struct slice bytes)
{
    FILE *file = fopen(beside, "we");
    if (!file) {
        return false;
    }
    bool good = write_all(file, bytes) && fsync(fileno(file)) == 0;
    good = fclose(file) == 0 && good;
    if (!good || rename(beside, path) != 0) {
        int why = errno;
        (void)unlink(beside);
        errno = why;
        return false;
    }
    return true;
}

/* A device or a pipe, which must not be replaced by a file of its name. */
static bool is_special(const char *path)
{
    struct stat st;
    return stat(path, &st) == 0 && !S_ISREG(st.st_mode);
}

static bool write_special(const char *path, struct slice bytes)
{
    FILE *file = fopen(path, "we");
    bool good = file && write_all(file, bytes);
    return file && fclose(file) == 0 && good;
}

bool output_write(const char *path, struct slice bytes, struct err_detail *detail)
{
    bool good;
    if (strcmp(path, "-") == 0) {
        good = write_all(stdout, bytes);
    } else if (is_special(path)) {
        good = write_special(path, bytes);
    } else {
        struct dynbuf beside;
        dynbuf_init(&beside, SIZE_MAX);
        dynbuf_add_text(&beside, path);
        dynbuf_add_text(&beside, ".part");
        good = write_beside(path, dynbuf_text(&beside), bytes);
        dynbuf_done(&beside);
    }
    if (!good) {
        err_detail_set(detail, "cannot write %s: %s", path, strerror(errno));
    }
    return good;
}
