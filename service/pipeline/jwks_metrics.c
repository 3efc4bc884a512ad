/* SPDX-License-Identifier: Apache-2.0 */
#include "service/pipeline/jwks_metrics.h"

#include "service/pipeline/metrics.h"

typedef void (*write_fn)(const struct access_rules *rules, size_t i, const char *name,
                         struct dynbuf *out);

static struct slice issuer_of(const struct access_rules *rules, size_t i)
{
    return rules->trust.issuers[i].name;
}

static void write_sample(const struct access_rules *rules, size_t i, const char *name,
                         int64_t value, struct dynbuf *out)
{
    dynbuf_add_text(out, name);
    metrics_add_label(out, '{', "issuer", issuer_of(rules, i));
    metrics_end_sample(out, value);
}

static void write_dropped(const struct access_rules *rules, size_t i, const char *name,
                          struct dynbuf *out)
{
    if (rules->keys[i]) {
        write_sample(rules, i, name, (int64_t)jwks_dropped(rules->keys[i]), out);
    }
}

static void write_keys(const struct access_rules *rules, size_t i, const char *name,
                       struct dynbuf *out)
{
    write_sample(rules, i, name, rules->keys[i] ? (int64_t)jwks_count(rules->keys[i]) : 0, out);
}

/* The rest is of fetched sets alone. */
static void write_age(const struct access_rules *rules, size_t i, const char *name,
                      struct dynbuf *out)
{
    struct jwks_source_stats stats;
    jwks_source_stats(rules->sources[i], &stats);
    if (stats.was_fetched) {
        write_sample(rules, i, name, stats.age_ms / 1000, out);
    }
}

static void write_fetches(const struct access_rules *rules, size_t i, const char *name,
                          struct dynbuf *out)
{
    struct jwks_source_stats stats;
    jwks_source_stats(rules->sources[i], &stats);
    write_sample(rules, i, name, (int64_t)stats.fetches, out);
}

static void write_failures(const struct access_rules *rules, size_t i, const char *name,
                           struct dynbuf *out)
{
    struct jwks_source_stats stats;
    jwks_source_stats(rules->sources[i], &stats);
    for (unsigned why = CURL_FAILURE_NONE + 1; why < JWKS_FAILURE_COUNT; why++) {
        dynbuf_add_text(out, name);
        metrics_add_label(out, '{', "issuer", issuer_of(rules, i));
        metrics_add_label(out, ',', "reason", slice_of(jwks_failure_name(why)));
        metrics_end_sample(out, (int64_t)stats.failures[why]);
    }
}

void jwks_metrics_write(const struct access_rules *rules, struct dynbuf *out)
{
    static const struct {
        const char *name, *type;
        bool of_fetched_alone;
        write_fn write;
    } ROWS[] = {
        {"kbgate_jwks_keys", "gauge", false, write_keys},
        {"kbgate_jwks_dropped_keys", "gauge", false, write_dropped},
        {"kbgate_jwks_age_seconds", "gauge", true, write_age},
        {"kbgate_jwks_fetches_total", "counter", true, write_fetches},
        {"kbgate_jwks_fetch_failures_total", "counter", true, write_failures},
    };
    for (size_t row = 0; row < sizeof(ROWS) / sizeof(ROWS[0]); row++) {
        metrics_add_type(out, ROWS[row].name, ROWS[row].type);
        for (size_t i = 0; i < rules->trust.n; i++) {
            if (rules->sources[i] || !ROWS[row].of_fetched_alone) {
                ROWS[row].write(rules, i, ROWS[row].name, out);
            }
        }
    }
}
