/* SPDX-License-Identifier: Apache-2.0 */
/* fence: marks a passage as untrusted content in a way its author cannot close.
 *
 *   <<untrusted-content fence=TAG epoch=3f9a0c1e>>
 *   TAG4| first line
 *   TAG4| second line
 *   <<end fence=TAG>>
 *
 * tag = first 26 characters of base32(HMAC-SHA-256(key, "kbgate-fence/1", chunk_id, text)), each
 * part length-prefixed; TAG4 its first 4. Deterministic: no nonce, no caller, no request. Pure. */
#ifndef RETRIEVAL_FENCE_H
#define RETRIEVAL_FENCE_H

#include "service/digest/digest.h"

enum {
    FENCE_VERSION = 1,
    FENCE_KEY_MIN_BYTES = 32,
    FENCE_TAG_CHARS = 26,
    FENCE_EPOCH_CHARS = 8,
    FENCE_MARK_BYTES = 6, /* "TAG4| " */
};

/* 8 hexadecimal digits of HMAC(key, "epoch"), NUL-terminated. */
void fence_epoch(struct slice key, char ret_epoch[FENCE_EPOCH_CHARS + 1]);

/* Appends the fenced form of `text`, which went through neutralise_text. No newline at the end. */
void fence_add(struct dynbuf *out, struct slice key, struct slice chunk_id, struct slice text);

#endif
