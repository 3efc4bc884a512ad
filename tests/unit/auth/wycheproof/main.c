/* SPDX-License-Identifier: Apache-2.0 */
/* Judges every *_test.json of a folder of Wycheproof vectors (github.com/C2SP/wycheproof). The
 * vectors are read where they lie: in the folder that KB_WYCHEPROOF names, or beside the checkout.
 * Exit codes: 0 all judged right, 1 not, 77 there are none (skipped, never passed). */
#include "service/base/mem.h"
#include "tests/unit/auth/wycheproof/vectors.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>

#define BESIDE_THE_CHECKOUT "../shared/data/vectors/wycheproof"

enum { EXIT_SKIPPED = 77 };

static const char *const REASONS[ADAPTATION_COUNT] = {
    [ADAPTATION_SYMMETRIC] = "HMAC: who can verify could also sign, so no symmetric key is loaded",
    [ADAPTATION_ENCRYPTED] = "JWE: encrypted tokens are not taken",
    [ADAPTATION_EMPTY_PAYLOAD] = "an empty payload holds no claims: every segment must have bytes",
    [ADAPTATION_OTHER_ALG] = "the key is bound to one algorithm and the header names another",
    [ADAPTATION_UNKNOWN_ALG] = "the key's alg is no registered name (RFC 7518 §3.1), so which "
                               "algorithm it is for cannot be known",
    [ADAPTATION_SALT] = "RFC 7518 §3.5: the salt is as long as the digest",
};

const char *adaptation_reason(enum adaptation a)
{
    return REASONS[a];
}

const char *text_of(const json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "";
}

static void report(const struct judge *j, const json_t *test, const char *what, const char *reason)
{
    printf("%s: %s #%d %s: %s\n", what, j->file,
           (int)json_integer_value(json_object_get(test, "tcId")), text_of(test, "comment"),
           reason);
}

void judge_fail(struct judge *j, const json_t *test, const char *reason)
{
    j->failed++;
    report(j, test, "FAILED", reason);
}

void judge_vector(struct judge *j, const json_t *test, bool accepted, enum adaptation a)
{
    const char *result = text_of(test, "result");
    bool valid = strcmp(result, "valid") == 0, either = strcmp(result, "acceptable") == 0;
    if (!valid && !either && strcmp(result, "invalid") != 0) {
        judge_fail(j, test, "its result is unknown");
    } else if (valid && a != ADAPTATION_NONE && !accepted) {
        j->refused[a]++;
        report(j, test, "refused on purpose", REASONS[a]);
    } else if (either) {
        j->either++;
    } else if (accepted == (valid && a == ADAPTATION_NONE)) {
        j->passed++;
    } else {
        judge_fail(j, test, accepted ? "accepted" : "refused");
    }
}

static bool judge_group(struct judge *j, const json_t *group)
{
    return judge_jose(j, group) || judge_raw(j, group);
}

/* Groups of an algorithm that tokens cannot name are no business of the verifier. */
static size_t judge_groups(struct judge *j, const json_t *groups)
{
    size_t foreign = 0;
    for (size_t i = 0; i < json_array_size(groups); i++) {
        const json_t *group = json_array_get(groups, i);
        if (!judge_group(j, group)) {
            foreign += json_array_size(json_object_get(group, "tests"));
        }
    }
    return foreign;
}

static size_t sum_refused(const struct judge *j)
{
    size_t n = 0;
    for (int a = 0; a < ADAPTATION_COUNT; a++) {
        n += j->refused[a];
    }
    return n;
}

static void judge_file(const char *folder, const char *name, struct judge *total)
{
    char path[4096];
    struct judge j = {.file = name};
    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    json_t *root = json_load_file(path, 0, NULL);
    size_t foreign = judge_groups(&j, json_object_get(root, "testGroups"));
    size_t told = (size_t)json_integer_value(json_object_get(root, "numberOfTests"));
    size_t seen = j.passed + j.failed + j.either + sum_refused(&j) + foreign;
    if (seen == 0 || seen != told) {
        j.failed++;
        printf("FAILED: %s: %zu vectors judged, the file tells of %zu\n", name, seen, told);
    }
    printf("%s: %zu right, %zu wrong, %zu refused on purpose, %zu may go either way, %zu of no "
           "algorithm of JWS\n",
           name, j.passed, j.failed, sum_refused(&j), j.either, foreign);
    total->passed += j.passed;
    total->failed += j.failed;
    total->either += j.either;
    for (int a = 0; a < ADAPTATION_COUNT; a++) {
        total->refused[a] += j.refused[a];
    }
    json_decref(root);
}

static int is_vector_file(const struct dirent *entry)
{
    const char *end = strstr(entry->d_name, "_test.json");
    return end && strcmp(end, "_test.json") == 0;
}

static int print_total(const struct judge *total)
{
    for (int a = ADAPTATION_NONE + 1; a < ADAPTATION_COUNT; a++) {
        printf("%zu valid vectors refused on purpose: %s\n", total->refused[a], REASONS[a]);
    }
    printf("%zu vectors may go either way\n", total->either);
    printf("%zu passed, %zu failed\n", total->passed, total->failed);
    return total->passed > 0 && total->failed == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(void)
{
    const char *given = getenv("KB_WYCHEPROOF");
    const char *folder = given ? given : BESIDE_THE_CHECKOUT;
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_vector_file, alphasort);
    if (n < 0 && !given) {
        printf("skipped: no vectors at %s; KB_WYCHEPROOF names another folder\n", folder);
        return EXIT_SKIPPED;
    }
    if (n <= 0) {
        printf("no vectors at %s\n", folder);
    }
    struct judge total = {.file = folder};
    for (int i = 0; i < n; i++) {
        judge_file(folder, entries[i]->d_name, &total);
        free(entries[i]);
    }
    free(entries);
    return print_total(&total);
}
