/* SPDX-License-Identifier: Apache-2.0 */
/* What the policy module decides, for tests/integration/test_policy_oracle.py to compare with.
 *
 * Each line of stdin is {"policy": YAML, "now": seconds, "callers": [claims…], "docs":
 * [[collection, doc_type, [label…]]…]}. Each line of stdout has a word for each caller: a digit for
 * each document (1: may see it), "invalid" or "revoked". Claims are those of a token whose
 * signature held. */
#include "auth/claims_read.h"
#include "scope/policy.h"
#include "service/base/mem.h"

#include <stdio.h>
#include <stdlib.h>

enum { MAX_LABELS = 32 };

static struct slice text_of(const json_t *value)
{
    return (struct slice){json_string_value(value), json_string_length(value)};
}

static const struct issuer *issuer_of(const struct policy *p, const json_t *claims)
{
    size_t n;
    const struct issuer *issuers = policy_issuers(p, &n);
    for (size_t i = 0; i < n; i++) {
        if (slice_eq(issuers[i].iss, text_of(json_object_get(claims, "iss")))) {
            return &issuers[i];
        }
    }
    return NULL;
}

static char judge_document(const struct filter *f, const json_t *doc)
{
    struct slice labels[MAX_LABELS];
    const json_t *list = json_array_get(doc, 2);
    struct doc_scope where = {text_of(json_array_get(doc, 0)), text_of(json_array_get(doc, 1)),
                              labels, json_array_size(list)};
    for (size_t i = 0; i < where.n_labels && i < MAX_LABELS; i++) {
        labels[i] = text_of(json_array_get(list, i));
    }
    return filter_permits(f, &where) ? '1' : '0';
}

static void judge_documents(const struct policy *p, const struct claims *c, const json_t *docs)
{
    struct filter *f = policy_compile(p, c);
    for (size_t i = 0; i < json_array_size(docs); i++) {
        (void)putchar(judge_document(f, json_array_get(docs, i)));
    }
    filter_unref(f);
}

static void judge_caller(const struct policy *p, const json_t *line, const json_t *payload)
{
    struct arena arena = {0};
    struct claims claims = {0};
    int64_t now_ms = json_integer_value(json_object_get(line, "now")) * 1000;
    const struct issuer *issuer = issuer_of(p, payload);
    if (!issuer || claims_read(payload, issuer, now_ms, &arena, &claims) != TOKEN_OK) {
        (void)fputs("invalid", stdout);
    } else if (policy_is_revoked(p, &claims)) {
        (void)fputs("revoked", stdout);
    } else {
        judge_documents(p, &claims, json_object_get(line, "docs"));
    }
    arena_done(&arena);
}

static bool judge_line(const json_t *line)
{
    struct err_detail detail = {.text = ""};
    const json_t *callers = json_object_get(line, "callers");
    struct policy *p =
        policy_parse(text_of(json_object_get(line, "policy")), "policy.yaml", &detail);
    if (!p) {
        (void)fprintf(stderr, "%s\n", detail.text);
        return false;
    }
    for (size_t i = 0; i < json_array_size(callers); i++) {
        (void)fputs(i ? " " : "", stdout);
        judge_caller(p, line, json_array_get(callers, i));
    }
    (void)putchar('\n');
    (void)fflush(stdout);
    policy_unref(p);
    return true;
}

int main(void)
{
    char *text = NULL;
    size_t room = 0;
    bool good = true;
    for (ssize_t n = 0; good && (n = getline(&text, &room, stdin)) > 0;) {
        json_t *line = json_loadb(text, (size_t)n, 0, NULL);
        good = line && judge_line(line);
        json_decref(line);
    }
    free(text);
    return good ? EXIT_SUCCESS : EXIT_FAILURE;
}
