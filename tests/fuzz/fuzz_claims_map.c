/* SPDX-License-Identifier: Apache-2.0 */
/* An issuer's claim rules over a payload. Input: a byte that picks the kinds, three claim paths and
 * a payload, on a line each. What must hold: no value that the payload does not hold, no more than
 * the limits, and no group where any was left out. */
#include "auth/claims_read.h"
#include "auth/strict_json.h"
#include "tests/fuzz/must.h"

enum { MAX_VALUES = 8, MAX_MEMBERS = 512 };

static const struct slice OVERAGE[] = {SLICE_LIT("_claim_names"), SLICE_LIT("hasgroups")};
static const struct tenant_name TENANTS[] = {{SLICE_LIT("T1"), SLICE_LIT("acme")},
                                             {SLICE_LIT("*"), SLICE_LIT("globex")}};

static struct slice next_line(struct slice *rest)
{
    const char *end = rest->n ? memchr(rest->p, '\n', rest->n) : NULL;
    struct slice line = {rest->p, end ? (size_t)(end - rest->p) : rest->n};
    *rest = slice_skip(*rest, end ? line.n + 1 : line.n);
    return line;
}

static struct issuer issuer_of(uint8_t choice, struct slice *rest)
{
    struct issuer issuer = {
        .scopes = {.kind = (enum claim_kind)(choice % 3), .path = next_line(rest)},
        .groups = {.kind = (enum claim_kind)(choice / 3 % 3),
                   .path = next_line(rest),
                   .overage = OVERAGE,
                   .n_overage = 2},
        .tenant = {.kind = CLAIM_STRING, .path = next_line(rest)},
        .tenants = TENANTS,
        .n_tenants = 2,
        .max_scopes = MAX_VALUES,
        .max_groups = MAX_VALUES,
    };
    return issuer;
}

static void must_be_words(const struct slice *values, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        must(values[i].p && values[i].n > 0 && !memchr(values[i].p, ' ', values[i].n));
    }
}

static void must_be_sound(const struct claims *c, const struct issuer *issuer)
{
    must(c->n_scopes <= MAX_VALUES && c->n_groups <= MAX_VALUES);
    must(!c->groups_overage || c->n_groups == 0);
    must(!c->tenant.p || slice_is(c->tenant, "acme") || slice_is(c->tenant, "globex"));
    if (issuer->scopes.kind == CLAIM_SPACE_STRING) {
        must_be_words(c->scopes, c->n_scopes);
    }
    must(issuer->scopes.kind != CLAIM_STRING || c->n_scopes <= 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    struct slice rest = slice_skip((struct slice){(const char *)data, size}, 1);
    struct issuer issuer = issuer_of(data[0], &rest);
    json_t *payload = strict_json_object(rest, MAX_MEMBERS);
    struct arena arena = {0};
    struct claims claims = {0};
    if (payload) {
        enum token_result result = claims_map(payload, &issuer, &arena, &claims);
        must(result == TOKEN_OK || result == TOKEN_CLAIM);
        if (result == TOKEN_OK) {
            must_be_sound(&claims, &issuer);
        }
    }
    json_decref(payload);
    arena_done(&arena);
    return 0;
}
