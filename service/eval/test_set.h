/* SPDX-License-Identifier: Apache-2.0 */
/* test_set: which files a figure was measured on, and whether they are the frozen ones. */
#ifndef EVAL_TEST_SET_H
#define EVAL_TEST_SET_H

#include "service/base/err.h"
#include "service/digest/digest.h"

#include <jansson.h>

enum { TEST_SET_FILES = 64, CHECKSUM_CHARS = 64 };

struct test_set {
    struct test_set_file {
        const char *role, *path; /* "queries"; as the caller named it */
        struct digest digest;
        uint64_t n_bytes;
    } files[TEST_SET_FILES];
    size_t n;
};

/* Reads one more file of the set into `out` (initialised here, the caller's to free either way).
 * False with a reason: unreadable, empty, or the set is full. */
bool test_set_read(struct test_set *s, const char *role, const char *path, struct dynbuf *out,
                   struct err_detail *detail);

/* SHA-256 over roles and files in the order in which they were read; names do not count. */
void test_set_checksum(const struct test_set *s, char ret_hex[CHECKSUM_CHARS + 1]);

/* {"format":"kbgate-eval-frozen/1","set":NAME,"files":[{"name","bytes","sha256"}]}, each file by
 * the last part of its path. False where two have the same. */
bool frozen_add(struct dynbuf *out, const char *name, const struct test_set *s,
                struct err_detail *detail);

/* Whether each file of the set stands in the frozen file with this sum; false names the first that
 * does not. */
bool frozen_check(const char *frozen_path, const struct test_set *s, struct err_detail *detail);

/* A JSON object from a file of at most 1 MiB; NULL with a reason. */
json_t *json_file_read(const char *path, struct err_detail *detail);

#endif
