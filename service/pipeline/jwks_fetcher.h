/* SPDX-License-Identifier: Apache-2.0 */
/* jwks_fetcher: keeps the key sets of issuers that publish them over HTTPS.
 *
 * A set is fetched anew every ten minutes or as its Cache-Control says, and once more, through a
 * limit, when a token asks for a key that it lacks. A fetch that fails, or brings no usable key,
 * leaves the set as it is until that is max_stale_ms old; then there is none.
 * Thread:    a loop of its own, on a thread that starts with the first source. jwks_fetcher_* from
 *            the main thread; jwks_source_* from any.
 * Blocking:  jwks_fetcher_free and jwks_source_await only. */
#ifndef PIPELINE_JWKS_FETCHER_H
#define PIPELINE_JWKS_FETCHER_H

#include "auth/jwks.h"
#include "service/base/op.h"
#include "service/loop/curl_loop.h"
#include "service/loop/loop.h"

enum {
    JWKS_FETCH_MS = 5000,               /* longest fetch */
    JWKS_REFRESH_MS = 10 * 60 * 1000,   /* between fetches, +- 10 % */
    JWKS_REFRESH_MIN_MS = 60 * 1000,    /* what max-age may make of it */
    JWKS_REFRESH_MAX_MS = 86400 * 1000, /* likewise */
    JWKS_RETRY_MS = 30 * 1000,          /* after a failure, +- 10 % */
    JWKS_RETRY_COLD_MS = 1000,          /* after a failure while there are no keys */
    JWKS_MAX_WAITERS = 64,              /* requests that wait for one issuer's fetch */
};

struct jwks_fetcher; /* opaque */
struct jwks_source;  /* opaque, reference-counted: one issuer's key set and how it is kept */

struct jwks_fetcher_options {
    void (*on_changed)(void *owner); /* on the fetcher's thread: a source's set is another now */
    void *owner;
    int64_t (*now_mono_ms)(void); /* NULL: clock_mono_ms */
    bool plain_http;              /* http:// too, for servers on this machine */
};

struct jwks_fetcher *jwks_fetcher_new(const struct jwks_fetcher_options *options);

/* Sources may outlive it; they are fetched no more. */
void jwks_fetcher_free(struct jwks_fetcher *f);

/* Copied. Sources of one name, uri, ca_pem and algs are the same. */
struct jwks_wanted {
    struct slice name, uri; /* the issuer's */
    struct slice ca_pem;    /* SLICE_NONE: the system's CAs */
    uint32_t algs;
    int64_t max_stale_ms;
};

/* From now on these are kept fresh and no others; what was kept already keeps its set.
 * ret_sources[i]: a reference for the caller to give back. */
void jwks_fetcher_keep(struct jwks_fetcher *f, const struct jwks_wanted *wanted, size_t n,
                       struct jwks_source **ret_sources);

/* Fetches every set now, whatever the limit says: for a person who knows that keys were revoked. */
void jwks_fetcher_refetch(struct jwks_fetcher *f);

/* Looks at the clock again: for tests that move it. */
void jwks_fetcher_wake(struct jwks_fetcher *f);

struct jwks_source *jwks_source_ref(struct jwks_source *s);
void jwks_source_unref(struct jwks_source *s);

/* The set in force, with a reference to give back; NULL: none yet, or too old. */
struct jwks *jwks_source_keys(struct jwks_source *s);

/* Asks for a fetch on behalf of a token whose key is missing or did not fit.
 * kid        what the token named; SLICE_NONE: nothing
 * false      none may be made now: judge by the keys in force. Nothing was started
 * true       op is done, with ERR_OK whatever the fetch brought, on `loop`, after on_changed */
bool jwks_source_refresh(struct jwks_source *s, struct loop *loop, struct slice kid, struct op *op);

/* Waits until one fetch has ended, well or not, or wait_ms are over. Not on a loop. */
void jwks_source_await(struct jwks_source *s, int64_t wait_ms);

/* Why a fetch failed: as curl_failure, or */
enum { JWKS_FAILURE_STATUS = CURL_FAILURE_COUNT, JWKS_FAILURE_UNUSABLE, JWKS_FAILURE_COUNT };
const char *jwks_failure_name(unsigned failure);

struct jwks_source_stats {
    bool was_fetched; /* at least once */
    int64_t age_ms;   /* since the last good fetch */
    uint64_t fetches; /* begun */
    uint64_t failures[JWKS_FAILURE_COUNT];
};
void jwks_source_stats(struct jwks_source *s, struct jwks_source_stats *ret_stats);

#endif
