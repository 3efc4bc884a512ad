/* SPDX-License-Identifier: Apache-2.0 */
/* log: one JSON object a line on stderr.
 *
 * Thread:    any.      Blocking: never once log_to() was given a sink; before that it writes
 * itself. Privacy:   the caller picks the fields; no token byte and no query text is ever one of
 * them. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "service/base/json_write.h"
#include "service/base/sink.h"

enum log_level { LOG_DEBUG, LOG_INFO, LOG_WARN, LOG_ERROR };

struct log_line {
    struct dynbuf bytes;
    struct json_writer w;
    bool wanted;
};

/* Lines below the level are not written. Default: LOG_INFO. */
void log_set_level(enum log_level level);
bool log_level_parse(struct slice name, enum log_level *ret_level);

/* Lines go to s from now on (NULL: straight to stderr again). */
void log_to(struct sink *s);

/* {"time":"2026-11-30T11:00:00.000Z","level":"info","event":"…" … }; begin, fields, end. */
void log_begin(struct log_line *l, enum log_level level, const char *event);
void log_text(struct log_line *l, const char *key, struct slice value);
void log_text_z(struct log_line *l, const char *key, const char *value);
void log_int(struct log_line *l, const char *key, int64_t value);
void log_end(struct log_line *l);

/* The common case: an event and its reason. */
void log_event(enum log_level level, const char *event, const char *reason);

/* RFC 3339 in UTC with milliseconds, 24 characters. */
void log_add_time(struct dynbuf *b, int64_t unix_ms);

#endif
