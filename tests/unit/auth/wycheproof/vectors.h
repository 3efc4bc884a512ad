/* SPDX-License-Identifier: Apache-2.0 */
/* vectors: test vectors of Project Wycheproof, judged by the signature layer as it stands. */
#ifndef TESTS_WYCHEPROOF_VECTORS_H
#define TESTS_WYCHEPROOF_VECTORS_H

#include "auth/jws.h"

/* Why a vector that is valid by its own standard must be refused here. */
enum adaptation {
    ADAPTATION_NONE,
    ADAPTATION_SYMMETRIC,
    ADAPTATION_ENCRYPTED,
    ADAPTATION_EMPTY_PAYLOAD,
    ADAPTATION_OTHER_ALG,
    ADAPTATION_UNKNOWN_ALG,
    ADAPTATION_SALT,
    ADAPTATION_COUNT
};

const char *adaptation_reason(enum adaptation a);

/* The file being judged. */
struct judge {
    const char *file;
    size_t passed, failed, either, refused[ADAPTATION_COUNT];
};

/* Counts one vector. Where an adaptation is given, "valid" turns into "must be refused". */
void judge_vector(struct judge *j, const json_t *test, bool accepted, enum adaptation a);

/* Fails a vector for a reason of its own. */
void judge_fail(struct judge *j, const json_t *test, const char *reason);

/* Each judges a group of its kind; false: none of its kind. */
bool judge_jose(struct judge *j, const json_t *group);
bool judge_raw(struct judge *j, const json_t *group);

/* A member's text; "" where it has none. */
const char *text_of(const json_t *object, const char *name);

#endif
