/* SPDX-License-Identifier: Apache-2.0 */
/* Keyed hashes, so that whoever reads the stream cannot confirm a guessed query or user name
 * without the audit key, while equal ones can still be counted. */
#include "service/pipeline/audit.h"

#include "service/base/clock.h"
#include "service/base/log.h"
#include "service/pipeline/state.h"

enum { AUDIT_LINE_MAX_BYTES = 64 * 1024, HASH_CHARS = 2 * DIGEST_BYTES };

static void member_hash(struct json_writer *w, const char *key, const struct request *r,
                        const char *kind, struct slice value)
{
    struct slice parts[] = {slice_of(kind), value};
    struct digest hash;
    digest_hmac(dynbuf_get(&r->gate->audit_key), parts, 2, &hash);
    json_key(w, key);
    struct dynbuf hex;
    dynbuf_init(&hex, HASH_CHARS);
    digest_add_hex(&hex, &hash);
    json_text(w, dynbuf_get(&hex));
    dynbuf_done(&hex);
}

static void write_caller(struct json_writer *w, const struct request *r)
{
    json_member_text(w, "tenant", r->claims.tenant);
    member_hash(w, "subject", r, "subject", digest_slice(&r->claims.subject));
    json_key(w, "filter");
    dynbuf_add_byte(w->out, '"');
    digest_add_hex(w->out, &filter_digest(r->filter)->value);
    dynbuf_add_byte(w->out, '"');
    w->comma = true;
}

static void write_call(struct json_writer *w, struct request *r)
{
    json_member_text_z(w, "tool", metrics_tool_name(r->tool));
    if (r->canonical.p) {
        member_hash(w, "arguments", r, "arguments", r->canonical);
    }
    if (r->view) {
        json_member_text_z(w, "index_version", r->view->index_version);
    }
    json_member_raw(w, "chunks", r->note.p ? r->note : SLICE_LIT("[]"));
    json_member_text_z(w, "outcome", metrics_outcome_name(r->outcome));
    if (r->failure != ERR_OK) {
        json_member_text_z(w, "reason", err_name(r->failure));
    }
    json_member_bool(w, "cache_hit", r->cached != NULL);
    json_member_bool(w, "charged", r->verdict.charged);
    json_member_int(w, "duration_us", clock_mono_us() - r->started_us);
}

void audit_write(struct request *r)
{
    if (!r->gate->audit || !r->filter) {
        return;
    }
    struct dynbuf line;
    dynbuf_init(&line, AUDIT_LINE_MAX_BYTES);
    struct json_writer w = json_writer_on(&line);
    json_object_begin(&w);
    json_key(&w, "time");
    dynbuf_add_byte(&line, '"');
    log_add_time(&line, clock_unix_ms());
    dynbuf_add_byte(&line, '"');
    w.comma = true;
    json_member_text_z(&w, "request_id", r->id);
    write_caller(&w, r);
    write_call(&w, r);
    json_object_end(&w);
    dynbuf_add_byte(&line, '\n');
    if (!line.failed) {
        (void)sink_put(r->gate->audit, dynbuf_get(&line));
    }
    dynbuf_done(&line);
}
