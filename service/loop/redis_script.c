/* SPDX-License-Identifier: Apache-2.0 */
/* A server that was restarted knows no script, and says so for each call that is in flight; each
 * then sends the text itself, with the arguments it has kept. A caller who has given up meanwhile
 * has decided without the script, so for it nothing is sent again. */
#include "service/base/encode.h"
#include "service/base/mem.h"
#include "service/loop/redis_private.h"

#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>

enum { SHA1_BYTES = 20, FIXED_ARGS = 3, COUNT_BYTES = 24 };

/* What an EVAL or EVALSHA takes beside its script. */
struct script_args {
    const struct slice *keys, *args;
    size_t n_keys, n_args;
};

void redis_script_init(struct redis_script *s, struct slice text)
{
    unsigned char sha1[SHA1_BYTES];
    struct dynbuf hex;
    if (EVP_Digest(text.p, text.n, sha1, NULL, EVP_sha1(), NULL) != 1) {
        abort();
    }
    dynbuf_init(&hex, sizeof(s->sha1_hex));
    encode_hex(&hex, (struct slice){(const char *)sha1, sizeof(sha1)});
    s->text = text;
    memcpy(s->sha1_hex, dynbuf_text(&hex), sizeof(s->sha1_hex));
    dynbuf_done(&hex);
}

/* The shell of an EVALSHA with everything but the first two arguments filled; NULL: too much. */
static struct redis_shell *new_shell(struct redis_loop *r, const struct script_args *a,
                                     struct redis_call *call)
{
    bool few = a->n_keys <= REDIS_LOOP_MAX_ARGS - FIXED_ARGS &&
               a->n_args <= REDIS_LOOP_MAX_ARGS - FIXED_ARGS - a->n_keys;
    size_t n_bytes = few ? redis_args_bytes(a->keys, a->n_keys) : SIZE_MAX;
    if (n_bytes <= REDIS_LOOP_MAX_QUEUED_BYTES) {
        n_bytes += redis_args_bytes(a->args, a->n_args);
    }
    if (n_bytes > REDIS_LOOP_MAX_QUEUED_BYTES) {
        return NULL;
    }
    size_t n_args = FIXED_ARGS + a->n_keys + a->n_args;
    struct redis_shell *s = redis_shell_new(r, call, n_args, n_bytes + COUNT_BYTES);
    char *to = (char *)&s->args[n_args], count[COUNT_BYTES];
    snprintf(count, sizeof(count), "%zu", a->n_keys);
    s->n_args = 2;
    to = redis_keep_arg(s, slice_of(count), to);
    for (size_t i = 0; i < a->n_keys; i++) {
        to = redis_keep_arg(s, a->keys[i], to);
    }
    for (size_t i = 0; i < a->n_args; i++) {
        to = redis_keep_arg(s, a->args[i], to);
    }
    return s;
}

static void start(struct redis_loop *r, const struct redis_script *script,
                  const struct script_args *a, struct redis_call *call)
{
    bool may_pass = redis_loop_is_up(r) || redis_is_holding(r);
    struct redis_shell *s = may_pass ? new_shell(r, a, call) : NULL;
    if (!s) {
        redis_refuse(r, call, may_pass ? REDIS_FAILURE_FULL : REDIS_FAILURE_DOWN);
        return;
    }
    s->script = script;
    s->args[0] = SLICE_LIT("EVALSHA");
    s->args[1] = slice_of(script->sha1_hex);
    if (redis_is_holding(r)) {
        redis_hold(s);
    } else {
        redis_start(s, s->args, s->n_args);
    }
}

bool redis_script_retry(struct redis_shell *s, const struct redis_reply *reply)
{
    bool is_unknown =
        s->script && reply->kind == REDIS_ERROR && slice_starts(reply->text, SLICE_LIT("NOSCRIPT"));
    if (!is_unknown || s->is_settled) {
        return false;
    }
    s->args[0] = SLICE_LIT("EVAL");
    s->args[1] = s->script->text;
    s->script = NULL; /* once */
    redis_start(s, s->args, s->n_args);
    return true;
}

void redis_loop_eval(struct redis_loop *r, const struct redis_script *s, const struct slice *keys,
                     size_t n_keys, const struct slice *args, size_t n_args,
                     struct redis_call *call)
{
    start(r, s, &(struct script_args){keys, args, n_keys, n_args}, call);
}

void redis_loop_eval_send(struct redis_loop *r, const struct redis_script *s,
                          const struct slice *keys, size_t n_keys, const struct slice *args,
                          size_t n_args)
{
    start(r, s, &(struct script_args){keys, args, n_keys, n_args}, NULL);
}
