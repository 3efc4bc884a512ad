/* SPDX-License-Identifier: Apache-2.0 */
#include "service/base/log.h"

#include "service/base/clock.h"

#include <stdatomic.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 8 * 1024 };

static _Atomic(enum log_level) threshold = LOG_INFO;
static _Atomic(struct sink *) destination;

static const char *const LEVELS[] = {"debug", "info", "warn", "error"};

void log_set_level(enum log_level level)
{
    threshold = level;
}

bool log_level_parse(struct slice name, enum log_level *ret_level)
{
    for (size_t i = 0; i < sizeof(LEVELS) / sizeof(LEVELS[0]); i++) {
        if (slice_is(name, LEVELS[i])) {
            *ret_level = (enum log_level)i;
            return true;
        }
    }
    return false;
}

void log_to(struct sink *s)
{
    destination = s;
}

void log_add_time(struct dynbuf *b, int64_t unix_ms)
{
    time_t seconds = (time_t)(unix_ms / 1000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    char text[64];
    int n = snprintf(text, sizeof(text), "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ", utc.tm_year + 1900,
                     utc.tm_mon + 1, utc.tm_mday, utc.tm_hour, utc.tm_min, utc.tm_sec,
                     (int)(unix_ms % 1000));
    dynbuf_add(b, (struct slice){text, (size_t)n});
}

void log_begin(struct log_line *l, enum log_level level, const char *event)
{
    dynbuf_init(&l->bytes, LINE_MAX_BYTES);
    l->wanted = level >= threshold;
    if (!l->wanted) {
        return;
    }
    l->w = json_writer_on(&l->bytes);
    json_object_begin(&l->w);
    json_key(&l->w, "time");
    dynbuf_add_byte(&l->bytes, '"');
    log_add_time(&l->bytes, clock_unix_ms());
    dynbuf_add_byte(&l->bytes, '"');
    l->w.comma = true;
    json_member_text_z(&l->w, "level", LEVELS[level]);
    json_member_text_z(&l->w, "event", event);
}

void log_text(struct log_line *l, const char *key, struct slice value)
{
    if (l->wanted) {
        json_member_text(&l->w, key, value);
    }
}

void log_text_z(struct log_line *l, const char *key, const char *value)
{
    log_text(l, key, slice_of(value));
}

void log_int(struct log_line *l, const char *key, int64_t value)
{
    if (l->wanted) {
        json_member_int(&l->w, key, value);
    }
}

void log_end(struct log_line *l)
{
    if (l->wanted) {
        json_object_end(&l->w);
        dynbuf_add_byte(&l->bytes, '\n');
        struct sink *s = destination;
        if (l->bytes.failed) {
            log_event(LOG_WARN, "log_line_too_long", "a line over 8 KiB was dropped");
        } else if (s) {
            (void)sink_put(s, dynbuf_get(&l->bytes));
        } else {
            (void)!write(STDERR_FILENO, l->bytes.p, l->bytes.n);
        }
    }
    dynbuf_done(&l->bytes);
}

void log_event(enum log_level level, const char *event, const char *reason)
{
    struct log_line l;
    log_begin(&l, level, event);
    log_text_z(&l, "reason", reason);
    log_end(&l);
}
