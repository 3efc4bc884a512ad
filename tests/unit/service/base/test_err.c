/* SPDX-License-Identifier: Apache-2.0 */
/* The table is everything a caller learns of a failure, so its rows are checked as a whole. */
#include "service/base/err.h"

#include <criterion/criterion.h>

static const enum err ALL[] = {
#define X(name, log_name, kind, status, text) name,
    ERR_TABLE(X)
#undef X
};

enum { COUNT = sizeof(ALL) / sizeof(ALL[0]) };

Test(err, statuses_fit_their_kind)
{
    for (size_t i = 0; i < COUNT; i++) {
        int status = err_http_status(ALL[i]);
        bool fits = false;
        switch (err_kind(ALL[i])) {
        case ERR_KIND_NONE: fits = ALL[i] == ERR_OK && status == 200; break;
        case ERR_KIND_INVALID_INPUT: fits = status == 400 || status == 404; break;
        case ERR_KIND_RETRYABLE: fits = status == 429 || status == 503; break;
        case ERR_KIND_PERMANENT: fits = status == 500; break;
        }
        cr_expect(fits, "%s", err_name(ALL[i]));
    }
}

Test(err, retryable_texts_say_what_to_do)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (err_kind(ALL[i]) == ERR_KIND_RETRYABLE) {
            cr_expect_not_null(strstr(err_public_text(ALL[i]), "wait retry_after_ms"), "%s",
                               err_name(ALL[i]));
        }
    }
}

Test(err, permanent_faults_tell_nothing_apart)
{
    for (size_t i = 0; i < COUNT; i++) {
        if (err_kind(ALL[i]) == ERR_KIND_PERMANENT) {
            cr_expect_str_eq(err_public_text(ALL[i]), err_public_text(ERR_INTERNAL));
            cr_expect_eq(err_http_status(ALL[i]), err_http_status(ERR_INTERNAL));
        }
    }
}

Test(err, log_names_are_distinct)
{
    for (size_t i = 0; i < COUNT; i++) {
        for (size_t j = i + 1; j < COUNT; j++) {
            cr_expect_str_neq(err_name(ALL[i]), err_name(ALL[j]));
        }
    }
}

Test(err, details_are_optional_and_cut)
{
    err_detail_set(NULL, "nobody asks");
    struct err_detail d;
    err_detail_set(&d, "%s:%d: %s", "kbgate.yaml", 3, "unknown key");
    cr_expect_str_eq(d.text, "kbgate.yaml:3: unknown key");
    char text[2 * sizeof(d.text)];
    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    err_detail_set(&d, "%s", text);
    cr_expect_eq(strlen(d.text), sizeof(d.text) - 1);
}
