/* SPDX-License-Identifier: Apache-2.0 */
/* err: how a request can fail, and everything a caller ever learns of it.
 *
 * Replies are built from this table alone, so nothing private can leave. What went wrong in detail
 * goes into a struct err_detail, which reaches the log or the terminal of the person who runs
 * kbgate. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "service/base/slice.h"

/* What the model does next (docs/design.md §3). */
enum err_kind {
    ERR_KIND_NONE,
    ERR_KIND_INVALID_INPUT, /* rewrite the call */
    ERR_KIND_RETRYABLE,     /* wait retry_after_ms, call again */
    ERR_KIND_PERMANENT,     /* JSON-RPC -32603: a person has to mend the server */
};

/* name, log name, kind, HTTP status on /v1/search, public text */
#define ERR_TABLE(X)                                                                               \
    X(ERR_OK, "ok", NONE, 200, "ok")                                                               \
    X(ERR_INVALID_INPUT, "invalid_input", INVALID_INPUT, 400, "the arguments are not valid")       \
    X(ERR_BUDGET_SPENT, "budget_spent", RETRYABLE, 429,                                            \
      "the budget is spent; wait retry_after_ms and call again")                                   \
    X(ERR_BUDGET_DOWN, "budget_down", RETRYABLE, 503,                                              \
      "the budget cannot be checked just now; wait retry_after_ms and call again")                 \
    X(ERR_BUSY, "busy", RETRYABLE, 503, "the server is busy; wait retry_after_ms and call again")  \
    X(ERR_DEADLINE, "deadline", RETRYABLE, 503,                                                    \
      "the search took too long; wait retry_after_ms and call again")                              \
    X(ERR_BACKEND_DOWN, "backend_down", RETRYABLE, 503,                                            \
      "the search engine is unavailable; wait retry_after_ms and call again")                      \
    X(ERR_KEYS_DOWN, "keys_down", RETRYABLE, 503,                                                  \
      "the keys that tokens are checked with are unavailable; wait retry_after_ms and call again") \
    X(ERR_INTERNAL, "internal", PERMANENT, 500, "internal error")                                  \
    X(ERR_SCOPE_VIOLATION, "scope_violation", PERMANENT, 500, "internal error")                    \
    X(ERR_NOT_FOUND, "not_found", INVALID_INPUT, 404, "not found")

enum err {
#define X(name, log_name, kind, status, text) name,
    ERR_TABLE(X)
#undef X
};

enum err_kind err_kind(enum err e);
int err_http_status(enum err e);
const char *err_public_text(enum err e);

/* For logs and metrics. */
const char *err_name(enum err e);

/* A reason for the log or the terminal, never for a caller; nothing to free. */
struct err_detail {
    char text[512];
};

/* Writes the reason; detail may be NULL. Too long a reason is cut. */
void err_detail_set(struct err_detail *detail, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

#endif
